use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use loadline_viewer::Server;

use crate::{Usage, companions, interrupt};

/// Serve the viewer for a trace on 127.0.0.1 and open the browser
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline open monday.trace\n  \
    loadline open monday.trace --port 8000 --no-browser     (then: ssh -L 8000:127.0.0.1:8000 HOST)\n  \
    loadline open monday.trace --png monday.png             (draw the page with a headless Chromium, and end)")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Only serve: start no browser
    #[arg(long)]
    no_browser: bool,
    /// Write the page as a picture and end
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Size of that picture
    #[arg(
        long,
        value_name = "WxH",
        default_value = "1600x1000",
        requires = "png"
    )]
    size: String,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (width, height) = parse_size(&args.size)?;
    let server = loadline_viewer::serve(loadline_viewer::Options {
        show: loadline_viewer::Show::One(args.trace),
        web: companions::beside_the_binary("web")?,
        port: args.port,
    })?;
    if let Some(png) = args.png {
        let url = server.url();
        let done = AtomicBool::new(false);
        let drawn = std::thread::scope(|s| {
            let serving = s.spawn(|| server.run_until(&done));
            let drawn = loadline_viewer::screenshot(&url, &png, width, height);
            done.store(true, Ordering::Relaxed);
            serving
                .join()
                .expect("the server does not panic")
                .and(drawn)
        });
        drawn.with_context(|| format!("cannot draw {}", png.display()))?;
        eprintln!("  wrote {}", png.display());
        return Ok(ExitCode::SUCCESS);
    }
    until_interrupted(server, !args.no_browser)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves until Ctrl-C; shows the page, if that is wanted and there is a desktop.
pub(super) fn until_interrupted(server: Server, browser: bool) -> Result<()> {
    let url = server.url();
    let stop = interrupt::flag()?;
    eprintln!("  {url}   (Ctrl-C ends it)");
    if browser && !start_browser(&url) {
        eprintln!("  no browser could be started here: open that address in one");
    }
    server.run_until(&stop)
}

/// Asks the desktop to show a page; false if there is no desktop, or nothing that would.
fn start_browser(url: &str) -> bool {
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|v| std::env::var_os(v).is_some());
    desktop
        && Command::new("xdg-open")
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
}

fn parse_size(text: &str) -> Result<(u32, u32), Usage> {
    let wrong = || {
        Usage(format!(
            "--size is {text:?}: write it as 1600x1000 (100 to 8000 each)"
        ))
    };
    let (w, h) = text.split_once('x').ok_or_else(wrong)?;
    let side = |s: &str| {
        s.parse()
            .ok()
            .filter(|n| (100..=8000).contains(n))
            .ok_or_else(wrong)
    };
    Ok((side(w)?, side(h)?))
}
