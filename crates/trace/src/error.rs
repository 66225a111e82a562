use std::path::PathBuf;

/// What can be wrong with a trace, said so that the reader knows what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory has neither `trace.json` nor raw spools.
    #[error(
        "{0} is not a trace: it has no trace.json (a trace is the directory that `loadline record -o` wrote)"
    )]
    NotATrace(PathBuf),
    /// The recording ended before its tables were written.
    #[error(
        "{0} is an unfinished recording: run `loadline recover {0}` to turn what was recorded into tables"
    )]
    Unfinished(PathBuf),
    /// `trace.json` names another format or version.
    #[error(
        "{path} has trace schema version {found}; this loadline reads versions {oldest} to {newest}. Read it with the loadline that wrote it ({writer})"
    )]
    UnknownSchema {
        /// The trace's directory.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Oldest version that this reader knows.
        oldest: u32,
        /// Newest version that it knows.
        newest: u32,
        /// The program that wrote it.
        writer: String,
    },
    /// A file of the trace cannot be understood.
    #[error("{path}: {what}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
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
    /// A table could not be written.
    #[error("writing a table: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// DuckDB refused.
    #[error("{0}")]
    Sql(#[from] duckdb::Error),
}

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io { path, source }
}
