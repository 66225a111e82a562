use std::path::{Path, PathBuf};

/// Why a recording could not begin, or had to end. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output directory is not free.
    #[error(
        "output directory in use: {0} exists and is not empty; name another one with -o, or remove it"
    )]
    OutputInUse(PathBuf),
    /// There is no such process.
    #[error("there is no process {pid}\n  running JVMs: {running}")]
    NoSuchProcess {
        /// As it was asked for.
        pid: i32,
        /// The JVMs that there are.
        running: String,
    },
    /// The process is something else.
    #[error(
        "process {pid} is not a Java virtual machine (it is {name})\n  running JVMs: {running}"
    )]
    NotAJvm {
        /// The process.
        pid: i32,
        /// Its name.
        name: String,
        /// The JVMs that there are.
        running: String,
    },
    /// No JVM has this name.
    #[error("no running JVM is called {text:?}\n  running JVMs: {running}")]
    NoSuchJvm {
        /// As it was asked for.
        text: String,
        /// The JVMs that there are.
        running: String,
    },
    /// Several have it.
    #[error("{text:?} could be any of several JVMs: {matches}; name one by its process id")]
    Ambiguous {
        /// As it was asked for.
        text: String,
        /// Those that match.
        matches: String,
    },
    /// The process belongs to somebody else.
    #[error("process {pid} belongs to user {owner}: record it as that user, or with sudo")]
    OtherUser {
        /// The process.
        pid: i32,
        /// Its user, by name if it has one.
        owner: String,
    },
    /// Its recorder did not dump.
    #[error("no dump of process {pid}: {why}")]
    Dump {
        /// The target.
        pid: i32,
        /// Why not.
        why: String,
    },
    /// Somebody records it already.
    #[error("process {pid} is being recorded already, by process {by}: stop that recording first")]
    AlreadyRecorded {
        /// The target.
        pid: i32,
        /// The other recorder.
        by: i32,
    },
    /// A file of Loadline's own is missing.
    #[error("{path} is missing: it belongs beside the loadline binary; build it with `make build`")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The target cannot reach a file that it must read or write.
    #[error("process {pid} (user {user}) cannot reach {path}: {why}")]
    Unreachable {
        /// The target.
        pid: i32,
        /// Its user.
        user: String,
        /// The file.
        path: PathBuf,
        /// Reason and remedy.
        why: String,
    },
    /// The JVM's attach mechanism refused.
    #[error("cannot attach to process {pid}: {why}")]
    Attach {
        /// The target.
        pid: i32,
        /// Reason and remedy.
        why: String,
    },
    /// The agent did not start in the JVM.
    #[error("the agent could not start in process {pid}: {why}")]
    Agent {
        /// The target.
        pid: i32,
        /// What it said.
        why: String,
    },
    /// The command could not be started, or never became a JVM.
    #[error("{command}: {why}")]
    Command {
        /// As it was given.
        command: String,
        /// Reason.
        why: String,
    },
    /// Filters of methods cannot be used.
    #[error("methods: {0}")]
    Methods(String),
    /// Nothing is left to record.
    #[error("nothing can be recorded: {0}")]
    NoLevel(String),
    /// The file system is full.
    #[error(
        "no space left for {dir}: the recording ended after {seconds:.1} s; what it had until then is \
         kept. Free some space, then run: loadline recover {dir}"
    )]
    DiskFull {
        /// The trace's directory.
        dir: PathBuf,
        /// Seconds that were recorded.
        seconds: f64,
    },
    /// The recorder of this trace is alive.
    #[error(
        "{dir} is still being recorded by process {by}: stop that first (Ctrl-C, or kill -INT {by})"
    )]
    StillRecording {
        /// The trace's directory.
        dir: PathBuf,
        /// The recorder.
        by: i32,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file of the trace is wrong.
    #[error(transparent)]
    Trace(#[from] loadline_trace::Error),
}

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Names the file of an I/O error.
pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::Io {
        path: path.as_ref().to_path_buf(),
        source,
    }
}
