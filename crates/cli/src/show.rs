//! What commands print: progress on a terminal, durations as people write them, pipes that close.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Prints to stdout; a reader that went away (`| head`) is an error that `main` takes for success.
pub fn out(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(())
}

/// Whether an error is only that nobody reads our output any more.
pub fn is_broken_pipe(e: &anyhow::Error) -> bool {
    e.downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// An error with what caused it; a cause that the message has named already is not said twice.
pub fn with_causes(e: &anyhow::Error) -> String {
    let mut text = e.to_string();
    for cause in e.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// Whether colours may be used on stdout.
pub fn color() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A bar over `total` on stderr, or nothing when that is not a terminal.
pub fn bar(total: u64, template: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template(template)
        .expect("templates are literals of this program")
        .progress_chars("█▉▊▋▌▍▎▏░");
    ProgressBar::with_draw_target(Some(total), target).with_style(style)
}

/// `20s`, `1.5m`, `500ms`, `15us`, `2h`, or a plain number of seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration: write 20s, 1.5m, 500ms");
    // A plain number is of seconds.
    let d = match text.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?,
        Err(_) => loadline_units::duration(text).ok_or_else(wrong)?,
    };
    if d.is_zero() {
        return Err("it must be longer than 0".into());
    }
    Ok(d)
}

/// `4K`, `256M`, `4G`, or plain bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    loadline_units::size(text)
        .ok_or_else(|| format!("{text:?} is not a size: write 256M, 4G, or bytes"))
}

/// Bytes for people: 21 MB.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// Counts for people: 1.9 M.
pub fn count(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{:.0} k", n as f64 / 1e3),
        _ => format!("{:.1} M", n as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let e = anyhow::anyhow!("refused")
            .context("x.png: refused")
            .context("cannot draw");
        assert_eq!(with_causes(&e), "cannot draw: x.png: refused");
    }

    #[test]
    fn durations_may_be_plain_seconds() {
        assert_eq!(parse_duration("20"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "20x", "0s", "0", "-3", "nan", "1e99"] {
            assert!(parse_duration(wrong).is_err(), "{wrong} was accepted");
        }
    }
}
