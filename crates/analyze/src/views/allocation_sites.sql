CREATE VIEW allocation_sites AS
WITH requests AS (SELECT name AS request_name, count(*) AS n FROM spans WHERE kind = 'request' GROUP BY name)
SELECT request_name, a.code, a.file, a.line, a.class, count(*) AS samples, sum(a.bytes)::BIGINT AS bytes,
       sum(a.bytes / a.size) FILTER (a.size > 0) AS objects, sum(a.bytes) / any_value(r.n) AS bytes_per_request, mode(a.stack) AS stack
FROM allocations a LEFT JOIN requests r USING (request_name) GROUP BY request_name, a.code, a.file, a.line, a.class
