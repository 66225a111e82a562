//! The whole characterization: what `result.json` holds and the report shows.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::measured::{Point, Probe};
use crate::plan::Parameters;
use crate::traced::Side;
use crate::verdict::{Verdict, conclusion};

/// Version of `result.json`; raised when a reader of the former would misread it.
pub const FORMAT: u32 = 2;

/// Where it was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// CPUs that this program may use.
    pub cpus: u32,
    /// CPU model.
    pub model: String,
    /// Kernel release.
    pub kernel: String,
}

/// Which CPUs did what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Those of the server; empty: wherever it ran.
    pub server: Vec<usize>,
    /// Those of the generator and the recorder.
    pub generator: Vec<usize>,
    /// Some are both.
    pub shared: bool,
}

/// One CPU count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// CPUs of the server; 0 if not known.
    pub cpus: u32,
    /// Which ones.
    pub layout: Layout,
    /// Where to look; none if it came to nothing.
    pub probe: Option<Probe>,
    /// All points by offered load.
    pub points: Vec<Point>,
    /// What they say.
    pub curve: Option<Curve>,
    /// The trace below the load line.
    pub below: Option<Side>,
    /// The trace above it.
    pub above: Option<Side>,
    /// What limits.
    pub verdict: Option<Verdict>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Result {
    /// [`FORMAT`].
    pub format: u32,
    /// Not everything that was planned is there.
    pub partial: bool,
    /// What went wrong, if something did.
    pub failure: Option<String>,
    /// What was asked for.
    pub parameters: Parameters,
    /// Where.
    pub machine: Machine,
    /// When it was finished, UTC.
    pub date: String,
    /// By CPU count.
    pub counts: Vec<Count>,
    /// The sentence that it comes to.
    pub conclusion: String,
}

impl Count {
    /// Lines of the generator's being the limit, for the notes.
    pub fn limited_points(&self) -> usize {
        self.points
            .iter()
            .filter(|p| p.load.generator_limit().is_some())
            .count()
    }
}

/// The conclusion from what the counts came to.
pub fn conclude(counts: &[Count]) -> String {
    let known: Vec<(u32, &Curve, &Verdict)> = counts
        .iter()
        .filter_map(|c| Some((c.cpus, c.curve.as_ref()?, c.verdict.as_ref()?)))
        .collect();
    conclusion(&known)
}
