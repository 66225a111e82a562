//! The kernel level on real programs. Needs root and a kernel with BTF.

mod common;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use std::time::Duration;

use common::*;
use loadline_record::procfs::parse::cpu_ticks;
use loadline_trace::spool::kernel::{
    BY_INTERRUPT, BY_THREAD, CPU_TIME_NS, EXIT, NEW, NEXT_TRACED, PREV_TRACED, SWITCH, SYSCALL,
    WAKING,
};
use loadline_trace::spool::procfs::Line;

const BUSY: &str = "for (int i = 0; i < 4; i++) run(\"busy-\" + i, () -> spin());";

#[test]
fn every_busy_thread_has_switches_and_nothing_stays_in_the_kernel() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let jvm = Jvm::start("Busy", &format!("{BUSY} {READY}"));
    let busy = tids(jvm.pid(), "busy-", 4);
    let out = jvm.dir.path().join("t");
    succeeded(&run(recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "kernel", "--seconds", "1.5"],
    )));

    let records = kernel_records(&out);
    for tid in &busy {
        let arrives = |r: &&loadline_trace::spool::kernel::Record| {
            r.kind == SWITCH && r.flags & NEXT_TRACED != 0 && r.a == *tid
        };
        let leaves = |r: &&loadline_trace::spool::kernel::Record| {
            r.kind == SWITCH && r.flags & PREV_TRACED != 0 && r.tid == *tid
        };
        assert!(
            records.iter().filter(arrives).count() > 5,
            "thread {tid} was hardly ever on a CPU"
        );
        assert!(
            records.iter().filter(leaves).count() > 5,
            "thread {tid} hardly ever left"
        );
    }
    assert!(
        !records.iter().any(|r| r.kind == SYSCALL),
        "system calls were not asked for"
    );

    let session = session(&out);
    assert!(session.levels["kernel"].recorded && !session.levels["syscalls"].recorded);
    assert_eq!(
        (session.ended.as_str(), session.target.name.as_str()),
        ("stopped", "Busy")
    );
    assert!(session.end_ns - session.begin_ns >= 1_500_000_000);
    let lines = proc_lines(&out);
    let Some(Line::Threads { threads, .. }) = lines.first() else {
        panic!("threads come first")
    };
    let seen: HashSet<u32> = threads.iter().map(|t| t.tid as u32).collect();
    assert!(busy.iter().all(|t| seen.contains(t)));
    assert!(
        threads.iter().all(|t| t.ts <= session.begin_ns),
        "all were seen before the begin"
    );
    assert!(
        lines
            .iter()
            .any(|l| matches!(l, Line::Fds { opened, .. } if opened.len() > 2))
    );
    assert_eq!(
        lines
            .iter()
            .filter(|l| matches!(l, Line::CpuTime { .. }))
            .count(),
        2
    );
    eventually("no program is left", || programs() == 0);
}

