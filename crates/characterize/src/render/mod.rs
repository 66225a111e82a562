//! The result as text for the terminal and as a page. Text out of figures, no I/O.

pub mod page;
mod plots;
mod tables;
pub mod text;
