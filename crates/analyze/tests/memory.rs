//! Building tables takes memory that does not grow with the spools.
//!
//! What counts is anonymous memory. Pages of mapped files are resident too while they are mapped, and the more the larger the files' folios
//! are; the kernel takes them back when it needs them.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a list holds in memory here: so little that all of them are full with the fewest events.
const MOST: usize = 64 << 10;

/// Bytes of memory that building tables of so many events took at most, beyond what was there before.
fn peak(events: u64) -> u64 {
    let dir = tempfile::tempdir().expect("a directory");
    let tests = std::env::current_exe().expect("this test");
    let built = tests.parent().and_then(Path::parent).expect("its folder");
    let made = Command::new(built.join("examples/spools"))
        .arg(dir.path())
        .arg(events.to_string())
        .output()
        .expect("the example that makes spools: cargo builds it with the tests");
    assert!(made.status.success(), "{made:?}");
    let (before, built) = (anonymous(), AtomicBool::new(false));
    let most = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !built.load(Ordering::Relaxed) {
                most = anonymous().max(most);
                std::thread::sleep(Duration::from_millis(2));
            }
            most
        });
        loadline_analyze::testing::build_within(MOST, dir.path()).expect("tables");
        built.store(true, Ordering::Relaxed);
        watch.join().expect("it only looks")
    });
    most.saturating_sub(before)
}

fn anonymous() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    let kib: Option<u64> = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
    kib.expect("a number") << 10
}

#[test]
fn four_times_the_events_take_hardly_more_memory() {
    peak(200_000); // what any build takes
    let (few, many) = (500_000, 2_000_000);
    let (of_few, of_many) = (peak(few), peak(many));
    let grown = of_many.saturating_sub(of_few);
    eprintln!("{few} events: {of_few} bytes, {many}: {of_many}");
    // Held in memory, an event took some 45 bytes.
    assert!(
        grown < 3 * (many - few),
        "{few} events: {of_few} bytes, {many}: {of_many}"
    );
}