/// Prints, of each connection that it closes, the client's port and the times before and after both ends were closed.
const CHURN: &str = "
    var server = new java.net.ServerSocket(0, 50, java.net.InetAddress.getLoopbackAddress());
    var open = new java.util.ArrayDeque<java.net.Socket[]>();
    System.out.println(\"ready\");
    for (int i = 0; i < 600; i++) {
        var client = new java.net.Socket(server.getInetAddress(), server.getLocalPort());
        open.add(new java.net.Socket[] {client, server.accept()});
        if (open.size() > 120) {
            var both = open.remove();
            int port = both[0].getLocalPort();
            long before = System.nanoTime();
            both[0].close();
            both[1].close();
            System.out.println(port + \" \" + before + \" \" + System.nanoTime());
        }
        Thread.sleep(10);
    }
    System.out.println(\"over\");
    Thread.sleep(60_000);";

#[test]
fn connections_that_live_for_a_second_have_their_peer_and_their_end() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    for stack in ["-Dip=both", "-Djava.net.preferIPv4Stack=true"] {
        let mut java = Command::new("java");
        let mut jvm = Jvm::start_with(java.arg(stack), "Churn", CHURN);
        let out = jvm.dir.path().join("t");
        succeeded(&run(recorder_on(
            jvm.pid(),
            &out,
            &["--levels", "kernel", "--seconds", "5"],
        )));
        let session = session(&out);
        let mut said = String::new();
        let mut from = BufReader::new(jvm.child.stdout.as_mut().expect("piped"));
        while !said.ends_with("over\n") {
            assert_ne!(
                from.read_line(&mut said).expect("a line"),
                0,
                "it has ended"
            );
        }

        let (mut peers, mut ends) = (HashMap::new(), HashMap::new());
        let mut open = HashMap::new();
        for line in proc_lines(&out) {
            let Line::Fds { ts, opened, closed } = line else {
                continue;
            };
            for fd in closed {
                if let Some(link) = open.remove(&fd) {
                    ends.insert(link, ts);
                }
            }
            for seen in opened {
                open.insert(seen.fd, seen.link.clone());
                if let (Some(local), Some(remote)) = (seen.local, seen.remote) {
                    peers.insert(seen.link, (local, remote));
                }
            }
        }
        // A port may be used again, on the loopback interface after a second.
        let mut closed: HashMap<u16, Vec<(i64, i64)>> = HashMap::new();
        for line in said.lines() {
            let numbers = line.split(' ').map_while(|w| w.parse::<i64>().ok());
            let [port, before, after] = numbers.collect::<Vec<_>>()[..] else {
                continue;
            };
            if before > session.begin_ns && after < session.end_ns {
                closed.entry(port as u16).or_default().push((before, after));
            }
        }
        assert!(closed.len() > 50, "{} were closed", closed.len());
        let sockets: HashSet<&String> = ends.keys().filter(|l| l.starts_with("socket:")).collect();
        let nameless = sockets.iter().filter(|l| !peers.contains_key(**l)).count();
        assert_eq!(nameless, 0, "of {} have no peer", sockets.len());
        let mut told = 0;
        for (link, (local, remote)) in &peers {
            let port = |address: &str| {
                let (ip, port) = address.rsplit_once(':').expect("a port");
                assert_eq!(ip, "127.0.0.1");
                let port = port.parse::<u16>().expect("a number");
                assert_ne!(port, 0, "{local} -> {remote}");
                port
            };
            let ends_at = ends.get(link);
            let known = closed.get(&port(local)).or(closed.get(&port(remote)));
            if let (Some(times), Some(ts)) = (known, ends_at) {
                let is_one = |(before, after): &(i64, i64)| (before..=after).contains(&ts);
                assert!(
                    times.iter().any(is_one),
                    "{local} -> {remote} ended at {ts}, was closed in {times:?}"
                );
                told += 1;
            }
        }
        assert!(told > 100, "{told} ends are known");
    }
}

/// What a hypervisor has taken from all CPUs: who was on one ran, for the kernel's tracepoints, and had no CPU time.
fn stolen_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("Linux");
    let all = cpu_ticks(&stat).into_iter().find(|t| t.cpu.is_none());
    all.expect("a line of all CPUs").steal as f64 / 100.0
}

#[test]
fn running_time_of_a_busy_program_is_its_cpu_time() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let jvm = Jvm::start("Busy", &format!("{BUSY} {READY}"));
    let out = jvm.dir.path().join("t");
    let stolen = stolen_seconds();
    succeeded(&run(recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "kernel", "--seconds", "3"],
    )));
    let stolen = stolen_seconds() - stolen;
    let times: Vec<_> = proc_lines(&out)
        .into_iter()
        .filter_map(|l| match l {
            Line::CpuTime { ts, threads } => Some((ts, threads.iter().map(|t| t.1).sum::<u64>())),
            _ => None,
        })
        .collect();
    let ((begin, before), (end, after)) = (times[0], times[1]);
    // Some kernels do not report every switch: a thread may leave that was never seen to arrive. It
    // came at some time after the last record of that CPU, so its time is known only within bounds.
    let (mut sure, mut perhaps) = (0, 0);
    let mut last = std::collections::HashMap::new(); // per CPU: when, and who arrived
    let mut accounts = std::collections::HashMap::new(); // per thread: CPU time at its first leaving and at its last
    for r in kernel_records(&out)
        .into_iter()
        .filter(|r| r.kind == SWITCH)
    {
        let arrived = (r.flags & NEXT_TRACED != 0).then_some(r.a);
        let (since, who) = last.insert(r.cpu, (r.ts, arrived)).unwrap_or((begin, None));
        if r.flags & PREV_TRACED != 0 {
            let told = r.cpu_time().expect("who leaves tells its CPU time");
            accounts.entry(r.tid).or_insert((told, told)).1 = told;
            let ran = (r.ts.min(end) - since.max(begin)).max(0);
            if who == Some(r.tid) {
                sure += ran;
            } else {
                perhaps += ran;
            }
        }
    }
    let [sure, perhaps, kernel] =
        [sure as f64, perhaps as f64, (after - before) as f64].map(|ns| ns / 1e9);
    // The kernel adds up at its ticks, of 10 ms at most, on each of the CPUs at both ends.
    let ticks = 0.02
        * std::thread::available_parallelism()
            .expect("a number")
            .get() as f64;
    assert!(
        sure <= kernel * 1.01 + ticks + stolen,
        "trace {sure:.3} s, kernel {kernel:.3} s, {stolen:.3} s were stolen"
    );
    let account = |(first, last): &(u32, u32)| i64::from(last.wrapping_sub(*first)) * CPU_TIME_NS;
    let told = accounts.values().map(account).sum::<i64>() as f64 / 1e9;
    assert!(
        told <= kernel * 1.01 + ticks && told >= kernel * 0.97 - ticks,
        "those who left had {told:.3} s of CPU, kernel {kernel:.3} s"
    );
    let most = sure + perhaps;
    assert!(
        most >= kernel * 0.99 - ticks,
        "trace at most {most:.3} s, kernel {kernel:.3} s"
    );
    assert!(
        perhaps < sure,
        "{perhaps:.3} s without an arrival, {sure:.3} s with one"
    );
}

