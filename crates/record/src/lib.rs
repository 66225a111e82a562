//! The recorder: collects what the kernel, the agent in the JVM and `/proc` say about one JVM, into
//! raw spools below `DIR/raw` (their formats: `loadline_trace::spool`). Nothing is interpreted here.
//!
//! Terms: the *target* is the process that is recorded; a *level* is a source that can be had or
//! not (kernel, syscalls, jvm, server, app); a *ring* is the BPF buffer of one CPU; to *drain* is to
//! move what rings hold into spools. What dropping the oldest adds stands in [`flight`].
//!
//! What always holds:
//! * nothing is touched before every check that can be made has passed;
//! * a level that cannot be had is named in the session with its reason and remedy, if others can;
//! * however the recorder ends, no BPF program stays (nothing is pinned), the agent goes dormant
//!   (end of file on its control FIFO), and no file is left outside of the trace;
//! * what was lost is counted.

mod agent;
mod arm;
mod attach;
mod calls;
mod child;
mod closed;
pub mod counters;
mod coverage;
pub mod doctor;
mod door;
mod drain;
mod error;
mod flight;
mod jvms;
mod kernel;
mod machine;
pub mod methods;
mod opened;
mod options;
mod owner;
mod place;
mod prepare;
pub mod procfs;
mod properties;
mod record;
mod recover;
mod ring;
mod secrets;
mod subject;
pub mod sys;
mod target;
mod trace_dir;
mod walk;

pub mod bench;

pub use arm::arm;
pub use error::{Error, Result};
pub use flight::{Flight, Kept, Measure, Trigger, dump};
pub use jvms::{Jvm, resolve, running_jvms};
pub use loadline_trace::spool::session::Session;
pub use options::{
    AgentFiles, Dumped, Levels, Methods, Options, Progress, Redefinition, Stage, Target,
};
pub use owner::give_to_caller;
pub use properties::system_properties;
pub use record::record;
pub use recover::recover;
