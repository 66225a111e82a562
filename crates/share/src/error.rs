//! What can go wrong, said so that the reader knows what to do.

use std::io;
use std::path::Path;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The configuration, a name or a value makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The daemon, the kernel or the file system said no.
    #[error("{0}")]
    Failed(String),
    /// A file or a call.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, on what.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ShareError {
    pub(crate) fn failed(text: impl Into<String>) -> ShareError {
        ShareError::Failed(text.into())
    }

    pub(crate) fn usage(text: impl Into<String>) -> ShareError {
        ShareError::Usage(text.into())
    }

    /// With the path that it happened on.
    pub(crate) fn on(path: &Path) -> impl FnOnce(io::Error) -> ShareError {
        let what = path.display().to_string();
        move |source| ShareError::Io { what, source }
    }

    /// With what was tried.
    pub(crate) fn while_(what: impl Into<String>) -> impl FnOnce(io::Error) -> ShareError {
        let what = what.into();
        move |source| ShareError::Io { what, source }
    }
}
