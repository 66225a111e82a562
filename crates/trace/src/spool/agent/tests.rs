use super::*;

fn all_levels() -> Asked<'static> {
    Asked {
        levels: 7,
        library: "/lib/x.so",
        ..Asked::default()
    }
}

fn chunk(kind: u32, tid: u32) -> Vec<u8> {
    let mut c = CHUNK_MAGIC.to_le_bytes().to_vec();
    c.extend(kind.to_le_bytes());
    c.extend(tid.to_le_bytes());
    c.resize(EVENT, 0);
    c
}

fn event(chunk: &mut Vec<u8>, ts: u64, kind: u32, a: u64) {
    chunk.extend(ts.to_le_bytes());
    chunk.extend(kind.to_le_bytes());
    chunk.extend(0u32.to_le_bytes());
    chunk.extend(a.to_le_bytes());
    chunk.extend(0u64.to_le_bytes());
}

fn spool(chunks: Vec<Vec<u8>>) -> Vec<u8> {
    let mut s = new_header(1 << 20, &all_levels());
    for mut c in chunks {
        c.resize(CHUNK, 0);
        s.extend(c);
    }
    s
}

#[test]
fn events_of_all_chunks_come_sorted_by_time_with_their_writer() {
    let (mut x, mut y) = (chunk(1, 11), chunk(1, 22));
    event(&mut x, 5, kind::PARK, 1);
    event(&mut x, 9, kind::UNPARKED, 1);
    event(&mut y, 7, kind::APP_POP, 0);
    let events = read(&spool(vec![x, y])).events;
    let seen: Vec<_> = events.iter().map(|e| (e.ts, e.tid)).collect();
    assert_eq!(seen, [(5, 11), (7, 22), (9, 11)]);
}

#[test]
fn an_event_whose_type_was_never_stored_ends_its_chunk() {
    let mut x = chunk(1, 11);
    event(&mut x, 5, kind::APP_POP, 0);
    event(&mut x, 6, 0, 0);
    event(&mut x, 7, kind::APP_POP, 0);
    assert_eq!(read(&spool(vec![x])).events.len(), 1);
}

#[test]
fn events_after_a_switch_belong_to_the_virtual_thread() {
    let mut x = chunk(1, 11);
    event(&mut x, 1, kind::APP_POP, 0);
    event(&mut x, 2, kind::SWITCH_TO, 77);
    event(&mut x, 3, kind::APP_POP, 0);
    event(&mut x, 4, kind::SWITCH_TO, 0);
    event(&mut x, 5, kind::APP_POP, 0);
    let of: Vec<_> = read(&spool(vec![x]))
        .events
        .iter()
        .map(|e| e.virtual_id)
        .collect();
    assert_eq!(of, [0, 77, 77, 0, 0]);
}

#[test]
fn strings_are_read_until_the_first_that_was_not_finished() {
    let mut s = chunk(2, 0);
    for (id, text) in [(1u32, "abc"), (2, "defghijk"), (0, "zz")] {
        s.extend(id.to_le_bytes());
        s.extend((text.len() as u32).to_le_bytes());
        s.extend(text.as_bytes());
        s.resize(s.len().next_multiple_of(8), 0);
    }
    let strings = read(&spool(vec![s])).strings;
    assert_eq!(strings.len(), 2);
    assert_eq!(strings[&2], "defghijk");
}

#[test]
fn a_header_of_another_version_is_refused() {
    let mut s = new_header(1 << 20, &all_levels());
    assert_eq!(header(&s).expect("a header").levels, 7);
    s[8] = 9;
    assert_eq!(header(&s), None);
}
