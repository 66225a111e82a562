//! Exchange with layered queueing networks: the XML of lqns (`lqn-core.xsd`), which lqsim and LINE read as well.
//!
//! Terms: an LQN has *processors*, on which *tasks* run, which serve *entries*; what an entry does is *phases* (the second
//! begins with the reply) or a graph of *activities*, which use the processor and call other entries. A *reference task*
//! is a fixed number of clients. Times have no unit there; here they are seconds.
//!
//! What always holds: what the other language cannot say is never dropped silently. On export it is listed with its place
//! ([`Remark`]), and refused unless the caller asks to go on without it; on import it is an error with its line.

mod document;
mod export;
mod import;
mod read;
mod write;

pub use export::{Exported, Remark, export};
pub use import::import;

/// Whether a text is one that [`import`] is for, by its first element.
pub fn is_lqn(text: &str) -> bool {
    text.contains("<lqn-model")
}
