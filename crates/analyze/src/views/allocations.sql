CREATE VIEW allocations AS
SELECT s.ts_ns, s.thread, s.class, s.weight AS bytes, s.size, s.stack, c.code, c.file, c.line,
       if(r.end_ns > s.ts_ns, r.request, NULL) AS request, if(r.end_ns > s.ts_ns, r.name, NULL) AS request_name
FROM samples s JOIN stack_code c ON c.stack = s.stack
ASOF LEFT JOIN request_pieces r ON r.thread = s.thread AND r.begin_ns <= s.ts_ns
WHERE s.kind = 'alloc'
