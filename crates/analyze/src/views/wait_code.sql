CREATE VIEW wait_code AS
SELECT w.id AS wait, w.thread, w.begin_ns, w.end_ns, w.kind, w.class, w.object, w.stack, c.code, c.file, c.line,
       if(r.end_ns > w.begin_ns, r.request, NULL) AS request, if(r.end_ns > w.begin_ns, r.name, NULL) AS request_name
FROM waits w JOIN stack_code c ON c.stack = w.stack
ASOF LEFT JOIN request_pieces r ON r.thread = w.thread AND r.begin_ns <= w.begin_ns
