"""Loads a trace into Perfetto's trace processor and asks where the time of slices went, by states of their threads;
prints the seconds that both took as JSON. Run by bench/query-speed with the package on PYTHONPATH."""

import json
import sys
import time

from perfetto.trace_processor import TraceProcessor

begin = time.monotonic()
processor = TraceProcessor(trace=sys.argv[1])
loaded = time.monotonic()
processor.query("""CREATE VIEW requests AS SELECT s.ts, s.dur, t.utid FROM slice s JOIN thread_track t ON s.track_id = t.id
                   WHERE s.category = 'request' OR s.name LIKE 'GET %' OR s.name LIKE 'POST %'""")
processor.query("CREATE VIEW doing AS SELECT ts, dur, utid, state FROM thread_state")
processor.query("CREATE VIRTUAL TABLE both USING SPAN_JOIN(requests PARTITIONED utid, doing PARTITIONED utid)")
states = [(row.state, row.dur) for row in processor.query("SELECT state, sum(dur) AS dur FROM both GROUP BY state")]
print(json.dumps({"seconds_to_load": round(loaded - begin, 2), "seconds_to_answer": round(time.monotonic() - loaded, 2), "states": len(states)}))
