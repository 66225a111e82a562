//! perf_event_open(2): one event, a group of them, and what its errors mean.

use std::io;

use perf_event::events::Software;
use perf_event::{Builder, Counter as Perf, ReadFormat};

use super::plan::{Event, Group, Mode, Plan};

/// Why the processor's counters cannot be had, and who can grant them; `None` if they can.
pub fn unavailable() -> Option<String> {
    let plan = Plan::generic(None);
    match open(&plan.groups[0].events[..1], 0) {
        Ok(_) => None,
        Err(e) => Some(reason(&e, paranoid())),
    }
}

pub(super) fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Of an error of perf_event_open(2), given the kernel's setting.
pub(super) fn reason(error: &io::Error, paranoid: Option<i32>) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine has no counters of the processor (a virtual machine that is given none): cycles, instructions, \
             misses and top-down categories are not counted; whoever runs the host can grant a virtual PMU"
                .into()
        }
        Some(libc::EACCES | libc::EPERM) => format!(
            "the kernel does not let you read counters of the processor (kernel.perf_event_paranoid is {}): run as root, with \
             CAP_PERFMON, or after `sysctl kernel.perf_event_paranoid=1`; in a container its profile must allow perf_event_open as well",
            paranoid.map_or("unknown".into(), |p| p.to_string())
        ),
        Some(libc::EMFILE) => {
            "every event of every thread takes a descriptor, and `ulimit -n` has no more of them: raise it, or count fewer events".into()
        }
        Some(libc::ENOSYS) => {
            "this kernel was built without perf events: cycles, instructions and misses are not counted".into()
        }
        _ => format!("counters of the processor cannot be opened: {error}"),
    }
}

/// Raises this process's limit of open descriptors as far as it may: each event of each thread takes one. Where that is not
/// enough, threads are refused with [`reason`].
pub(super) fn allow_descriptors() {
    // SAFETY: both calls read or write `limit` only, which outlives them; a failure leaves the limit as it was.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// The open events of one group on one thread; the first leads.
pub(super) struct Opened(Vec<Perf>);

/// What a group says: its values, and for how long it was wanted and on the processor, in seconds.
pub(super) struct Values {
    pub counts: Vec<u64>,
    pub enabled: f64,
    pub on: f64,
}

/// Opens events as one group and lets them count; `tid` 0 is the calling thread.
pub(super) fn open(events: &[Event], tid: i32) -> io::Result<Opened> {
    let mut opened: Vec<Perf> = Vec::with_capacity(events.len());
    for event in events {
        let builder = builder(event, tid);
        let counter = match opened.first_mut() {
            None => builder.build()?,
            Some(leader) => builder.build_with_group(leader)?,
        };
        opened.push(counter);
    }
    opened[0].enable_group()?;
    Ok(Opened(opened))
}

fn builder(event: &Event, tid: i32) -> Builder<'static> {
    let mut builder = Builder::new(Software::DUMMY);
    builder
        .observe_pid(tid)
        .any_cpu()
        .exclude_user(event.mode == Mode::Kernel)
        .exclude_kernel(event.mode == Mode::User)
        // PMUs that cannot tell modes apart refuse to leave the hypervisor out; the others have it left out.
        .exclude_hv(event.mode != Mode::Both)
        .read_format(
            ReadFormat::GROUP
                | ReadFormat::ID
                | ReadFormat::TOTAL_TIME_ENABLED
                | ReadFormat::TOTAL_TIME_RUNNING,
        );
    let attr = builder.attrs_mut();
    attr.type_ = event.kind;
    attr.config = event.config;
    attr.__bindgen_anon_3.config1 = event.config1;
    attr.__bindgen_anon_4.config2 = event.config2;
    attr.config3 = event.config3;
    builder
}

impl Opened {
    /// Its values so far. A thread that has ended is read once more without error; anything else is `None`.
    pub(super) fn read(&mut self) -> Option<Values> {
        let data = self.0.first_mut()?.read_group().ok()?;
        let seconds = |d: Option<std::time::Duration>| d.map_or(0.0, |d| d.as_secs_f64());
        Some(Values {
            enabled: seconds(data.time_enabled()),
            on: seconds(data.time_running()),
            counts: self
                .0
                .iter()
                .map(|c| data.get(c).map_or(0, |entry| entry.value()))
                .collect(),
        })
    }
}

