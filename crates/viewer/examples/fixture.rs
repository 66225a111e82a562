//! Writes a synthetic trace, and serves it: what the page's tests and its makers look at.
//!
//! `fixture write DIR [small|large [SEED]]`, `fixture serve DIR WEB [PORT]` and `fixture compare BEFORE NOW WEB` (both serve
//! until stdin closes), `fixture shot DIR WEB PNG [HASH]`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use loadline_trace::Trace;
use loadline_viewer::{Options, Show, screenshot, serve};
use support::Size;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map(String::as_str);
    match (arg(0), arg(1), arg(2)) {
        (Some("write"), Some(dir), size) => {
            let size = if size == Some("large") {
                Size::LARGE
            } else {
                Size::SMALL
            };
            let seed = arg(3).map_or(Ok(7), str::parse)?;
            let meta = support::write(Path::new(dir), size, seed)?;
            println!("{:?}", meta.tables);
            Ok(())
        }
        (Some("serve"), Some(dir), Some(web)) => {
            let port = arg(3).map_or(Ok(0), str::parse)?;
            until_stdin_closes(Options {
                show: Show::One(dir.into()),
                web: web.into(),
                port,
            })
        }
        (Some("compare"), Some(before), Some(now)) => {
            let web = arg(3).context("the page's directory is missing")?;
            let open = |dir: &str| Trace::open(Path::new(dir));
            let diff = loadline_analyze::diff::diff(&[open(before)?], &[open(now)?])?;
            until_stdin_closes(Options {
                show: Show::Both {
                    before: before.into(),
                    now: now.into(),
                    diff: serde_json::to_string(&diff)?,
                },
                web: web.into(),
                port: 0,
            })
        }
        (Some("shot"), Some(dir), Some(web)) => {
            let png = PathBuf::from(arg(3).context("the picture's path is missing")?);
            let stop = AtomicBool::new(false);
            let server = serve(Options {
                show: Show::One(dir.into()),
                web: web.into(),
                port: 0,
            })?;
            let url = server.url() + arg(4).unwrap_or_default();
            std::thread::scope(|scope| {
                let running = scope.spawn(|| server.run_until(&stop));
                let shot = screenshot(&url, &png, 1600, 1000);
                stop.store(true, Ordering::Relaxed);
                running
                    .join()
                    .map_err(|_| anyhow::anyhow!("the server panicked"))??;
                shot
            })
        }
        _ => bail!(
            "usage: fixture write DIR [small|large [SEED]] | serve DIR WEB [PORT] | compare BEFORE NOW WEB | shot DIR WEB PNG [HASH]"
        ),
    }
}

fn until_stdin_closes(options: Options) -> Result<()> {
    let stop = AtomicBool::new(false);
    let server = serve(options)?;
    println!("{}", server.url());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Whoever started this holds the other end: it ends when they do.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            stop.store(true, Ordering::Relaxed);
        });
        server.run_until(&stop)
    })
}
