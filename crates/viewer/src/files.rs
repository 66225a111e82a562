//! The files of the built page, read once when the server starts.
//!
//! Nothing is opened by a name that a request gives: a request can only name what is in the map.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// A file of the page.
pub struct File {
    /// Its MIME type.
    pub mime: &'static str,
    /// Its bytes.
    pub bytes: bytes::Bytes,
}

/// Reads all files below `web`, by their addresses.
pub fn read(web: &Path) -> Result<HashMap<String, File>> {
    if !web.join("index.html").is_file() {
        bail!(
            "{} has no index.html: the viewer's page is not built (npm ci && npm run build in web/, or make build)",
            web.display()
        );
    }
    let mut files = HashMap::new();
    add(web, "", &mut files)?;
    Ok(files)
}

fn add(dir: &Path, prefix: &str, files: &mut HashMap<String, File>) -> Result<()> {
    for entry in std::fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            add(&path, &name, files)?;
        } else {
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            files.insert(
                name.clone(),
                File {
                    mime: mime(&name),
                    bytes: bytes.into(),
                },
            );
        }
    }
    Ok(())
}

fn mime(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
