//! Known answers: the simulator within its own 99% interval (and the interval narrow enough to mean something), exact
//! solvers to six digits. Each test names its source.

use loadline_model::answer::Answer;
use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};
use loadline_model::solve::{Solver, evaluate, queues};
use loadline_stats::Estimate;

fn model(text: &str) -> loadline_model::model::Model {
    from_text(text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn simulated(text: &str, requests: u64) -> Answer {
    let options = Options {
        requests: Some(requests),
        seed: 12,
        ..Options::default()
    };
    let answer = simulate(&model(text), &options);
    assert_eq!(answer.problem, None);
    answer
}

/// Within the simulation's own 99% interval, which is at most `narrow` of the value.
fn within(what: &str, estimate: Estimate, truth: f64, narrow: f64) {
    let half = estimate.half_width(0.99);
    assert!(
        half <= narrow * truth,
        "{what}: interval ±{half} is too wide for {truth}"
    );
    assert!(
        estimate.covers(truth, 0.99),
        "{what}: {} ± {half} does not cover {truth}",
        estimate.value
    );
}

fn close(what: &str, value: f64, truth: f64) {
    assert!(
        (value - truth).abs() < 1e-6 * truth.abs().max(1.0),
        "{what}: {value} is not {truth}"
    );
}

fn response(answer: &Answer) -> Estimate {
    answer.classes.0[0].1.response_time.mean
}

fn station(discipline: &str, servers: u32, arrivals: &str, service: &str) -> String {
    format!(
        "[stations.q]\nservers = {servers}\n{discipline}\n[classes.request]\n{arrivals}\nprogram = [ {{ visit = \"q\", time = \"{service}\" }} ]\n"
    )
}

/// Kleinrock, Queueing Systems I (1975), 3.2: L = rho/(1-rho); the response time is exponential.
#[test]
fn mm1() {
    let text = station("", 1, "rate = 0.8", "exp(1)");
    let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
    close("W", response(&exact).value, 5.0);
    close("p95", exact.classes.0[0].1.response_time.p95, 14.978661);
    close("p99", exact.classes.0[0].1.response_time.p99, 23.025851);
    let a = simulated(&text, 3_000_000);
    let c = &a.classes.0[0].1;
    within("W", c.response_time.mean, 5.0, 0.03);
    within("L", c.in_system, 4.0, 0.03);
    let p = |value, ci95| Estimate {
        value,
        ci95,
        freedom: 14,
    };
    within(
        "p95",
        p(c.response_time.p95, c.response_time.p95_ci95),
        14.979,
        0.06,
    );
    within(
        "p99",
        p(c.response_time.p99, c.response_time.p99_ci95),
        23.026,
        0.08,
    );
}

/// Kleinrock (1975), 3.5, Erlang's C formula.
#[test]
fn mmc() {
    for (c, waiting, w) in [
        (4, 0.596432, 1.745541),
        (16, 0.304884, 1.095276),
        (64, 0.056056, 1.004379),
    ] {
        let q = queues::mmc(0.8 * f64::from(c), 1.0, c).unwrap();
        assert!(
            (q.waiting - waiting).abs() < 1e-6 && (q.response - w).abs() < 1e-6,
            "{c}: {q:?}"
        );
        let text = station("", c, &format!("rate = {}", 0.8 * f64::from(c)), "exp(1)");
        let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
        assert!((response(&exact).value - w).abs() < 1e-6);
        within(
            &format!("M/M/{c}"),
            response(&simulated(&text, 500_000)),
            w,
            0.03,
        );
    }
}

/// Pollaczek and Khinchine: W = 1 + rho (1 + c2) / (2 (1 - rho)); D/M/1 by its root.
#[test]
fn mg1_and_dm1() {
    for (law, w, n, narrow) in [
        ("const(1)", 3.0, 500_000, 0.03),
        ("erlang(4, 1)", 3.5, 500_000, 0.04),
        ("hyper(1, 4)", 11.0, 4_000_000, 0.06),
        ("hyper(1, 20)", 43.0, 6_000_000, 0.13),
    ] {
        let text = station("", 1, "rate = 0.8", law);
        close(
            law,
            response(&evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap()).value,
            w,
        );
        within(law, response(&simulated(&text, n)), w, narrow);
    }
    let text = station("", 1, "arrivals = \"const(1.25)\"", "exp(1)");
    close("D/M/1", queues::dm1(0.8, 1.0).unwrap(), 2.6927306);
    within(
        "D/M/1",
        response(&simulated(&text, 500_000)),
        2.692731,
        0.03,
    );
}

/// Kleinrock, Queueing Systems II (1976), 4.4: under processor sharing W depends on the mean service only.
#[test]
fn processor_sharing_is_insensitive_to_the_law_of_service() {
    for (law, n) in [
        ("const(1)", 800_000),
        ("erlang(4, 1)", 800_000),
        ("exp(1)", 1_000_000),
        ("hyper(1, 4)", 5_000_000),
        ("hyper(1, 20)", 2_000_000),
    ] {
        let text = station("discipline = \"ps\"", 1, "rate = 0.8", law);
        close(
            law,
            response(&evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap()).value,
            5.0,
        );
        within(law, response(&simulated(&text, n)), 5.0, 0.07);
        // The same as threads on a machine.
        let text = format!(
            "[machines.m]\n[pools.p]\nmachine=\"m\"\nthreads=\"unlimited\"\nidle_timeout=\"unlimited\"\nprogram=[{{cpu=\"{law}\"}}]\n\
             [classes.request]\nrate=0.8\nprogram=[{{call=\"p\"}}]\n"
        );
        within(law, response(&simulated(&text, n / 2)), 5.0, 0.11);
    }
}

/// The same, conditionally: E[T | x] = x / (1 - rho).
#[test]
fn under_processor_sharing_response_is_proportional_to_size() {
    let text = "[stations.q]\ndiscipline=\"ps\"\n\
        [classes.small]\nrate=0.4\nprogram=[{visit=\"q\",time=0.5}]\n\
        [classes.large]\nrate=0.2\nprogram=[{visit=\"q\",time=3}]\n";
    let a = simulated(text, 1_000_000);
    within("small", a.classes.0[0].1.response_time.mean, 2.5, 0.04);
    within("large", a.classes.0[1].1.response_time.mean, 15.0, 0.04);
}

/// Kleinrock (1975), 3.6.
#[test]
fn mm1k() {
    for (rho, k, lost, w, x) in [
        (0.8, 5, 0.0888195, 2.563065, 0.728944),
        (0.8, 10, 0.0234929, 3.797097, 0.781206),
        (1.2, 10, 0.192586, 6.967_f64, 0.968896),
    ] {
        let (l, resp, thr) = queues::mm1k(rho, 1.0, k);
        assert!((l - lost).abs() < 1e-6, "{l}");
        assert!((thr - x).abs() < 1e-6, "{thr}");
        let w = if rho > 1.0 { resp } else { w };
        assert!((resp - w).abs() < 1e-6, "{resp}");
        let text = station(
            &format!("capacity = {}", k - 1),
            1,
            &format!("rate = {rho}"),
            "exp(1)",
        );
        let a = simulated(&text, 600_000);
        within("W", response(&a), w, 0.02);
        within("X", a.classes.0[0].1.throughput, x, 0.01);
        let offered = a.classes.0[0].1.offered;
        let share = a.stations.get("q").unwrap().more.get("rejected").unwrap() / offered;
        assert!(
            (share - lost).abs() < 0.03 * lost + 5e-4,
            "{share} of {lost}"
        );
    }
}

/// Erlang (1917): loss is insensitive to the law of service (Sevastyanov, 1957).
#[test]
fn erlang_b() {
    for (servers, load, lost) in [
        (5, 3.0, 0.110054),
        (10, 8.0, 0.121661),
        (100, 100.0, 0.0757005),
    ] {
        let exact = queues::erlang_b(servers, load);
        assert!((exact - lost).abs() < 1e-6, "{exact}");
        for law in ["exp(1)", "const(1)", "hyper(1, 4)"] {
            let text = station("capacity = 0", servers, &format!("rate = {load}"), law);
            let a = simulated(&text, 400_000);
            let x = a.classes.0[0].1.throughput;
            within(law, x, load * (1.0 - lost), 0.01);
        }
    }
}

/// Cobham (1954) and the preemptive-resume formula of White and Christie (1958).
#[test]
fn priorities() {
    let waits = queues::priority_waits(&[(0.3, 1.0, 1.0), (0.5, 1.0, 1.0)]);
    close("high", waits[0], 8.0 / 7.0);
    close("low", waits[1], 5.7142857);
    let preempted = queues::preemptive_responses(&[(0.3, 1.0, 1.0), (0.5, 1.0, 1.0)]);
    close("high", preempted[0], 1.4285714);
    close("low", preempted[1], 7.1428571);
    let text = |discipline: &str| {
        format!(
            "[stations.q]\ndiscipline=\"{discipline}\"\n[classes.high]\nrate=0.3\npriority=2\nprogram=[{{visit=\"q\",time=\"exp(1)\"}}]\n\
             [classes.low]\nrate=0.5\npriority=1\nprogram=[{{visit=\"q\",time=\"exp(1)\"}}]\n"
        )
    };
    for (discipline, truth) in [
        ("priority", [waits[0] + 1.0, waits[1] + 1.0]),
        ("preemptive", [preempted[0], preempted[1]]),
    ] {
        let a = simulated(&text(discipline), 1_500_000);
        within(
            discipline,
            a.classes.0[0].1.response_time.mean,
            truth[0],
            0.02,
        );
        within(
            discipline,
            a.classes.0[1].1.response_time.mean,
            truth[1],
            0.04,
        );
    }
    // The same by threads and a scheduler.
    for (scheduler, truth) in [
        ("priority-nonpreemptive", [waits[0] + 1.0, waits[1] + 1.0]),
        ("priority", [preempted[0], preempted[1]]),
    ] {
        let text = format!(
            "[machines.m]\nscheduler=\"{scheduler}\"\n\
             [pools.high]\nmachine=\"m\"\nthreads=\"unlimited\"\nidle_timeout=\"unlimited\"\npriority=2\nprogram=[{{cpu=\"exp(1)\"}}]\n\
             [pools.low]\nmachine=\"m\"\nthreads=\"unlimited\"\nidle_timeout=\"unlimited\"\npriority=1\nprogram=[{{cpu=\"exp(1)\"}}]\n\
             [classes.high]\nrate=0.3\nprogram=[{{call=\"high\"}}]\n[classes.low]\nrate=0.5\nprogram=[{{call=\"low\"}}]\n"
        );
        let a = simulated(&text, 1_000_000);
        within(
            scheduler,
            a.classes.0[0].1.response_time.mean,
            truth[0],
            0.02,
        );
        within(
            scheduler,
            a.classes.0[1].1.response_time.mean,
            truth[1],
            0.05,
        );
    }
}

/// The machine repair model (Sztrik, Basic Queueing Theory, 2012, 3.4).
#[test]
fn machine_repair() {
    for (n, z, c, x) in [
        (10, 10.0, 1, 0.785418),
        (20, 10.0, 1, 0.998131),
        (50, 10.0, 4, 3.884982),
        (100, 10.0, 8, 7.910899),
    ] {
        let text = station(
            "",
            c,
            &format!("clients = {n}\nthink = \"exp({z})\""),
            "exp(1)",
        );
        let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
        assert!(
            (exact.classes.0[0].1.throughput.value - x).abs() < 1e-6,
            "{exact:?}"
        );
        within(
            "X",
            simulated(&text, 200_000).classes.0[0].1.throughput,
            x,
            0.01,
        );
    }
}

fn closed(classes: &[(u32, f64, &[f64])], kinds: &[&str]) -> String {
    let mut text = String::new();
    for (i, kind) in kinds.iter().enumerate() {
        text += &format!("[stations.s{i}]\n{kind}\n");
    }
    for (c, (n, z, demands)) in classes.iter().enumerate() {
        let steps: Vec<String> = demands
            .iter()
            .enumerate()
            .map(|(i, d)| format!("{{visit=\"s{i}\",time=\"exp({d})\"}}"))
            .collect();
        text += &format!(
            "[classes.c{c}]\nclients={n}\nthink=\"exp({z})\"\nprogram=[{}]\n",
            steps.join(",")
        );
    }
    text
}

/// A central-server network by exact MVA; the knee N* = (D + Z) / Dmax = 22.
#[test]
fn a_closed_network_of_three_stations() {
    for (n, x, r) in [
        (10, 8.753539, 0.142395),
        (20, 15.975154, 0.251944),
        (50, 19.999929, 1.500009),
    ] {
        let text = closed(&[(n, 1.0, &[0.05, 0.03, 0.02])], &["", "", ""]);
        let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
        assert!((exact.classes.0[0].1.throughput.value - x).abs() < 1e-6);
        assert!((response(&exact).value - r).abs() < 1e-6);
        let a = simulated(&text, 300_000);
        within("X", a.classes.0[0].1.throughput, x, 0.015);
        within("R", response(&a), r, 0.04);
    }
}

/// Lazowska et al., Quantitative System Performance (1984), pages 117 and 131.
#[test]
fn lazowska() {
    let text = closed(&[(3, 15.0, &[0.605, 2.1, 1.35])], &["", "", ""]);
    let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
    assert!((exact.classes.0[0].1.throughput.value - 0.151516).abs() < 1e-6);
    assert!((response(&exact).value - 4.79982).abs() < 1e-5);
    within(
        "X",
        simulated(&text, 100_000).classes.0[0].1.throughput,
        0.151516,
        0.02,
    );
}

/// Lazowska et al. (1984), page 131: two classes, populations 10 and 25, demands that give the tabulated queues.
#[test]
fn two_classes_exactly_and_approximately_agree_with_simulation() {
    let ps = "discipline = \"ps\"";
    let text = closed(
        &[(10, 0.001, &[1.0, 3.0]), (25, 0.001, &[0.5, 1.2])],
        &[ps, ps],
    );
    let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
    let approximate = evaluate(&model(&text), Solver::Approximate, &Options::default()).unwrap();
    let a = simulated(&text, 400_000);
    for c in 0..2 {
        let x = exact.classes.0[c].1.throughput.value;
        within("X", a.classes.0[c].1.throughput, x, 0.03);
        let about = approximate.classes.0[c].1.throughput.value;
        assert!(
            (about - x).abs() < 0.05 * x,
            "Bard-Schweitzer gives {about} for {x}"
        );
    }
}

/// Chandy and Neuse, Linearizer (1982): a delay and a queue, two classes of the same demands.
#[test]
fn chandy_and_neuse() {
    use loadline_model::solve::mva::{Center, Kind, Network, approximate, exact};
    let network = Network {
        centers: vec![
            Center {
                kind: Kind::Delay,
                demands: vec![8.0, 0.0],
            },
            Center {
                kind: Kind::Queue(1),
                demands: vec![1.0, 1.0],
            },
        ],
        population: vec![8, 1],
        think: vec![0.0, 0.0],
    };
    let q: Vec<f64> = exact(&network)
        .unwrap()
        .queue
        .iter()
        .map(|r| r[0])
        .collect();
    assert!(
        (q[0] - 5.227).abs() < 1e-3 && (q[1] - 2.773).abs() < 1e-3,
        "{q:?}"
    );
    let about = approximate(&network);
    let q: Vec<f64> = about.queue.iter().map(|r| r[0]).collect();
    assert!(
        (q[0] - 5.108).abs() < 1e-3 && (q[1] - 2.892).abs() < 1e-3,
        "{q:?}"
    );
}

/// Palm (1957); Garnett, Mandelbaum and Reiman (2002): Erlang A.
#[test]
fn erlang_a() {
    for (rate, lost) in [(10.0, 0.103913), (12.0, 0.195656)] {
        let exact = queues::erlang_a(10, rate, 1.0, 0.5);
        assert!((exact - lost).abs() < 1e-6, "{exact}");
        let text = station(
            "patience = \"exp(2)\"",
            10,
            &format!("rate = {rate}"),
            "exp(1)",
        );
        within(
            "X",
            simulated(&text, 400_000).classes.0[0].1.throughput,
            rate * (1.0 - lost),
            0.01,
        );
        // The same as a pool of threads whose queue people leave.
        let text = format!(
            "[pools.p]\nthreads=10\npatience=\"exp(2)\"\nprogram=[{{wait=\"exp(1)\"}}]\n[classes.request]\nrate={rate}\nprogram=[{{call=\"p\"}}]\n"
        );
        within(
            "X",
            simulated(&text, 300_000).classes.0[0].1.throughput,
            rate * (1.0 - lost),
            0.01,
        );
    }
}

/// Flatto and Hahn (1984): R = (12 - rho) / (8 (1 - rho)).
#[test]
fn fork_and_join_of_two() {
    for (rho, r) in [(0.8, 7.0), (0.5, 2.875)] {
        close("exact", queues::fork_join_two(rho, 1.0).unwrap(), r);
        let text = format!(
            "[stations.a]\n[stations.b]\n[classes.request]\nrate={rho}\n\
             program=[{{fork=[[{{visit=\"a\",time=\"exp(1)\"}}],[{{visit=\"b\",time=\"exp(1)\"}}]]}}]\n"
        );
        within("R", response(&simulated(&text, 1_500_000)), r, 0.05);
    }
}

/// A partly-open system: sessions at 0.2/s, each goes on with 0.75, thinks 5 s (Schroeder, Wierman and Harchol-Balter,
/// 2006, for the form): product form, so W = 5 for exponential service or for sharing of any law.
#[test]
fn partly_open_sessions() {
    for (discipline, law) in [
        ("", "exp(1)"),
        ("discipline = \"ps\"", "hyper(1, 4)"),
        ("discipline = \"ps\"", "const(1)"),
    ] {
        let text = station(
            discipline,
            1,
            "rate = 0.2\ncontinue = 0.75\nthink = \"exp(5)\"",
            law,
        );
        let exact = evaluate(&model(&text), Solver::Mva, &Options::default()).unwrap();
        close(law, response(&exact).value, 5.0);
        within(law, response(&simulated(&text, 2_000_000)), 5.0, 0.06);
    }
}

/// lqns, regression suite of the layered queueing network solver (Franks et al., 2009): 20-multiserver, 4 clients of
/// mean 1, a task of 2 threads of mean 1.
#[test]
fn layered_multiserver() {
    let text = "[machines.m]\ncores=\"unlimited\"\n[pools.server]\nmachine=\"m\"\nthreads=2\nprogram=[{cpu=\"exp(1)\"}]\n\
        [classes.request]\nclients=4\nthink=\"exp(1)\"\nprogram=[{call=\"server\"}]\n";
    let a = simulated(text, 300_000);
    within("X", a.classes.0[0].1.throughput, 1.7, 0.01);
    within(
        "wait",
        a.stations.get("server").unwrap().queueing_time.unwrap(),
        0.352941,
        0.03,
    );
}

/// The same suite, 31-overtaking: a second phase delays the client's own next request.
#[test]
fn layered_overtaking() {
    let text = "[machines.m]\n[pools.t2]\nmachine=\"m\"\nthreads=1\n\
        program=[{cpu=\"exp(1)\"},{reply=true},{cpu=\"exp(1)\"}]\n\
        [classes.request]\nclients=1\nthink=\"exp(1)\"\nprogram=[{call=\"t2\"}]\n";
    let a = simulated(text, 300_000);
    within("X", a.classes.0[0].1.throughput, 0.4, 0.01);
    within(
        "wait",
        a.stations.get("t2").unwrap().queueing_time.unwrap(),
        0.5,
        0.02,
    );
}

/// The same suite, 34-priority: four customers with think time 4 and demand 1, preemptive priorities 4, 2, 2, 0.
#[test]
fn layered_priorities() {
    let mut text = String::from("[stations.p0]\ndiscipline=\"preemptive\"\n");
    for (i, priority) in [4, 2, 2, 0].iter().enumerate() {
        text += &format!(
            "[classes.c{i}]\nclients=1\nthink=\"exp(4)\"\npriority={priority}\nprogram=[{{visit=\"p0\",time=\"exp(1)\"}}]\n"
        );
    }
    let a = simulated(&text, 1_000_000);
    within("c0", a.classes.0[0].1.throughput, 0.2, 0.01);
    // lqns approximates; the simulation is to agree with it to a percent.
    for (c, x) in [(1, 0.174648), (2, 0.174648), (3, 0.140025)] {
        let got = a.classes.0[c].1.throughput.value;
        assert!((got - x).abs() < 0.015 * x, "class {c}: {got} of {x}");
    }
}

/// The same suite, 60-semaphore (simulated there): a customer's first phase waits for a token by way of one task, its
/// second gives it back by way of another; all on one first-come-first-served processor.
#[test]
fn layered_semaphore() {
    let text = "[machines.customer]\nscheduler=\"fcfs\"\n[machines.server]\nscheduler=\"fcfs\"\n\
        [resources.token]\nkind=\"semaphore\"\nunits=1\n\
        [pools.customer]\nmachine=\"customer\"\nthreads=3\nprogram=[{cpu=\"exp(0.5)\"},{call=\"app_wait\"},{cpu=\"exp(0.5)\"},{call=\"app_signal\"}]\n\
        [pools.app_wait]\nmachine=\"server\"\nthreads=1\nprogram=[{cpu=\"exp(0.5)\"},{call=\"token_wait\"},{cpu=\"exp(0.5)\"}]\n\
        [pools.app_signal]\nmachine=\"server\"\nthreads=1\nprogram=[{cpu=\"exp(1)\"},{send=\"token_signal\"}]\n\
        [pools.token_wait]\nmachine=\"server\"\nthreads=1\nprogram=[{acquire=\"token\"},{cpu=\"exp(0.7)\"}]\n\
        [pools.token_signal]\nmachine=\"server\"\nthreads=1\nprogram=[{cpu=\"exp(0.3)\"},{release=\"token\"}]\n\
        [classes.request]\nclients=3\nprogram=[{call=\"customer\"}]\n";
    let x = simulated(text, 200_000).classes.0[0].1.throughput.value;
    assert!((x - 0.307657).abs() < 0.03 * 0.307657, "{x}");
}

/// Lazowska et al. (1984), page 131: ten batch jobs (demands 1 and 0.09) and 25 terminals (0.1 and 0.9, thinking 30 s).
#[test]
fn lazowska_batch_and_terminals() {
    use loadline_model::solve::mva::{Center, Kind, Network, exact};
    let network = Network {
        centers: vec![
            Center {
                kind: Kind::Queue(1),
                demands: vec![1.0, 0.1],
            },
            Center {
                kind: Kind::Queue(1),
                demands: vec![0.09, 0.9],
            },
        ],
        population: vec![10, 25],
        think: vec![0.0, 30.0],
    };
    let solution = exact(&network).unwrap();
    for (got, truth) in solution.throughput.iter().zip([0.926466, 0.735342]) {
        assert!((got - truth).abs() < 1e-6, "{solution:?}");
    }
    for (got, truth) in [
        (solution.queue[0][0], 9.717),
        (solution.queue[1][0], 0.283),
        (solution.queue[0][1], 0.850),
        (solution.queue[1][1], 2.090),
    ] {
        assert!((got - truth).abs() < 5e-4, "{solution:?}");
    }
    let ps = "discipline = \"ps\"";
    let text = closed(
        &[(10, 1e-9, &[1.0, 0.09]), (25, 30.0, &[0.1, 0.9])],
        &[ps, ps],
    );
    let a = simulated(&text, 400_000);
    within("batch", a.classes.0[0].1.throughput, 0.926466, 0.02);
    within("terminals", a.classes.0[1].1.throughput, 0.735342, 0.02);
}

/// lqns regression suite, 66-rwlock (simulated there): as the semaphore, but three may hold at once.
#[test]
fn layered_readers() {
    let text = "[machines.server]\nscheduler=\"fcfs\"\n[resources.readers]\nkind=\"semaphore\"\nunits=3\n\
        [pools.readers]\nmachine=\"server\"\nthreads=3\n\
        program=[{cpu=\"exp(0.5)\"},{call=\"app_wait\"},{reply=true},{cpu=\"exp(0.5)\"},{call=\"app_signal\"}]\n\
        [pools.app_wait]\nmachine=\"server\"\nthreads=1\nprogram=[{cpu=\"exp(0.5)\"},{call=\"lock\"},{cpu=\"exp(0.5)\"}]\n\
        [pools.app_signal]\nmachine=\"server\"\nthreads=1\nprogram=[{cpu=\"exp(1)\"},{send=\"unlock\"}]\n\
        [pools.lock]\nmachine=\"server\"\nthreads=3\nprogram=[{acquire=\"readers\"},{cpu=\"exp(0.7)\"}]\n\
        [pools.unlock]\nmachine=\"server\"\nthreads=3\nprogram=[{cpu=\"exp(0.3)\"},{release=\"readers\"}]\n\
        [classes.request]\nclients=3\nthink=\"exp(0.5)\"\nprogram=[{call=\"readers\"}]\n";
    let x = simulated(text, 200_000).classes.0[0].1.throughput.value;
    assert!((x - 0.250056).abs() < 0.01 * 0.250056, "{x}");
}

/// A single thread that ends when there is nothing to do is created for each job, and that is paid for each time.
#[test]
fn a_pool_of_none_or_one_pays_for_each_that_it_creates() {
    let text = |least: &str| {
        format!(
            "[machines.m]\ncores = 1\n[pools.p]\nmachine = \"m\"\n{least}max_threads = 1\nidle_timeout = 0\ncreate_cpu = \"2ms\"\n\
             program = [ {{ cpu = \"1ms\" }} ]\n[classes.r]\narrivals = \"100ms\"\nprogram = [ {{ call = \"p\" }} ]\n"
        )
    };
    for (least, used) in [("min_threads = 0\n", 0.03), ("", 0.01)] {
        let a = simulated(&text(least), 2_000);
        let seen = a.stations.get("m").expect("a machine").utilization;
        let seen = seen.expect("known").value;
        assert!((seen / used - 1.0).abs() < 0.02, "{seen}, not {used}");
    }
}

/// Demands that grow with utilization: U = rate * time * (1 + growth * (U - at)) is linear in U.
#[test]
fn contention_moves_utilization_to_its_fixed_point() {
    let text = |growth: f64| {
        format!(
            "[machines.m]\ncores = 2\ncontention = {growth}\ncontention_at = 0.2\n[pools.p]\nmachine = \"m\"\nthreads = 50\n\
             program = [ {{ cpu = \"exp(10ms)\" }} ]\n[classes.r]\nrate = 100\nprogram = [ {{ call = \"p\" }} ]\n"
        )
    };
    for growth in [0.6, -0.6] {
        let a = simulated(&text(growth), 200_000);
        let used = a.stations.get("m").expect("a machine").utilization;
        // Of two cores each request takes 5 ms: 0.5 of them as written.
        let fixed = 0.5 * (1.0 - 0.2 * growth) / (1.0 - 0.5 * growth);
        within("utilization", used.expect("known"), fixed, 0.03);
    }
    // By milliseconds, what comes after an idle time is a burst on an idle core, and what follows at once one on a busy core.
    for (arrives, takes) in [("arrivals = \"100ms\"", 1.1e-3), ("clients = 1", 0.9e-3)] {
        let text = format!(
            "[machines.m]\ncores = 1\ncontention = -0.2\ncontention_at = 0.5\ncontention_over = \"3ms\"\n[pools.p]\nmachine = \"m\"\n\
             program = [ {{ cpu = \"1ms\" }} ]\n[classes.r]\n{arrives}\nprogram = [ {{ call = \"p\" }} ]\n"
        );
        let a = simulated(&text, 5_000);
        let used = a.stations.get("m").expect("a machine").utilization;
        let each = used.expect("known").value / a.all.expect("simulated").throughput.value;
        assert!((each / takes - 1.0).abs() < 0.005, "{each}, not {takes}");
    }
    let refused = evaluate(&model(&text(0.6)), Solver::Mva, &Options::default());
    assert!(
        refused
            .expect_err("no product form")
            .contains("change with its load")
    );
}

/// Collections of 1 MB at 1 MB a request: one a request. With a growth of 0.5 they take half as long again when requests
/// come twice as fast as at `growth_at`.
#[test]
fn collections_grow_with_the_rate_of_allocation() {
    let a = simulated(
        "[machines.m]\ncores = 4\n[heaps.h]\nmachine = \"m\"\nyoung = 1000000\ncpu = \"1ms\"\ngrowth = 0.5\ngrowth_at = 50000000\n\
         [pools.p]\nmachine = \"m\"\nthreads = 8\nheap = \"h\"\nprogram = [ { cpu = \"1us\" }, { allocate = 1000000 } ]\n\
         [classes.r]\narrivals = \"10ms\"\nprogram = [ { call = \"p\" } ]\n",
        5_000,
    );
    // 100 a second: 1 µs each for the request, 1.5 ms each for its collection.
    let used = a.stations.get("m").expect("a machine").utilization;
    let ratio = used.expect("known").value / (0.1501 / 4.0);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio} of what it must be");
}
