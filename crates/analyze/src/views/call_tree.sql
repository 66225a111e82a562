-- Sums per path first: the rest is over as many rows as there are paths. CPU time is a sum only where all of it is known.
CREATE VIEW call_tree AS
WITH RECURSIVE
    own AS (
        SELECT stack, count(*) AS invocations, count(*) FILTER (threw) AS threw, sum(wall_ns)::BIGINT AS wall_ns,
               min(wall_ns) AS min_ns, max(wall_ns) AS max_ns,
               CASE WHEN count(cpu_ns) = count(*) THEN sum(cpu_ns)::BIGINT END AS cpu_ns,
               sum(below)::BIGINT AS below, sum(left_out)::BIGINT AS left_out
        FROM calls GROUP BY stack),
    called AS (
        SELECT s.parent AS stack, sum(wall_ns)::BIGINT AS wall_ns,
               CASE WHEN count(cpu_ns) = count(*) THEN sum(cpu_ns)::BIGINT END AS cpu_ns
        FROM own o JOIN stacks s ON s.id = o.stack WHERE s.parent IS NOT NULL GROUP BY s.parent),
    paths AS (
        SELECT s.id, s.name AS path FROM stacks s SEMI JOIN own o ON o.stack = s.id WHERE s.parent IS NULL
        UNION ALL
        SELECT s.id, p.path || ' > ' || s.name FROM paths p JOIN stacks s ON s.parent = p.id WHERE s.depth < 64)
SELECT o.stack, s.parent, s.depth, s.name AS method, p.path, o.invocations, o.threw,
       o.wall_ns, (o.wall_ns - coalesce(c.wall_ns, 0))::BIGINT AS self_ns, o.min_ns, o.max_ns,
       o.cpu_ns, (o.cpu_ns - CASE WHEN c.stack IS NULL THEN 0 ELSE c.cpu_ns END)::BIGINT AS self_cpu_ns, o.below, o.left_out
FROM own o JOIN stacks s ON s.id = o.stack LEFT JOIN paths p ON p.id = o.stack LEFT JOIN called c ON c.stack = o.stack