#[test]
fn threads_that_come_and_go_are_new_woken_and_dead() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let body = "run(\"maker\", () -> { try { while (true) { run(\"made\", () -> {}).join(); Thread.sleep(20); } } \
                catch (InterruptedException e) {} });";
    let jvm = Jvm::start("Maker", &format!("{body} {READY}"));
    let maker = tids(jvm.pid(), "maker", 1)[0];
    let out = jvm.dir.path().join("t");
    succeeded(&run(recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "kernel", "--seconds", "1"],
    )));
    let records = kernel_records(&out);
    let made: Vec<_> = records
        .iter()
        .filter(|r| r.kind == NEW && r.b == maker)
        .collect();
    assert!(made.len() > 5, "{} threads were made", made.len());
    assert!(
        made.iter().all(|r| r.a == r.tid),
        "ids of our own namespace"
    );
    // Java's join returns before the kernel's thread is gone: on a busy machine long before.
    let end = records.iter().map(|r| r.ts).max().expect("records");
    for new in made.iter().filter(|r| r.ts < end - 300_000_000) {
        assert!(
            records
                .iter()
                .any(|r| r.kind == EXIT && r.tid == new.tid && r.ts > new.ts)
        );
    }
    assert!(
        records
            .iter()
            .any(|r| r.kind == WAKING && r.tid == maker && made.iter().any(|m| m.tid == r.a))
    );
}

#[test]
fn a_blocked_thread_names_its_call_and_descriptor_without_the_syscall_level() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let mut jvm = Jvm::start(
        "Reader",
        "System.out.println(\"ready\"); while (System.in.read() >= 0) {}",
    );
    let out = jvm.dir.path().join("t");
    let mut recorder = recorder_on(jvm.pid(), &out, &["--levels", "kernel", "--seconds", "1.2"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    for _ in 0..30 {
        jvm.stdin
            .write_all(b"x")
            .and_then(|()| jvm.stdin.flush())
            .expect("it reads");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(recorder.wait().expect("ours").success());
    let read = libc::SYS_read as u32 + 1;
    let blocked = kernel_records(&out)
        .into_iter()
        .filter(|r| r.kind == SWITCH && r.flags & PREV_TRACED != 0 && r.b == read && r.fd() == 0)
        .count();
    assert!(
        blocked > 5,
        "{blocked} times blocked in read of descriptor 0"
    );
}

#[test]
fn system_calls_come_with_descriptor_size_and_result_when_asked_for() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let body = "var out = new java.io.FileOutputStream(\"/dev/null\"); \
                run(\"writer\", () -> { try { while (true) { out.write(new byte[777]); Thread.sleep(5); } } \
                catch (Exception e) { throw new IllegalStateException(e); } });";
    let jvm = Jvm::start("Writer", &format!("{body} {READY}"));
    let out = jvm.dir.path().join("t");
    succeeded(&run(recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "kernel,syscalls", "--seconds", "1"],
    )));
    let records = kernel_records(&out);
    let writes: Vec<_> = records
        .iter()
        .filter(|r| r.kind == SYSCALL && r.a == libc::SYS_write as u32 && r.arg2 == 777)
        .collect();
    assert!(writes.len() > 20, "{} writes", writes.len());
    assert!(
        writes
            .iter()
            .all(|w| w.result == 777 && w.begin > 0 && w.begin <= w.ts && w.b > 2)
    );
    assert!(session(&out).levels["syscalls"].recorded);
}

