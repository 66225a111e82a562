//! What is fitted to a server whose demands are known must be what was put in, and the model that is written must use as much
//! CPU as the recording did.

mod known;

use known::{SECONDS, fitted, model, recorded, recorded_at, wait};
use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};
use loadline_predict::fit::{Fit, fit, fit_several, from_scenario, from_trace};
use loadline_predict::observe::{Lock, Owners, Request};
use loadline_predict::write::{Assumed, text};
use loadline_stats::random::{Dist, Stream};

#[test]
fn what_is_fitted_is_what_was_put_in() {
    let f = fitted(&recorded());
    let class = |name: &str| f.classes.iter().find(|c| c.name == name).expect("a class");
    assert_eq!((class("b").count, class("a").count), (1500, 500));
    let part = |c: &str, p: &str| {
        class(c)
            .parts
            .iter()
            .find(|x| x.name == p)
            .map(|x| x.law.clone())
    };
    let sql = part("b", "sql").expect("it has statements");
    assert!(
        (sql.mean - 2e-3).abs() <= sql.ci95 * 1.5 && sql.ci95 < 0.2e-3,
        "{sql:?}"
    );
    assert!(part("a", "sql").is_none());
    assert!((f.visitors.clicks - 4.0).abs() < 1e-6 && (f.visitors.rate - 5.0).abs() < 1e-6);
    let c = &f.costs;
    assert!(
        (c.next.mean - 10e-6).abs() < 1e-9 && (c.woken.mean - 20e-6).abs() < 1e-9,
        "{c:?}"
    );
    assert!(
        (c.dispatch.mean - 10e-6).abs() < 1e-8 && (c.dispatcher_woken.mean - 15e-6).abs() < 1e-8,
        "{c:?}"
    );
    assert!(f.law.abs() < 0.01, "{}", f.law);
    assert!(
        f.open.iter().any(|o| o.contains("how long L is held")),
        "{:?}",
        f.open
    );
}

/// A queue wakes its threads in turn, if workers are threads that take from one; and who wakes the dispatcher may keep it
/// waiting for its selector, if that was seen.
#[test]
fn who_wakes_whom_is_as_it_was_seen() {
    let with = |locked: u64, pooled: usize| {
        let mut seen = recorded();
        seen.overheads.dispatcher_locked = locked;
        seen.overheads.pooled = pooled;
        model(&seen)
    };
    let text = with(0, 10);
    assert!(
        text.contains("signal = \"in-turn\"") && !text.contains("selector"),
        "{text}"
    );
    assert!(!with(0, 0).contains("in-turn"));
    let text = with(1_000, 10);
    let m = from_text(&text, "known.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options {
        requests: Some(20_000),
        ..Options::default()
    };
    let answer = simulate(&m, &options);
    let selector = answer.stations.get("selector").expect("a lock");
    let share = selector.more.get("contended_share").expect("its waits");
    assert!(*share > 0.0 && *share < 0.5, "{share}");
}

#[test]
fn the_model_uses_as_much_cpu_as_the_recording_at_its_load() {
    let seen = recorded();
    let text = model(&seen);
    let m = from_text(&text, "known.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(
        m.uncertain
            .iter()
            .any(|u| u.name == "b_sql" && u.ci95 > 0.0)
    );
    let answer = simulate(
        &m,
        &Options {
            requests: Some(60_000),
            ..Options::default()
        },
    );
    assert!(answer.problem.is_none(), "{:?}", answer.problem);
    let used = answer
        .stations
        .get("server")
        .and_then(|s| s.utilization)
        .expect("a machine")
        .value;
    let want = seen.cpu / SECONDS;
    assert!((used / want - 1.0).abs() < 0.04, "{used} of {want}\n{text}");
    let all = answer.all.expect("simulated");
    assert!(
        (all.throughput.value / 20.0 - 1.0).abs() < 0.03,
        "{:?}",
        all.throughput
    );
    // The background is nobody's request.
    assert!(
        answer
            .classes
            .get("vm_other")
            .is_some_and(|c| c.throughput.value > 1.0)
    );
}

/// What `/proc` counts beyond the threads' states is the kernel's switching to them, as far as it is so little a switch.
#[test]
fn what_only_proc_counts_is_switching_or_nothing_that_is_known() {
    let mut seen = recorded();
    seen.counted = Some((1.04 * seen.cpu, SECONDS));
    seen.switches = 20_000;
    let visitors = from_trace(&seen).expect("connections were seen");
    let refused = fit(&seen, visitors).expect_err("far too much for a switch");
    assert!(refused.contains("so much more CPU"), "{refused}");
    seen.switches = 400_000;
    let (with, without) = (fitted(&seen), fitted(&recorded()));
    let more = with.costs.woken.mean / (1.0 - with.recording) - without.costs.woken.mean;
    let o = &seen.overheads;
    let wakings = o.slept.len() + o.dispatcher.len() + o.connections as usize;
    let ratio = more * wakings as f64 / (0.04 * seen.cpu);
    assert!((ratio - 1.0).abs() < 1e-6, "{ratio} of it");
}

