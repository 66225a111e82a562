//! One measurement for `bench/drain-rate`: a program that makes events at a given pace, and the
//! recorder's kernel side draining them into files.
//!
//! `drain_rate switches|syscalls PER_SECOND SECONDS RING_BYTES DIR` prints one JSON object; a pace of
//! 0 is as fast as it goes. `switches` are hand-overs between the two threads of four pairs, by futex;
//! `syscalls` are calls of getppid by as many threads as there are CPUs.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PAIRS: usize = 4;
/// Events are made in bursts of this length, so that a pace costs no clock reading per event.
const BURST: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["generate", kind, pace] => generate(kind, pace),
        [kind, pace, seconds, ring, dir] => measure(kind, pace, seconds, ring, dir),
        _ => Err("drain_rate switches|syscalls PER_SECOND SECONDS RING_BYTES DIR".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

fn measure(kind: &str, pace: &str, seconds: &str, ring: &str, dir: &str) -> Done {
    let time = Duration::from_secs_f64(seconds.parse()?);
    let mut generator = Command::new(std::env::current_exe()?)
        .args(["generate", kind, pace])
        .spawn()?;
    std::thread::sleep(Duration::from_millis(200));
    let pid = generator.id() as i32;
    let drained =
        loadline_record::bench::drain(pid, Path::new(dir), kind == "syscalls", ring.parse()?, time);
    generator.kill()?;
    generator.wait()?;
    let d = drained?;
    println!(
        "{}",
        serde_json::json!({
            "seconds": d.seconds, "records": d.records, "lost": d.lost, "bytes": d.bytes,
            "cpu_seconds": d.cpu_seconds,
        })
    );
    Ok(())
}

fn generate(kind: &str, pace: &str) -> Done {
    // SAFETY: plain integers. We must not outlive a measurement that was killed.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let pace: f64 = pace.parse()?;
    let threads = match kind {
        "switches" => PAIRS,
        "syscalls" => std::thread::available_parallelism()?.get(),
        _ => return Err(format!("{kind} is neither switches nor syscalls").into()),
    };
    let each = pace / threads as f64;
    let switches = kind == "switches";
    let all: Vec<_> = (0..threads)
        .map(|_| {
            std::thread::spawn(move || {
                if switches {
                    hand_over(each)
                } else {
                    call(each)
                }
            })
        })
        .collect();
    for thread in all {
        thread.join().map_err(|_| "a generating thread failed")?;
    }
    Ok(())
}

/// Calls `event` so often a second, for ever.
fn paced(per_second: f64, mut event: impl FnMut()) {
    let per_burst = (per_second * BURST.as_secs_f64()).max(1.0);
    let mut next = Instant::now();
    loop {
        for _ in 0..per_burst as usize {
            event();
        }
        if per_second > 0.0 {
            next += Duration::from_secs_f64(per_burst.floor() / per_second);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
}

fn call(per_second: f64) {
    paced(per_second, || {
        // SAFETY: no arguments; the cheapest call that reaches the kernel.
        unsafe { libc::syscall(libc::SYS_getppid) };
    });
}

/// Two threads give each other the turn: each hand-over is a wake-up and two switches.
fn hand_over(per_second: f64) {
    let turn = Arc::new(AtomicU32::new(0));
    let (their_turn, first) = (turn.clone(), std::thread::current());
    let other = std::thread::spawn(move || {
        loop {
            while their_turn.load(Ordering::Acquire) == 0 {
                std::thread::park();
            }
            their_turn.store(0, Ordering::Release);
            first.unpark();
        }
    });
    paced(per_second / 2.0, || {
        turn.store(1, Ordering::Release);
        other.thread().unpark();
        while turn.load(Ordering::Acquire) == 1 {
            std::thread::park();
        }
    });
}
