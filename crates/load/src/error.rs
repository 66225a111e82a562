use std::path::PathBuf;

/// What can go wrong before or around a run. What goes wrong inside it is counted, not returned.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario says something impossible.
    #[error("{path}:{line}: {what}")]
    Scenario {
        /// The file, as the user named it.
        path: String,
        /// Line in it, from 1.
        line: usize,
        /// The key, its value, and what it may be.
        what: String,
    },
    /// The target is not `https://HOST[:PORT]` or `http://HOST[:PORT]`.
    #[error("target {target:?}: {what}; write it as https://127.0.0.1:8443")]
    Target {
        /// What was given.
        target: String,
        /// What is wrong with it.
        what: String,
    },
    /// The target is another machine and nobody has said that it may be loaded.
    #[error(
        "{host} is not this machine: load on a server that is not yours is an attack. If it is yours: --i-own-this-target {host}"
    )]
    NotLoopback {
        /// The host of the target.
        host: String,
    },
    /// Nothing accepts connections there.
    #[error("nothing answers at {address}: {source}. Is the server up, and is this its port?")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The server's certificate is not trusted.
    #[error(
        "the certificate of {target} is not trusted: {why}. For a test server of your own give --insecure, or --ca FILE with its certificate or its authority's"
    )]
    Untrusted {
        /// Where.
        target: String,
        /// Why not.
        why: String,
    },
    /// One of several generator processes did not do its part.
    #[error("generator process {part}: {what}")]
    Part {
        /// Which, from 1.
        part: usize,
        /// What it said.
        what: String,
    },
    /// An option has a value that cannot be used.
    #[error("{0}")]
    Option(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The operating system or the TLS library refused something that every run needs.
    #[error("the load generator cannot start: {0}")]
    Setup(String),
}
