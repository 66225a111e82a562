//! Placing the agent's probes ahead of recordings, and taking them out, without recording.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use loadline_trace::spool::agent::{Asked, mode, state};

use crate::agent::AgentSpool;
use crate::attach::start_agent;
use crate::error::{Error, Result, io};
use crate::options::{AgentFiles, Methods};
use crate::place::Place;
use crate::subject::Subject;
use crate::trace_dir::TraceDir;

/// How long a JVM may take to redefine what is loaded.
const AT_MOST: Duration = Duration::from_secs(120);

/// Places the probes in a running JVM, where they stay dormant; with `restore`, takes them out.
/// Either redefines classes. `methods` has filters of methods that get probes too. Returns what could not be probed, a line each.
pub fn arm(pid: i32, agent: &AgentFiles, restore: bool, methods: &[String]) -> Result<Vec<String>> {
    let filters = match methods {
        [] => String::new(),
        some => crate::methods::text(&Methods {
            filters: some.to_vec(),
            ..Methods::default()
        })
        .map_err(Error::Methods)?,
    };
    let subject = Subject::running(pid)?;
    let target = &subject.target;
    let parent = tempfile::Builder::new()
        .prefix("loadline-arm-")
        .permissions(Permissions::from_mode(0o711)) // the target's user must come through
        .tempdir()
        .map_err(io(std::env::temp_dir()))?;
    let dir = TraceDir::create(parent.path())?;
    let place = Place::of(Some(target), agent, dir.raw())?;
    let asked = Asked {
        mode: mode::ONLY_ARM | if restore { mode::RESTORE } else { 0 },
        methods: &filters,
        library: &place.library.to_string_lossy(),
        ..Asked::default()
    };
    let owner = (target.uid, target.gid);
    let spool = place.spool(dir.raw(), owner, |files, owner| {
        AgentSpool::create(files, 0, &asked, owner)
    })?;
    start_agent(target, &place, AT_MOST, AT_MOST)?;
    let failed = |why| Error::Agent { pid, why };
    spool
        .wait_recording(AT_MOST, || subject.has_ended())
        .map_err(failed)?;
    let header = spool.header();
    if header.state != state::STOPPED {
        return Err(failed("it is of another version, and records".into()));
    }
    Ok(header.warnings())
}