/// A client that shares the server's CPUs takes what it is said to take per request, handshakes included, and whoever waits
/// for its CPUs waits for it as well.
#[test]
fn a_client_on_the_servers_cpus_uses_what_it_is_said_to_use() {
    let text = model(&recorded());
    let at = |client: &str| {
        let settings = [("rate", "10"), ("client_cpu", client)].map(|(n, v)| (n.into(), v.into()));
        let m = from_text(&text, "known.toml", &settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = Options {
            requests: Some(60_000),
            ..Options::default()
        };
        let a = simulate(&m, &options);
        let used = a.stations.get("server").and_then(|s| s.utilization);
        let all = a.all.expect("simulated");
        let response = all.response_time.mean.value;
        (
            used.expect("a machine").value / all.throughput.value,
            response,
        )
    };
    let ((alone, elsewhere), (both, beside)) = (at("0"), at("5ms"));
    assert!(
        ((both - alone) / 5e-3 - 1.0).abs() < 0.03,
        "{alone} and {both}"
    );
    assert!(beside > elsewhere + 4e-3, "{elsewhere} and {beside}");
}

/// Demands that grow by half from an idle machine to a full one, seen at two loads: found within the interval, and the model
/// uses at each what each recording did.
#[test]
fn two_recordings_tell_how_demands_grow_with_load() {
    let growth = 0.5;
    // 14 ms a session as written at 0.2: at 5 a second 0.07 of the CPU, at 40 a second, where each is dearer, 0.65.
    let busy = |sessions: u32| {
        let written = 0.014 * f64::from(sessions);
        written * (1.0 - growth * 0.2) / (1.0 - growth * written)
    };
    let at =
        |sessions: u32, seed| recorded_at(sessions, 1.0 + growth * (busy(sessions) - 0.2), seed);
    let (mut light, mut moderate) = (at(5, 1), at(40, 2));
    (light.about.trace, moderate.about.trace) = ("light.trace".into(), "moderate.trace".into());
    let both = [light, moderate];
    let f = fit_several(&both, from_trace).unwrap_or_else(|e| panic!("{e}"));
    let c = f.contention.expect("far enough apart").growth;
    // From where demands are as written now, the mean of the two by their errors, not from 0.2.
    let here = growth / (1.0 + growth * (c.at - 0.2));
    assert!(
        (c.growth - here).abs() <= 1.5 * c.ci95 && c.ci95 < 0.15,
        "{c:?}, not {here}"
    );
    let text = text(
        &f,
        &Assumed {
            pool: Some(10),
            workers: Some(50),
        },
    );
    assert!(
        text.contains("[2] moderate.trace") && text.contains("(1500 in [1], "),
        "{text}"
    );
    for (seen, rate) in both.iter().zip(["5", "40"]) {
        let m = from_text(&text, "both.toml", &[("rate".into(), rate.into())])
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(
            m.uncertain
                .iter()
                .any(|u| u.name == "contention" && u.ci95 > 0.0)
        );
        let options = Options {
            requests: Some(60_000),
            ..Options::default()
        };
        let used = simulate(&m, &options)
            .stations
            .get("server")
            .and_then(|s| s.utilization)
            .expect("a machine")
            .value;
        let ratio = used / (seen.cpu / SECONDS);
        assert!(
            (ratio - 1.0).abs() < 0.05,
            "{ratio} of what was used at {rate}"
        );
    }
    // Two of the same load say nothing of another.
    let same = [at(5, 1), at(5, 3)];
    let f = fit_several(&same, from_trace).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        f.contention.is_none() && f.open.iter().any(|o| o.contains("too much alike")),
        "{:?}",
        f.open
    );
    // What is wrong with one is said of that one.
    let mut broken = [at(5, 1), at(40, 2)];
    broken[1].about.trace = "broken.trace".into();
    broken[1].cpu *= 1.1;
    assert!(
        fit_several(&broken, from_trace)
            .expect_err("refused")
            .starts_with("broken.trace: the utilization law")
    );
}

