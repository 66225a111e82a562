"""Reads a Perfetto trace with Perfetto's own messages and says what it holds, as one JSON object.

What Perfetto's importer takes for granted is asserted: every field known, names interned before they are used, slices of
a track ended in turn, times of a track not going back, and per CPU each switch beginning with the thread that the one
before it ended with.
"""
import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
trace = pb.Trace()
with open(sys.argv[1], "rb") as f:
    trace.ParseFromString(f.read())


def known(message):
    """No field that the published messages do not have, at any depth."""
    from google.protobuf import unknown_fields
    fields = unknown_fields.UnknownFieldSet(message)
    assert len(fields) == 0, (type(message).__name__, [f.field_number for f in fields])
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                known(inner)


tracks, interned = {}, {}
slices = collections.defaultdict(list)
last = collections.defaultdict(int)
count = collections.Counter()
span_ns = collections.Counter()
sched = collections.defaultdict(list)
flows = collections.Counter()
counters = collections.Counter()
clocks = {}
for i, packet in enumerate(trace.packet):
    known(packet)
    assert packet.trusted_packet_sequence_id == 1
    assert packet.sequence_flags == (1 if i == 0 else 2)
    if packet.HasField("clock_snapshot"):
        assert i == 0 and packet.trace_packet_defaults.timestamp_clock_id == 3
        assert packet.clock_snapshot.primary_trace_clock == 3
        clocks = {c.clock_id: c.timestamp for c in packet.clock_snapshot.clocks}
    for entry in packet.interned_data.event_names:
        assert entry.iid not in interned
        interned[entry.iid] = entry.name
    if packet.HasField("track_descriptor"):
        t = packet.track_descriptor
        assert t.uuid not in tracks
        assert not t.parent_uuid or t.parent_uuid in tracks
        tracks[t.uuid] = t
    for event in packet.ftrace_events.event:
        sched[packet.ftrace_events.cpu].append(event)
    if not packet.HasField("track_event"):
        continue
    event, ts = packet.track_event, packet.timestamp
    assert event.track_uuid in tracks
    assert ts >= last[event.track_uuid], "time of a track goes back"
    last[event.track_uuid] = ts
    if event.type in (BEGIN, INSTANT):
        name = interned[event.name_iid]
        category = event.categories[0]
        args = {a.name: a for a in event.debug_annotations}
        flows.update(event.flow_ids)
    if event.type == BEGIN:
        slices[event.track_uuid].append((ts, category, name, "continued" in args))
        count[category] += "continued" not in args
    elif event.type == END:
        begin, category, name, _ = slices[event.track_uuid].pop()
        span_ns[category] += ts - begin
    elif event.type == COUNTER:
        counters[tracks[event.track_uuid].name] += 1
assert not any(slices.values()), "a slice is open at the end"

running = collections.Counter()
wakings = 0
for cpu, events in sched.items():
    on, since, last_ts = 0, None, 0
    for event in events:
        if event.HasField("sched_waking"):
            wakings += 1
            continue
        assert event.timestamp >= last_ts
        last_ts = event.timestamp
        switch = event.sched_switch
        assert event.pid == switch.prev_pid
        if since is not None:
            assert switch.prev_pid == on, f"CPU {cpu}: {switch.prev_pid} leaves, but {on} was on it"
            running[on] += event.timestamp - since
        on, since = switch.next_pid, event.timestamp
running.pop(0, None)
print(json.dumps({
    "packets": len(trace.packet),
    "threads": sum(t.HasField("thread") for t in tracks.values()),
    "slices": count,
    "ns": span_ns,
    "running_ns": running,
    "wakings": wakings,
    "counters": counters,
    "flows": len(flows),
    "clocks": clocks,
}))
