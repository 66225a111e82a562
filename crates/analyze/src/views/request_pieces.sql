CREATE VIEW request_pieces AS
SELECT r.id AS request, r.name, coalesce(g.thread, r.thread) AS thread, coalesce(g.begin_ns, r.begin_ns) AS begin_ns, coalesce(g.end_ns, r.end_ns) AS end_ns
FROM spans r LEFT JOIN segments g ON g.span = r.id WHERE r.kind = 'request'
