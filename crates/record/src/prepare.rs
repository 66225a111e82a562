//! What is made before a recording begins: loaded programs, the agent's spool, the session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_trace::meta::{self, Level};
use loadline_trace::spool::agent::{Asked, Header};
use loadline_trace::spool::session::Session;

use crate::agent::AgentSpool;
use crate::error::{Error, Result, io};
use crate::kernel::{Kernel, Storage, Wanted};
use crate::machine::machine;
use crate::methods;
use crate::options::Options;
use crate::place::Place;
use crate::secrets;
use crate::subject::Subject;
use crate::sys::{self, now_ns};
use crate::trace_dir::TraceDir;

/// Loads the programs that are wanted; without them goes on if something else is wanted.
pub fn load_kernel<'a>(
    o: &Options,
    storage: &'a mut Storage,
    levels: &mut BTreeMap<String, Level>,
) -> Result<Option<Kernel<'a>>> {
    let wanted = Wanted {
        scheduler: o.levels.kernel,
        syscalls: o.levels.syscalls,
    };
    if !wanted.scheduler && !wanted.syscalls {
        return Ok(None);
    }
    match Kernel::load(storage, wanted, o.ring_bytes) {
        Ok(kernel) => Ok(Some(kernel)),
        Err(why) => without_kernel(levels, why).map(|()| None),
    }
}

/// Marks the kernel's levels as missing for this reason; an error if nothing else is recorded.
pub fn without_kernel(levels: &mut BTreeMap<String, Level>, why: String) -> Result<()> {
    for name in ["kernel", "syscalls"] {
        if let Some(level) = levels.get_mut(name).filter(|l| l.recorded) {
            *level = Level {
                recorded: false,
                why: why.clone(),
            };
        }
    }
    match levels.values().any(|l| l.recorded) {
        true => Ok(()),
        false => Err(Error::NoLevel(why)),
    }
}

/// The agent's spool for a target, or for a command that we shall start, and where it is.
pub fn new_agent(
    o: &Options,
    dir: &TraceDir,
    subject: Option<&Subject>,
    levels: u32,
    has_kernel: bool,
) -> Result<(AgentSpool, Place)> {
    let target = subject.map(|s| &s.target);
    let place = Place::of(target, &o.agent, dir.raw())?;
    let methods = o.methods.clone().unwrap_or_default();
    let filters = match o.methods {
        Some(_) => methods::text(&methods).map_err(Error::Methods)?,
        None => String::new(),
    };
    let filters = methods::with_classes(filters, &o.objects).map_err(Error::Methods)?;
    let asked = Asked {
        levels,
        methods: &filters,
        // The kernel's records say it too, and cost an invocation nothing.
        method_cpu: methods.cpu && !has_kernel,
        method_shortest_ns: methods.shortest.as_nanos() as u64,
        ring: o.flight.is_some(),
        mode: o.redefinition.mode(),
        stacks_ns: in_ns(o.stacks),
        samples_ns: in_ns(o.samples),
        allocations_bytes: o.allocations.unwrap_or(0),
        vm_log: o.vm_log,
        recorder_pid: if target.is_none_or(|t| t.our_pids) {
            std::process::id()
        } else {
            0
        },
        library: &place.library.to_string_lossy(),
    };
    let owner = target.map_or((sys::euid(), 0), |t| (t.uid, t.gid));
    let bounds = [o.max_size, o.flight.as_ref().map(|f| f.of_agent())];
    let size = bounds
        .into_iter()
        .flatten()
        .fold(o.agent_capacity, u64::min);
    let spool = place.spool(dir.raw(), owner, |files, owner| {
        AgentSpool::create(files, size, &asked, owner)
    })?;
    Ok((spool, place))
}

/// A time as the agent's header has it: 0 is never.
fn in_ns(time: Option<Duration>) -> u64 {
    time.map_or(0, |t| t.as_nanos().max(1) as u64)
}

/// The session as it is known before the begin.
pub fn new_session(o: &Options, subject: &Subject, levels: BTreeMap<String, Level>) -> Session {
    let target = &subject.target;
    Session {
        writer: concat!("loadline ", env!("CARGO_PKG_VERSION")).into(),
        recorder_pid: std::process::id() as i32,
        begin_unix_ns: sys::unix_ns(),
        begin_ns: now_ns(),
        target: meta::Target {
            pid: target.pid,
            name: target.name.clone(),
            command: secrets::masked(&target.cmdline),
            ..meta::Target::default()
        },
        target_nspid: target.nspid,
        machine: machine(target.cpus()),
        levels,
        redact: o.redact,
        ..Session::default()
    }
}

/// A path that means the same to the target.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(io(path))
}

/// The target in a few words, with what the agent says of it.
pub fn describe(subject: &Subject, agent: Option<&Header>) -> String {
    let target = &subject.target;
    let info: serde_json::Value = agent
        .and_then(|h| serde_json::from_str(&h.info).ok())
        .unwrap_or_default();
    let texts = ["jvm", "server"].map(|k| info.get(k).and_then(|v| v.as_str()).unwrap_or_default());
    let mut parts = vec![format!("pid {}", target.pid)];
    parts.extend(
        texts
            .iter()
            .filter(|t| !t.is_empty())
            .map(|t| (*t).to_owned()),
    );
    format!("{} ({})", target.name, parts.join(", "))
}
