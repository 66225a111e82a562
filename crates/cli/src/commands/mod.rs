//! One file per command: its arguments, and the one call that it makes.

pub mod arm;
pub mod characterize;
pub mod compare;
pub mod counters;
pub mod diagnose;
pub mod diff;
pub mod doctor;
pub mod dump;
pub mod export;
pub mod guard;
pub mod import;
pub mod load;
pub mod model;
pub mod open;
pub mod query;
pub mod record;
pub mod recover;
pub mod report;
pub mod share;
pub mod simulate;
pub mod top;
pub mod whatif;
