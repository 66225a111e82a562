//! What is asked for, what is told meanwhile, and what it came to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::measured::Point;
use crate::plan::Parameters;
use crate::result;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// A command that starts it, and its URL if that cannot be found from the ports it listens on.
    Start {
        /// As the user wrote it.
        command: String,
        /// Where it will answer.
        url: Option<String>,
    },
    /// One that runs.
    Running {
        /// Where it answers.
        url: String,
        /// Its process, if it is on this machine.
        pid: Option<i32>,
    },
    /// One that runs and that a driver of the user's loads.
    Process {
        /// It.
        pid: i32,
    },
    /// None: the driver of the user's is the program.
    Driver,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The `loadline` binary: generator and recorder.
    pub exe: PathBuf,
    /// The server.
    pub server: Which,
    /// What decides the figures.
    pub parameters: Parameters,
    /// The report's folder.
    pub out: PathBuf,
    /// Empty a folder made with other parameters.
    pub restart: bool,
    /// A target that is not this machine, which the user owns.
    pub owned: Option<String>,
    /// Processes whose CPU use is noted at each point, by name.
    pub watch: BTreeMap<String, i32>,
    /// A command that prints what the server's guard says; none: the server's process is asked.
    pub guard: Option<String>,
}

/// What happens, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// Before anything is done: how long it will take, in words and in seconds.
    Plan(String, f64),
    /// Something begins that takes so many seconds.
    Doing(String, f64),
    /// A point is done: its CPU count, and what it came to.
    Point(&'a Point),
    /// What the user should know now.
    Note(String),
}

/// What it came to.
#[derive(Debug)]
pub struct Outcome {
    /// Everything; also in `result.json`.
    pub result: result::Result,
    /// The page.
    pub page: PathBuf,
    /// The user stopped it.
    pub stopped: bool,
}