/// `/b` takes a lock for 0.25 ms of its service, twice each: what waits alone tell, and what the model does.
#[test]
fn a_lock_is_held_in_the_model_as_it_was_when_it_was_recorded() {
    let mut seen = recorded_at(40, 1.0, 1);
    let (rate, hold) = (240.0, 0.25e-3);
    let mut stream = Stream::new(7, "lock");
    let (mut at, mut free, mut waits) = (0.0, 0.0f64, Vec::new());
    while at < SECONDS {
        at += Dist::Exponential(1.0 / rate).sample(&mut stream);
        if free > at {
            waits.push(wait(at, free - at));
        }
        free = free.max(at) + Dist::Exponential(hold).sample(&mut stream);
    }
    seen.locks = vec![Lock {
        class: "L".into(),
        object: 1,
        waits,
        owners: Owners {
            held: 1.0,
            running: 1.0,
            ..Owners::default()
        },
    }];
    let f = fitted(&seen);
    let lock = f.locks.first().unwrap_or_else(|| panic!("{:?}", f.open));
    // 160 requests a second, of which the 120 of /b alone take it: 240 / 160 on average.
    assert!((lock.taken.0 - 1.5).abs() <= 1.5 * lock.taken.1, "{lock:?}");
    assert!(
        (lock.cpu.mean - hold).abs() <= 1.5 * lock.cpu.ci95,
        "{lock:?}"
    );
    assert_eq!((lock.by_class.len(), lock.by_class[0].0.as_str()), (1, "b"));
    let text = model(&seen);
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let m = from_text(&text, "locks.toml", &[set("cpus", "8"), set("rate", "40")])
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options {
        requests: Some(60_000),
        ..Options::default()
    };
    let answer = simulate(&m, &options);
    let used = |part: &str| {
        let found = answer.stations.get(part).and_then(|s| s.utilization);
        found.unwrap_or_else(|| panic!("no {part}")).value
    };
    let held = lock.taken.0 * 160.0 * lock.cpu.mean;
    assert!(
        (used("lock_1") / held - 1.0).abs() < 0.1,
        "{} of {held}\n{text}",
        used("lock_1")
    );
    // What is done with the lock in hand is done there instead, not besides.
    let cpu = 8.0 * used("server") / (seen.cpu / SECONDS);
    assert!((cpu - 1.0).abs() < 0.04, "{cpu} of what was used");
}

fn model_of(f: &Fit, pool: Option<u32>, workers: Option<u32>) -> String {
    text(f, &Assumed { pool, workers })
}

/// Each statement, or call, waits for 1 ms and for a queue of 4 ms: at 15 a second 4.26 ms, at 120 a second 7.69 ms.
fn slows_down(name: &str, how: &str, waits: fn(&mut Request, f64)) {
    let at = |sessions: u32, seed| {
        let mut seen = recorded_at(sessions, 1.0, seed);
        let x = 3.0 * f64::from(sessions);
        let mean = 1e-3 + 4e-3 / (1.0 - 4e-3 * x);
        let mut stream = Stream::new(seed, name);
        for r in seen.requests.iter_mut().filter(|r| r.statements > 0) {
            let wait = Dist::Exponential(mean).sample(&mut stream);
            waits(r, wait);
            r.end += wait;
        }
        seen
    };
    let both = [at(5, 1), at(40, 2)];
    let f = fit_several(&both, from_trace).unwrap_or_else(|e| panic!("{e}"));
    let d = f.queues.get(name).unwrap_or_else(|| panic!("{:?}", f.open));
    assert!(
        (d.service - 4e-3).abs() <= 1.5 * d.ci95 && d.ci95 < 1e-3,
        "{d:?}"
    );
    let text = model_of(&f, None, None);
    for (rate, x) in [("5", 15.0), ("40", 120.0)] {
        let m = from_text(&text, "grown.toml", &[("rate".into(), rate.into())])
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = Options {
            requests: Some(40_000),
            ..Options::default()
        };
        let answer = simulate(&m, &options);
        let station = answer.stations.get(name).expect("a station");
        let used = station.utilization.expect("known").value;
        assert!(
            (used / (x * d.service) - 1.0).abs() < 0.1,
            "{used} at {rate}"
        );
    }
    // One recording cannot tell.
    let alone = fitted(&both[1]);
    assert!(alone.queues.is_empty() && alone.open.iter().any(|o| o.contains(how)));
    assert!(f.open.iter().all(|o| !o.starts_with(how)), "{:?}", f.open);
}

#[test]
fn a_database_that_slows_down_becomes_a_queue() {
    let waits = |r: &mut Request, wait| r.sql_wait = wait;
    slows_down("database", "how the database slows down", waits);
}

#[test]
fn other_services_that_slow_down_become_a_queue() {
    let waits = |r: &mut Request, wait| {
        r.calls = 1;
        r.service_wait = wait;
    };
    slows_down("services", "how the answers of other services grow", waits);
}

