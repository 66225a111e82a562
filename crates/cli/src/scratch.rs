//! A directory for a recording that nobody is to keep; it goes away with this.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Made in the system's directory for temporary files, removed when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// For this command.
    pub fn create(command: &str) -> Result<Scratch> {
        let dir = std::env::temp_dir().join(format!("loadline-{command}-{}", std::process::id()));
        std::fs::create_dir(&dir).with_context(|| dir.display().to_string())?;
        Ok(Scratch(dir))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The trace in it.
    pub fn trace(&self) -> PathBuf {
        self.0.join("units.trace")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir_all(&self.0) {
            eprintln!("  note: {} could not be removed: {e}", self.0.display());
        }
    }
}
