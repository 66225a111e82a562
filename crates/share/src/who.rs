//! Who may do what. Pure: the configuration, who asks, and what there is already.

use loadline_policy::Cpus;

use crate::CpuSet;
use crate::config::Config;
use crate::sys::user_name;

/// The daemon's own side of a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Masters {
    /// The daemon's user.
    pub daemon: u32,
    /// Who called `sudo loadline share serve`.
    pub sudo: Option<u32>,
}

impl Masters {
    /// Whether this user may do anything.
    pub(crate) fn include(&self, uid: u32) -> bool {
        uid == 0 || uid == self.daemon || self.sudo == Some(uid)
    }
}

/// Up to what an application may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub priority: f64,
    pub cpus: Cpus,
}

const NO_LIMITS: Limits = Limits {
    priority: f64::INFINITY,
    cpus: Cpus::whole(CpuSet::LIMIT),
};

/// What `uid`, which has `running` applications, may start another one with.
pub(crate) fn may_register(
    config: &Config,
    masters: Masters,
    uid: u32,
    running: usize,
) -> Result<Limits, String> {
    if masters.include(uid) {
        return Ok(NO_LIMITS);
    }
    // Who is named counts before "*".
    let named = config.allow.iter().find(|a| a.uid == Some(uid));
    let Some(rule) = named.or_else(|| config.allow.iter().find(|a| a.uid.is_none())) else {
        return Err(format!(
            "user {} may not register: an [[allow]] section of the daemon's configuration says who may",
            user_name(uid)
        ));
    };
    if running >= rule.applications {
        return Err(format!(
            "user {} has {running} applications, and may have {}: see [[allow]] in the daemon's configuration",
            user_name(uid),
            rule.applications
        ));
    }
    Ok(Limits {
        priority: rule.priority,
        cpus: rule.cpus,
    })
}

/// The priority that is wanted, if it is allowed.
pub(crate) fn check_priority(limits: Limits, wanted: f64) -> Result<f64, String> {
    match wanted {
        p if !(p > 0.0 && p.is_finite()) => Err(format!("priority is {p}; it must be above 0")),
        p if p > limits.priority => Err(format!(
            "priority is {p}; up to {} is allowed: see [[allow]] in the daemon's configuration",
            limits.priority
        )),
        p => Ok(p),
    }
}

/// Whether `uid` may change an application of `owner`.
pub(crate) fn may_change(masters: Masters, uid: u32, owner: u32) -> Result<(), String> {
    if masters.include(uid) || uid == owner {
        return Ok(());
    }
    Err(format!(
        "user {} may not change an application of user {}",
        user_name(uid),
        user_name(owner)
    ))
}

/// Whether `uid` may adopt processes that are not its own, change the policy, or stop the daemon.
pub(crate) fn may_administer(masters: Masters, uid: u32) -> Result<(), String> {
    if masters.include(uid) {
        return Ok(());
    }
    Err(format!(
        "user {} may not do this: root and the daemon's user may",
        user_name(uid)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASTERS: Masters = Masters {
        daemon: 900,
        sudo: Some(1000),
    };

    #[test]
    fn strangers_may_nothing_unless_it_is_said() {
        let none = Config::default();
        for master in [0, 900, 1000] {
            assert!(may_register(&none, MASTERS, master, 999).is_ok());
        }
        let e = may_register(&none, MASTERS, 4242, 0).expect_err("a stranger");
        assert!(e.contains("4242") && e.contains("[[allow]]"), "{e}");
        assert!(may_change(MASTERS, 4242, 4243).is_err());
        assert!(may_change(MASTERS, 4242, 4242).is_ok());
        assert!(may_administer(MASTERS, 4242).is_err());
    }

    #[test]
    fn a_rule_for_one_user_counts_before_that_for_everybody() {
        let text = "[[allow]]\nuser = \"*\"\n[[allow]]\nuser = \"77\"\npriority = 3\ncpus = 2\napplications = 1";
        let config = Config::parse(text, "t").expect("valid");
        let limits = may_register(&config, MASTERS, 77, 0).expect("allowed");
        assert_eq!(
            limits,
            Limits {
                priority: 3.0,
                cpus: Cpus::whole(2)
            }
        );
        assert!(may_register(&config, MASTERS, 77, 1).is_err());
        assert!(check_priority(limits, 3.0).is_ok());
        for wrong in [3.1, 0.0, -1.0, f64::NAN] {
            assert!(check_priority(limits, wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            may_register(&config, MASTERS, 78, 0)
                .expect("allowed")
                .priority,
            1.0
        );
    }
}