#[test]
fn pools_and_workers_are_as_many_as_the_recording_says_unless_somebody_says_otherwise() {
    let mut seen = recorded();
    let how_many = |f: &Fit| f.open.iter().filter(|o| o.starts_with("how many")).count();
    assert_eq!(how_many(&fitted(&seen)), 2, "neither is known");
    seen.pools[0].limit = Some(7);
    seen.workers = Some(40);
    let f = fitted(&seen);
    assert_eq!(how_many(&f), 0, "{:?}", f.open);
    for (said, pool, workers, source) in [
        ((None, None), 7, 40, ", as it was configured"),
        ((Some(3), Some(9)), 3, 9, ""),
    ] {
        let text = model_of(&f, said.0, said.1);
        for line in [
            format!(
                "\npool = {{ default = {pool}, range = [1, 100000], help = \"connections of pool p{source};"
            ),
            format!(
                "\nworkers = {{ default = {workers}, range = [1, 100000], help = \"threads that serve{source}\""
            ),
        ] {
            assert!(text.contains(&line), "{line} in\n{text}");
        }
    }
}

#[test]
fn virtual_threads_are_as_many_as_there_is_work() {
    let mut seen = recorded();
    seen.overheads.pooled = 0;
    let f = fitted(&seen);
    assert!(
        f.open.iter().all(|o| !o.contains("workers")),
        "{:?}",
        f.open
    );
    let model = model_of(&f, None, None);
    assert!(model.contains("\nworkers = { default = 100000,"), "{model}");
}

#[test]
fn what_other_threads_do_for_each_request_is_a_part_of_what_was_used() {
    let mut seen = recorded();
    let visitors = from_trace(&seen).expect("connections");
    // Requests come in every other second alone, and threads of a client work for half a millisecond on each.
    for r in &mut seen.requests {
        let long = r.end - r.begin;
        r.begin = 2.0 * (r.begin / 2.0).floor() + r.begin.fract();
        r.end = r.begin + long;
        let second = (r.begin as usize).min(seen.others[2].seconds.len() - 1);
        seen.others[2].seconds[second] += 0.5e-3;
        seen.others[2].bursts.push(0.5e-3);
        seen.cpu += 0.5e-3;
    }
    let fit = fit(&seen, visitors).expect("the law holds");
    let each = fit.costs.per_event[2];
    assert!((0.4e-3..0.6e-3).contains(&each), "{each}");
}

#[test]
fn demands_that_do_not_come_to_what_was_used_are_refused() {
    let mut seen = recorded();
    seen.cpu *= 1.06;
    let visitors = from_trace(&seen).expect("connections");
    let e = fit(&seen, visitors.clone()).expect_err("refused");
    assert!(e.contains("utilization law is off by -5."), "{e}");
    let mut seen = recorded();
    seen.counted = Some((1.1 * seen.cpu, SECONDS));
    let e = fit(&seen, visitors.clone()).expect_err("refused");
    assert!(e.contains("/proc counted"), "{e}");
    let mut seen = recorded();
    seen.requests.truncate(100);
    assert!(
        fit(&seen, visitors.clone())
            .expect_err("refused")
            .contains("100 whole requests")
    );
    let mut seen = recorded();
    seen.cpu = 90.0;
    assert!(
        fit(&seen, visitors.clone())
            .expect_err("refused")
            .contains("90% of its CPUs")
    );
    seen.cpu = 0.0;
    assert!(
        fit(&seen, visitors)
            .expect_err("refused")
            .contains("kernel level")
    );
}

#[test]
fn a_scenario_must_be_the_one_that_was_recorded() {
    let scenario = |path: &str| {
        let text = format!(
            "name = \"s\"\nstart = \"one\"\n[[interaction]]\nname = \"one\"\npath = \"{path}\"\nnext = {{ one = 3.0, end = 1.0 }}\n"
        );
        loadline_load::Scenario::from_toml(&text, "s").expect("valid")
    };
    let seen = recorded();
    let visitors = from_scenario(&scenario("/a"), &seen).expect("recorded");
    assert!((visitors.clicks - 4.0).abs() < 0.2, "{}", visitors.clicks);
    assert!(
        from_scenario(&scenario("/zzz"), &seen)
            .expect_err("refused")
            .contains("one (GET /zzz)")
    );
}

#[test]
fn handshakes_of_which_nobody_says_whether_they_resumed_are_of_one_kind_and_that_is_said() {
    let known = recorded();
    let mut unknown = known.clone();
    for (i, h) in unknown.handshakes.iter_mut().enumerate() {
        h.resumed = (i % 3 == 0).then_some(false);
    }
    let (known, unknown) = (fitted(&known), fitted(&unknown));
    let cpu = |f: &Fit| {
        let full = f.full.as_ref().expect("there are handshakes");
        (
            full.count,
            full.pieces.iter().map(|p| p.1.mean).sum::<f64>(),
        )
    };
    assert_eq!(cpu(&unknown), cpu(&known));
    assert!(unknown.resumed.is_none());
    let told = |f: &Fit| f.open.iter().any(|o| o.starts_with("whether "));
    assert!(told(&unknown) && !told(&known), "{:?}", unknown.open);
}
