//! Drives a server from the command line without the `loadline` binary:
//! `drive https://127.0.0.1:8443 [SCENARIO [USERS [THINK [DURATION [HANDSHAKES.csv]]]]]`.
//! USERS with a trailing `/s` is a rate of sessions.

use loadline_load::{Arrivals, Options, Scenario, Target, Trust, parse_duration, run};
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |n: usize, default: &'static str| args.get(n).map_or(default, String::as_str);
    let name = arg(1, "browsing");
    let mut scenario = match Scenario::builtin(name) {
        Some(scenario) => scenario,
        None => Scenario::from_toml(&std::fs::read_to_string(name)?, name)?,
    };
    scenario.arrivals = match arg(2, "20").strip_suffix("/s") {
        Some(rate) => Arrivals::PartlyOpen {
            rate: rate.parse()?,
        },
        None => Arrivals::Closed {
            users: arg(2, "20").parse()?,
        },
    };
    scenario.think_mean = parse_duration(arg(3, "50ms"))?;
    let mut options = Options::new(Target::parse(arg(0, "https://127.0.0.1:8443"))?, scenario);
    options.duration = parse_duration(arg(4, "10s"))?;
    options.trust = Trust::Any;
    options.handshakes = args.get(5).map(Into::into);
    let summary = run(&options, &AtomicBool::new(false), &mut |p| {
        eprint!(
            "\r{:5.1} s  {:7.1} replies/s  p95 {:7.1} ms  {} failed  {} full  {} resumed  {} active   ",
            p.elapsed.as_secs_f64(),
            p.requests_per_s,
            p.p95_ms,
            p.failures,
            p.full,
            p.resumed,
            p.active
        );
    })?;
    eprintln!();
    print!("{}", summary.render(options.scenario.arrivals));
    Ok(())
}
