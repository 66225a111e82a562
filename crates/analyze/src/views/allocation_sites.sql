CREATE VIEW allocation_sites AS
WITH requests AS (SELECT request_type(name) AS request_type, count(*) AS n FROM spans WHERE kind = 'request' GROUP BY 1),
     typed AS (SELECT *, request_type(request_name) AS request_type FROM allocations)
SELECT request_type, a.code, a.file, a.line, a.class, count(*) AS samples, sum(a.bytes)::BIGINT AS bytes,
       sum(a.bytes / a.size) FILTER (a.size > 0) AS objects, sum(a.bytes) / any_value(r.n) AS bytes_per_request, mode(a.stack) AS stack
FROM typed a LEFT JOIN requests r USING (request_type) GROUP BY request_type, a.code, a.file, a.line, a.class
