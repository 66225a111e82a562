//! What must hold of every model: Little's law, the operational laws, work conservation, and that nothing but the model
//! and the seed decides the result.

use loadline_model::answer::Answer;
use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};
use proptest::prelude::*;

fn run(text: &str, options: &Options) -> Answer {
    let model = from_text(text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&model, options)
}

fn fixed(requests: u64, seed: u64) -> Options {
    Options {
        requests: Some(requests),
        seed,
        ..Options::default()
    }
}

const SCHEDULERS: [&str; 7] = [
    "ps",
    "fcfs",
    "round-robin",
    "priority",
    "linux24",
    "cfs",
    "eevdf",
];
const LAWS: [&str; 5] = [
    "exp(M)",
    "const(M)",
    "erlang(3, M)",
    "hyper(M, 4)",
    "uniform(0, 2 * M)",
];

/// A random model of pools on machines with a lock, closed or open at a safe load.
fn random_model() -> impl Strategy<Value = String> {
    (
        0..SCHEDULERS.len(),
        1u32..4,
        1u32..6,
        0..LAWS.len(),
        0..LAWS.len(),
        prop::bool::ANY,
        prop::bool::ANY,
        2u32..12,
    )
        .prop_map(|(scheduler, cores, threads, front, back, lock, open, clients)| {
            let law = |i: usize, mean: &str| LAWS[i].replace('M', mean);
            let arrivals = if open {
                // At most 40% of the narrowest place: one core with 25 ms, one thread with about 45 ms, the lock with 10.
                format!("rate = {}", 8.0 * f64::from(cores.min(threads)).min(2.0))
            } else {
                format!("clients = {clients}\nthink = \"exp(20ms)\"")
            };
            let inner = format!("{{ cpu = \"{}\" }}", law(front, "10ms"));
            let body = if lock { format!("{{ lock = \"m\", do = [ {inner} ] }}") } else { inner };
            format!(
                "[machines.a]\ncores = {cores}\nscheduler = \"{}\"\n[stations.disk]\n[resources.m]\nkind = \"mutex\"\n\
                 [pools.front]\nmachine = \"a\"\nthreads = {threads}\n\
                 program = [ {body}, {{ call = \"back\" }}, {{ reply = true }}, {{ cpu = \"1ms\" }} ]\n\
                 [pools.back]\nmachine = \"a\"\nthreads = 8\n\
                 program = [ {{ cpu = \"{}\" }}, {{ visit = \"disk\", time = \"{}\" }} ]\n\
                 [classes.request]\n{arrivals}\nprogram = [ {{ call = \"front\" }} ]\n",
                SCHEDULERS[scheduler],
                law(back, "14ms"),
                law(back, "5ms"),
            )
        })
}

