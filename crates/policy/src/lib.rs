//! Which application gets how many of a machine's CPUs, and which ones: pure functions of a snapshot, called by the CPU
//! manager (`loadline share`) and by the simulator, so that what is tried at 64 CPUs on a laptop is what runs.
//!
//! Terms: an application *requests* CPUs and has a *priority*. A [`Policy`] says **how many** each gets ([`divide`]);
//! [`place`] says **which**. CPUs are handed out in *grains*: whole CPUs, or fractions where the [`Sharing`] rule lets
//! two applications share one. A *part* is a fraction of one CPU; an application's *slots* are its CPUs, with its part
//! of each.
//!
//! What always holds:
//! - nobody gets more than it requests (rounded up to a grain), and never more is given than there is;
//! - nothing is left over while somebody wants more whom the policy and the sharing rule allow it (batch does not split
//!   a request);
//! - while there are enough grains, everybody who requests something gets its floor; when there are not, who has waited
//!   longest comes first, so that nobody waits for ever (under batch and cost-aware: by their order);
//! - equal snapshots, equal decisions; and a division that is still within a grain of the ideal is kept;
//! - no CPU has more than one CPU's worth of parts, and applications and the CPUs that they share form a forest.

mod cpus;
mod curve;
mod feedback;
mod fill;
mod place;
mod policies;
mod sharing;
mod snapshot;
mod weights;
mod yields;

pub use cpus::Cpus;
pub use curve::{Curve, CurveError, Learner};
pub use feedback::{Got, corrections};
pub use place::{Cpu, Slot, Topology, place};
pub use policies::Policy;
pub use sharing::{Division, Loan, Sharing, divide};
pub use snapshot::{Application, Snapshot};
pub use weights::weights;
pub use yields::yields;