/// What of a group this machine can count: the group, or its events one by one, or nothing; and why what is left out is.
pub(super) fn fit(
    group: Group,
    can: &dyn Fn(&[Event]) -> io::Result<()>,
) -> (Vec<Vec<Event>>, Vec<String>) {
    let whole = can(&group.events);
    let Err(e) = whole else {
        return (vec![group.events], Vec::new());
    };
    let titles = |events: &[Event]| {
        let titles: Vec<&str> = events.iter().map(|e| e.title.as_str()).collect();
        titles.join(", ")
    };
    if group.whole {
        let why = format!("{} cannot be counted: {}", titles(&group.events), why(&e));
        return (Vec::new(), vec![why]);
    }
    let (there, missing): (Vec<Event>, Vec<Event>) = group
        .events
        .into_iter()
        .partition(|e| can(std::slice::from_ref(e)).is_ok());
    let notes = match missing.is_empty() || there.is_empty() {
        // Nothing at all: `unavailable` says why, once.
        true => Vec::new(),
        false => vec![format!(
            "this processor does not count {}",
            titles(&missing)
        )],
    };
    let named: Vec<Event> = there
        .iter()
        .filter(|e| !e.name.is_empty())
        .cloned()
        .collect();
    if named.is_empty() {
        return (Vec::new(), notes);
    }
    if !missing.is_empty() && can(&there).is_ok() {
        return (vec![there], notes);
    }
    (named.into_iter().map(|e| vec![e]).collect(), notes)
}

/// Of the error for one event that was asked for by its name.
fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EINVAL) => {
            "the kernel refuses it for a thread, or in this mode (leave :u and :k out)".into()
        }
        _ => reason(error, paranoid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_said_with_who_can_grant_it() {
        let of = |code| reason(&io::Error::from_raw_os_error(code), Some(3));
        assert!(of(libc::ENOENT).contains("virtual PMU"));
        assert!(of(libc::EACCES).contains("perf_event_paranoid is 3"));
        assert!(of(libc::EPERM).contains("CAP_PERFMON"));
        assert!(of(libc::ENOSYS).contains("built without perf events"));
        assert!(of(libc::EMFILE).contains("ulimit -n"));
        assert!(of(libc::EIO).contains("cannot be opened"));
    }

    fn refuse(code: i32) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(code))
    }

    #[test]
    fn a_group_that_does_not_fit_is_counted_apart() {
        let group = Plan::generic(None).groups.swap_remove(0);
        // Three counters: the kernel refuses a group that can never be scheduled.
        let three = |events: &[Event]| match events.len() {
            ..=3 => Ok(()),
            _ => refuse(libc::EINVAL),
        };
        let (fitted, notes) = fit(group.clone(), &three);
        assert_eq!(fitted.len(), 4);
        assert!(notes.is_empty());
        let no_branches = |events: &[Event]| match events.iter().any(|e| e.name == "branches_user")
        {
            true => refuse(libc::ENOENT),
            false => Ok(()),
        };
        let (fitted, notes) = fit(group.clone(), &no_branches);
        assert_eq!(fitted.len(), 1, "what is left is together");
        assert_eq!(fitted[0].len(), 3);
        assert_eq!(notes, ["this processor does not count branches, user"]);
        let (fitted, notes) = fit(group, &|_| refuse(libc::ENOENT));
        assert!(fitted.is_empty() && notes.is_empty());
    }

    #[test]
    fn what_means_something_together_only_is_counted_together_or_not() {
        let group = Group {
            whole: true,
            ..Plan::generic(None).groups.swap_remove(0)
        };
        let (fitted, notes) = fit(group, &|events| match events.len() {
            1 => Ok(()),
            _ => refuse(libc::EINVAL),
        });
        assert!(fitted.is_empty());
        assert!(notes[0].contains("instructions, user") && notes[0].contains("cannot be counted"));
    }
}