fn near(what: &str, a: f64, b: f64, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert!(
        (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-9),
        "{}: {} and {}",
        what,
        a,
        b
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Little (1961), the utilization law, the forced flow law and the response time law (Denning and Buzen, 1978).
    #[test]
    fn the_operational_laws_hold(text in random_model(), seed in 0u64..1000) {
        let a = run(&text, &fixed(20_000, seed));
        prop_assert_eq!(&a.problem, &None, "{}", text);
        let c = &a.classes.0[0].1;
        let x = c.throughput.value;
        // Ends of the run cut a few requests: a percent of slack covers them.
        near("Little", c.in_system.value, x * c.response_time.mean.value, 0.012)?;
        for name in ["front", "back", "disk"] {
            let s = a.stations.get(name).unwrap();
            near("forced flow", s.throughput.unwrap().value, x, 0.012)?;
            let waiting = s.throughput.unwrap().value * s.queueing_time.unwrap().value;
            prop_assert!((waiting - s.queue_length.unwrap()).abs() < 0.02 * waiting + 0.01, "Little at {name}: {waiting} {:?}", s.queue_length);
        }
        // Front 11 ms and back 14 ms of CPU; the laws' sampling error stays below 5% with 20,000 draws.
        let cores = if text.contains("cores = 1") { 1.0 } else if text.contains("cores = 2") { 2.0 } else { 3.0 };
        near("utilization law", a.stations.get("a").unwrap().utilization.unwrap().value * cores, x * 0.025, 0.06)?;
        near("utilization law", a.stations.get("disk").unwrap().utilization.unwrap().value, x * 0.005, 0.06)?;
        if let Some(n) = text.split("clients = ").nth(1) {
            let n: f64 = n.split('\n').next().unwrap().parse().unwrap();
            near("response time law", n / x, c.response_time.mean.value + 0.020, 0.03)?;
        }
    }

    /// No core idles while a thread wants it: with always as many ready threads as cores, all are busy all the time.
    #[test]
    fn work_is_conserved(scheduler in 0..SCHEDULERS.len(), cores in 1u32..4, law in 0..LAWS.len(), seed in 0u64..100) {
        let text = format!(
            "[machines.a]\ncores = {cores}\nscheduler = \"{}\"\n[pools.p]\nmachine = \"a\"\nthreads = 16\n\
             program = [ {{ cpu = \"{}\" }} ]\n[classes.request]\nclients = 16\nprogram = [ {{ call = \"p\" }} ]\n",
            SCHEDULERS[scheduler], LAWS[law].replace('M', "10ms"),
        );
        let a = run(&text, &fixed(5_000, seed));
        near("busy", a.stations.get("a").unwrap().utilization.unwrap().value, 1.0, 1e-3)?;
    }

    /// The same seed gives the same result to the last bit.
    #[test]
    fn the_same_seed_gives_the_same_bits(text in random_model(), seed in 0u64..1000) {
        let json = || serde_json::to_string(&run(&text, &fixed(2_000, seed))).unwrap();
        prop_assert_eq!(json(), json());
    }
}

/// One CPU shared fairly by threads of different weights: shares in proportion, under both fair schedulers.
#[test]
fn fair_schedulers_give_cpu_in_proportion_to_weight() {
    for scheduler in ["cfs", "eevdf"] {
        let text = format!(
            "[machines.a]\nscheduler = \"{scheduler}\"\n\
             [pools.light]\nmachine = \"a\"\nthreads = 1\nweight = 1024\nprogram = [ {{ cpu = \"1ms\" }} ]\n\
             [pools.heavy]\nmachine = \"a\"\nthreads = 1\nweight = 3072\nprogram = [ {{ cpu = \"1ms\" }} ]\n\
             [classes.light]\nclients = 2\nprogram = [ {{ call = \"light\" }} ]\n\
             [classes.heavy]\nclients = 2\nprogram = [ {{ call = \"heavy\" }} ]\n"
        );
        let a = run(&text, &fixed(40_000, 1));
        let x: Vec<f64> = a.classes.0.iter().map(|c| c.1.throughput.value).collect();
        assert!((x[1] / x[0] - 3.0).abs() < 0.1, "{scheduler}: {x:?}");
    }
}

/// A quota of 0.3 CPUs lets a group use 0.3 CPUs and no more, and stops it for the rest of each period.
#[test]
fn a_quota_bounds_what_a_group_uses() {
    let text = "[machines.a]\ncores = 2\nscheduler = \"cfs\"\n[groups.g]\nquota = \"30ms\"\nperiod = \"100ms\"\n\
        [pools.p]\nmachine = \"a\"\nthreads = 4\ngroup = \"g\"\nprogram = [ { cpu = \"exp(1ms)\" } ]\n\
        [classes.request]\nclients = 4\nprogram = [ { call = \"p\" } ]\n";
    let a = run(text, &fixed(20_000, 1));
    let busy = a.stations.get("a").unwrap().utilization.unwrap().value * 2.0;
    assert!((busy - 0.3).abs() < 0.002, "{busy}");
    let stopped = *a
        .stations
        .get("g")
        .unwrap()
        .more
        .get("throttled_share")
        .unwrap();
    // Two cores use 30 ms in 15 ms.
    assert!((stopped - 0.85).abs() < 0.01, "{stopped}");
}

/// Threads bound to one of two cores use that one only.
#[test]
fn affinity_is_kept() {
    let text = "[machines.a]\ncores = 2\nscheduler = \"cfs\"\n\
        [pools.p]\nmachine = \"a\"\nthreads = 4\ncores = [1]\nprogram = [ { cpu = \"exp(1ms)\" } ]\n\
        [classes.request]\nclients = 4\nprogram = [ { call = \"p\" } ]\n";
    let a = run(text, &fixed(20_000, 1));
    let used = a.stations.get("a").unwrap().utilization.unwrap().value;
    assert!((used - 0.5).abs() < 1e-3, "{used}");
}

/// A collector that stops the world takes its share; one beside the application costs CPU but no pauses.
#[test]
fn collections_take_what_they_take() {
    let text = |mode: &str, threads: u32| {
        format!(
            "[machines.a]\ncores = 2\nscheduler = \"cfs\"\n\
             [heaps.h]\nmachine = \"a\"\nyoung = \"10MB\"\ncpu = \"20ms\"\nthreads = {threads}\nmode = \"{mode}\"\n\
             [pools.p]\nmachine = \"a\"\nthreads = 1\nheap = \"h\"\nprogram = [ {{ cpu = \"1ms\" }}, {{ allocate = \"100kB\" }} ]\n\
             [classes.request]\nclients = 1\nprogram = [ {{ call = \"p\" }} ]\n"
        )
    };
    // 100 requests fill the heap in 100 ms; two threads collect in 10 ms.
    let a = run(&text("stop-the-world", 2), &fixed(20_000, 1));
    assert!(
        (a.classes.0[0].1.throughput.value - 100.0 / 0.110).abs() < 2.0,
        "{:?}",
        a.classes.0[0].1.throughput
    );
    let stopped = *a
        .stations
        .get("h")
        .unwrap()
        .more
        .get("stopped_share")
        .unwrap();
    assert!((stopped - 10.0 / 110.0).abs() < 0.002, "{stopped}");
    let b = run(&text("concurrent", 1), &fixed(20_000, 1));
    assert_eq!(
        b.stations.get("h").unwrap().more.get("stopped_share"),
        Some(&0.0)
    );
    assert!(b.classes.0[0].1.throughput.value > a.classes.0[0].1.throughput.value);
}

/// Clients that give up are counted, try again, and are lost in the end.
#[test]
fn timeouts_and_retries_are_counted() {
    let text = "[stations.slow]\n[classes.request]\nclients = 1\nthink = \"1s\"\ntimeout = \"1s\"\nretries = 2\nbackoff = \"0.5s\"\nbackoff_growth = 2\n\
        program = [ { visit = \"slow\", time = \"2s\" } ]\n";
    let a = run(text, &fixed(2_000, 1));
    let c = &a.classes.0[0].1;
    assert_eq!(c.throughput.value, 0.0);
    // Think 1, try 1, pause 0.5, try 1, pause 1, try 1: one request lost in 5.5 s, three time-outs.
    let rate = |name: &str| *c.failures.get(name).unwrap();
    assert!((rate("lost") - 1.0 / 5.5).abs() < 0.002, "{}", rate("lost"));
    assert!((rate("timed_out") - 3.0 / 5.5).abs() < 0.006);
    assert!((rate("retried") - 2.0 / 5.5).abs() < 0.004);
}

/// A guard admits as many new connections as the CPUs can serve.
#[test]
fn a_guard_admits_its_budget() {
    let text = "[guards.g]\ninterval = 1\ncpus = 2\ncost_new = \"100ms\"\n[classes.request]\nrate = 100\nprogram = [ { admit = \"g\" } ]\n";
    let a = run(text, &fixed(50_000, 1));
    assert!(
        (a.classes.0[0].1.throughput.value - 20.0).abs() < 0.1,
        "{:?}",
        a.classes.0[0].1.throughput
    );
}

/// Readers share a lock, writers exclude everybody: with a writer always waiting, throughput is known.
#[test]
fn readers_share_and_writers_exclude() {
    let text = |mode: &str| {
        format!(
            "[resources.l]\nkind = \"rwlock\"\n[classes.request]\nclients = 4\n\
             program = [ {{ lock = \"l\", mode = \"{mode}\", do = [ {{ wait = \"10ms\" }} ] }} ]\n"
        )
    };
    assert!(
        (run(&text("read"), &fixed(10_000, 1)).classes.0[0]
            .1
            .throughput
            .value
            - 400.0)
            .abs()
            < 1.0
    );
    assert!(
        (run(&text("write"), &fixed(10_000, 1)).classes.0[0]
            .1
            .throughput
            .value
            - 100.0)
            .abs()
            < 1.0
    );
}

/// Producers and consumers over a condition: nobody is lost, nobody goes on without a notification.
#[test]
fn conditions_wake_who_waits() {
    let text = "conditions = [\"filled\"]\n[resources.m]\nkind = \"mutex\"\n\
        [classes.consumer]\nclients = 1\nprogram = [ { lock = \"m\", do = [ { await = \"filled\", mutex = \"m\" } ] } ]\n\
        [classes.producer]\nclients = 1\nthink = \"10ms\"\nprogram = [ { lock = \"m\", do = [ { notify = \"filled\" } ] } ]\n";
    let a = run(text, &fixed(10_000, 1));
    let x: Vec<f64> = a.classes.0.iter().map(|c| c.1.throughput.value).collect();
    assert!(
        (x[0] - 100.0).abs() < 0.5 && (x[1] - 100.0).abs() < 0.5,
        "{x:?}"
    );
}

/// A pool grows to what the load needs and shrinks again; its threads' creation is paid for.
#[test]
fn pools_grow_and_shrink() {
    let text = "[machines.a]\ncores = 4\nscheduler = \"cfs\"\n\
        [pools.p]\nmachine = \"a\"\nmin_threads = 1\nmax_threads = 50\nidle_timeout = \"50ms\"\ncreate_cpu = \"1ms\"\ndestroy_cpu = \"0.5ms\"\n\
        program = [ { wait = \"exp(100ms)\" } ]\n[classes.request]\nrate = 100\nprogram = [ { call = \"p\" } ]\n";
    let a = run(text, &fixed(50_000, 1));
    let p = a.stations.get("p").unwrap();
    let threads = p.threads.unwrap();
    assert!((10.0..25.0).contains(&threads), "{threads}");
    assert!(a.stations.get("a").unwrap().utilization.unwrap().value > 0.001);
    assert!((a.classes.0[0].1.throughput.value - 100.0).abs() < 2.0);
}
