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
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "us" | "µs" => 0.000_001,
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => {
            return Err(format!(
                "{unit:?} is no unit of time: use us, ms, s, m or h (20s, 1.5m)"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is not a duration: write 20s, 1.5m, 500ms"))?;
    let d = Duration::try_from_secs_f64(number * seconds).map_err(|e| e.to_string())?;
    if d.is_zero() {
        return Err("it must be longer than 0".into());
    }
    Ok(d)
}

/// `4K`, `256M`, `4G`, or plain bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.trim_end_matches(['B', 'b', 'i']) {
        t if t.ends_with(['k', 'K']) => (&t[..t.len() - 1], 10),
        t if t.ends_with(['m', 'M']) => (&t[..t.len() - 1], 20),
        t if t.ends_with(['g', 'G']) => (&t[..t.len() - 1], 30),
        t => (t, 0),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("{text:?} is not a size: write 256M, 4G, or bytes"))?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("{text} is more than a file can hold"))
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
    fn durations_are_read_as_people_write_them() {
        assert_eq!(parse_duration("20s"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("20"), Ok(Duration::from_secs(20)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("15us"), Ok(Duration::from_micros(15)));
        for wrong in [
            "",
            "s",
            "20x",
            "0s",
            "-3s",
            "1.2.3s",
            "99999999999999999999h",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong} was accepted");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_size("4G"), Ok(4 << 30));
        assert_eq!(parse_size("256MiB"), Ok(256 << 20));
        assert_eq!(parse_size("12"), Ok(12));
        for wrong in ["", "G", "4.5G", "-1", "99999999999999G"] {
            assert!(parse_size(wrong).is_err(), "{wrong} was accepted");
        }
    }
}
