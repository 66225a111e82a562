//! The HTTP side of `loadline open`: holds a trace in memory and answers the page's questions; two, for `loadline diff --open`.
//!
//! Terms: a *lane* is one thread over time ([`lane`]); a *window* is a stretch of time at a number
//! of pixels; a *column* is one pixel of it, one state or a mixture of several; a *row* is a depth
//! of nested spans ([`spans`]); a *link* is a blocked interval and who ended it; a *step* is a stretch of a
//! request's critical path; a *hit* is something that a search found.
//!
//! What always holds:
//! * an answer has as many rectangles as the window has pixels, however long the trace is;
//! * a query ends with whoever waits for it, or after a limit;
//! * nothing that a request says can write, or read a file outside of the trace and the page;
//! * only pages from this server's own address are answered, and only on 127.0.0.1.

mod api;
mod cdp;
mod chain;
mod confined;
mod counters;
mod failure;
mod files;
mod http;
pub mod lane;
mod load;
mod locks;
mod model;
mod moment;
mod params;
mod picture;
mod screenshot;
mod search;
pub mod spans;
mod summary;
mod tables;
mod virtuals;
mod waterfall;

pub use http::{Options, Server, Show, serve};
pub use screenshot::screenshot;
