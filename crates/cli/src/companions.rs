//! The files that lie beside the binary: the agent's jar and library, and the viewer's page.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use loadline_record::AgentFiles;

/// A file or folder beside the binary; the error says what is missing and how to get it.
pub fn beside_the_binary(name: &str) -> Result<PathBuf> {
    let exe = std::env::current_exe().context("cannot tell where the loadline binary lies")?;
    let dir = exe.parent().unwrap_or(&exe);
    let path = dir.join(name);
    if !path.exists() {
        bail!(
            "{} is missing: it belongs beside the binary. Copy the whole folder that `make dist` made, or run `make build` in a checkout",
            path.display()
        );
    }
    Ok(path)
}

/// The agent's two halves.
pub fn agent() -> Result<AgentFiles> {
    Ok(AgentFiles {
        jar: beside_the_binary("loadline-agent.jar")?,
        library: beside_the_binary("libloadline-agent.so")?,
    })
}
