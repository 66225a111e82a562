//! What cannot be: options out of their ranges, more connections than this machine lets one process
//! hold, CPUs that it may not use.

use crate::Error;
use crate::run::Options;
use crate::scenario::{Arrivals, Http, Keys, Scenario};
use crate::trust::Trust;

/// Descriptors for everything but connections.
const OTHER_DESCRIPTORS: u64 = 64;
const MAX_THREADS: usize = 1024;

/// What a caller may have set to anything: a scenario's file was checked when it was read.
pub(crate) fn check(options: &Options) -> Result<(), Error> {
    let scenario = &options.scenario;
    scenario.arrivals.check().map_err(Error::Option)?;
    if options.part.index >= options.part.of {
        return Err(Error::Option(format!(
            "part {} of {} does not exist",
            options.part.index, options.part.of
        )));
    }
    if scenario.timeout.is_zero() {
        return Err(Error::Option(
            "the client's timeout is 0s; it must be more than 0s".into(),
        ));
    }
    for (key, p) in [
        ("resume_within", scenario.resume_within),
        ("resume_across", scenario.resume_across),
    ] {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::Option(format!(
                "tls.{key} is {p}; it must be from 0 to 1"
            )));
        }
    }
    if options.duration.is_zero() {
        return Err(Error::Option(
            "the duration is 0s; it must be more than 0s".into(),
        ));
    }
    if options.threads == 0 || options.threads > MAX_THREADS {
        return Err(Error::Option(format!(
            "threads is {}; it must be from 1 to {MAX_THREADS}",
            options.threads
        )));
    }
    if let Some(cpu) = options.cpus.iter().find(|cpu| !may_use(**cpu)) {
        return Err(Error::Option(format!(
            "--cpus names CPU {cpu}, on which this process may not run"
        )));
    }
    if scenario.tickets.forged > 0.0 && (options.trust != Trust::Any || scenario.keys != Keys::Any)
    {
        return Err(Error::Option(
            "tls.forged needs --insecure and tls.keys = \"any\": the forger's own certificate is trusted by nobody".into(),
        ));
    }
    Ok(())
}

/// How many sessions the limit on descriptors allows, after raising it as far as may be.
pub(crate) fn capacity(options: &Options) -> Result<u64, Error> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit for both calls; failure of the second leaves the old limit.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if limit.rlim_cur < limit.rlim_max && libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
            limit = raised;
        }
    }
    enough(limit.rlim_cur, &options.scenario, options.part.of as u64)
}

/// How many sessions fit below `descriptors`, if all users of a closed system do.
fn enough(descriptors: u64, scenario: &Scenario, processes: u64) -> Result<u64, Error> {
    let each = if scenario.client.resources && scenario.http == Http::One {
        u64::from(scenario.client.connections)
    } else {
        1
    };
    let capacity = descriptors.saturating_sub(OTHER_DESCRIPTORS) / each;
    if let Arrivals::Closed { users } = scenario.arrivals {
        let all = (f64::from(users) * scenario.schedule.peak()).ceil() as u64;
        let mine = all.div_ceil(processes);
        if mine > capacity {
            return Err(Error::Option(format!(
                "{mine} users need {} file descriptors; the limit is {descriptors}: raise it with ulimit -n",
                mine * each + OTHER_DESCRIPTORS
            )));
        }
    }
    Ok(capacity)
}

/// Whether this process may run on a CPU.
pub(crate) fn may_use(cpu: usize) -> bool {
    // SAFETY: an empty set is all zeroes; the call fills it; CPU_ISSET is asked within its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        cpu < 8 * size
            && libc::sched_getaffinity(0, size, &mut set) == 0
            && libc::CPU_ISSET(cpu, &set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(arrivals: Arrivals) -> Scenario {
        let mut scenario = Scenario::builtin("browsing").expect("built in");
        scenario.arrivals = arrivals;
        scenario
    }

    #[test]
    fn closed_users_must_fit_below_the_limit_on_descriptors() {
        let users = |users| scenario(Arrivals::Closed { users });
        assert_eq!(enough(1024, &users(960), 1).expect("they fit"), 960);
        let error = enough(1024, &users(961), 1).expect_err("one too many");
        assert_eq!(
            error.to_string(),
            "961 users need 1025 file descriptors; the limit is 1024: raise it with ulimit -n"
        );
        assert!(
            enough(1024, &users(1920), 2).is_ok(),
            "two processes hold twice as many"
        );
        let mut browsers = users(200);
        browsers.client.resources = true;
        assert!(enough(1024, &browsers, 1).is_err(), "each needs six");
        let open = scenario(Arrivals::PartlyOpen { rate: 1e6 });
        assert_eq!(
            enough(10, &open, 1).expect("they are refused one by one"),
            0
        );
    }
}
