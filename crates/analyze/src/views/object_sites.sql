CREATE VIEW object_sites AS
SELECT o.class, c.code, c.file, c.line, count(*) AS allocated, sum(o.size)::BIGINT AS bytes, count(o.freed_ns) AS freed, count(*) - count(o.freed_ns) AS alive,
       avg(o.freed_ns - o.begin_ns) AS mean_life_ns
FROM objects o LEFT JOIN stack_code c ON c.stack = o.stack GROUP BY ALL