#[test]
fn without_type_information_the_level_is_missing_with_its_remedy() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let jvm = Jvm::start("Idle", READY);
    let out = jvm.dir.path().join("t");
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"";
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(recorder());
    command
        .args([
            "--pid",
            &jvm.pid().to_string(),
            "--levels",
            "kernel",
            "--seconds",
            "1",
            "--out",
        ])
        .arg(&out);
    let output = run(command);
    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("nothing can be recorded") && said.contains("CONFIG_DEBUG_INFO_BTF"),
        "{said}"
    );
    assert!(!out.exists());
}

#[test]
fn a_full_disk_ends_the_recording_and_keeps_what_it_had() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let body = "var x = new java.util.concurrent.SynchronousQueue<Object>(); \
                run(\"ping\", () -> { try { while (true) x.put(x); } catch (InterruptedException e) {} }); \
                run(\"pong\", () -> { try { while (true) x.take(); } catch (InterruptedException e) {} });";
    let mut jvm = Jvm::start("PingPong", &format!("{body} {READY}"));
    let (disk, kept) = (jvm.dir.path().join("disk"), jvm.dir.path().join("kept"));
    std::fs::create_dir(&disk).expect("made");
    let script = format!(
        "mount -t tmpfs -o size=1m none {d} && \"$@\" ; status=$?; cp -r {d}/t {k}; exit $status",
        d = disk.display(),
        k = kept.display()
    );
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", &script, "sh"])
        .arg(recorder());
    command.args([
        "--pid",
        &jvm.pid().to_string(),
        "--levels",
        "kernel",
        "--seconds",
        "20",
        "--out",
    ]);
    let output = run({
        command.arg(disk.join("t"));
        command
    });
    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("no space left") && said.contains("loadline recover"),
        "{said}"
    );
    assert!(jvm.is_alive());
    let session = session(&kept);
    assert!(
        session.end_ns > session.begin_ns && session.end_ns - session.begin_ns < 15_000_000_000
    );
    let records = kernel_records(&kept);
    assert!(
        records.len() > 10_000,
        "{} records were kept",
        records.len()
    );
    assert!(
        session.notes.iter().any(|n| n.contains("ended early")),
        "{:?}",
        session.notes
    );
}

/// All on one CPU: who sleeps there is woken by a timer that interrupts whoever runs, in user code
/// or in a system call; who parks is woken by the thread that unparks it.
#[test]
fn a_timer_wakes_by_interrupt_and_who_unparks_by_thread() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let body = "run(\"spins\", () -> spin()); \
                var out = new java.io.FileOutputStream(\"/dev/null\"); \
                run(\"calls\", () -> { try { while (true) out.write(1); } \
                catch (java.io.IOException e) { throw new IllegalStateException(e); } }); \
                run(\"sleeps\", () -> { try { while (true) Thread.sleep(3); } catch (InterruptedException e) {} }); \
                var parked = run(\"parks\", () -> { while (true) java.util.concurrent.locks.LockSupport.park(); }); \
                run(\"unparks\", () -> { try { while (true) { Thread.sleep(4); \
                java.util.concurrent.locks.LockSupport.unpark(parked); } } catch (InterruptedException e) {} });";
    let mut java = Command::new("taskset");
    java.args(["-c", "0", "java"]);
    let jvm = Jvm::start_with(&mut java, "Wakers", &format!("{body} {READY}"));
    let [spins, calls, sleeps, parks, unparks] =
        ["spins", "calls", "sleeps", "parks", "unparks"].map(|n| tids(jvm.pid(), n, 1)[0]);
    let out = jvm.dir.path().join("t");
    succeeded(&run(recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "kernel", "--seconds", "2"],
    )));
    let records = kernel_records(&out);
    let woken = |who: u32, by: u32| -> Vec<u8> {
        records
            .iter()
            .filter(|r| r.kind == WAKING && r.tid == who && r.a == by)
            .map(|r| r.flags)
            .collect()
    };
    for interrupted in [spins, calls] {
        let flags = woken(sleeps, interrupted);
        assert!(flags.len() > 5, "{} timers on {interrupted}", flags.len());
        assert!(flags.iter().all(|f| *f == BY_INTERRUPT), "{flags:?}");
    }
    let flags = woken(parks, unparks);
    assert!(flags.len() > 20, "{} unparked", flags.len());
    assert!(flags.iter().all(|f| *f == BY_THREAD), "{flags:?}");
}
