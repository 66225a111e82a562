//! Times and sizes as people write them on command lines, in scenarios and in configurations.
//!
//! One grammar, so that what one command takes another does not refuse. What must not be 0, or has a largest value, is
//! for the caller to say, with the name of the option or the key; so are the words of the error.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;
use parse_size::Config;

/// `150ms`, `2s`, `1.5m`, `1h 30m`, `200us`, or a bare `0`; `None` of all else, of what is negative too.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let read = SpanParser::new().parse_duration(text).ok()?;
    Duration::try_from(read).ok()
}

/// `4K`, `256M`, `1.5GiB`, or plain bytes; K, M and G are powers of 1024, with and without an i.
pub fn size(text: &str) -> Option<u64> {
    Config::new().with_binary().parse_size(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        for (text, expected) in [
            ("150ms", Duration::from_millis(150)),
            ("2s", Duration::from_secs(2)),
            ("1.5 s", Duration::from_millis(1500)),
            ("200us", Duration::from_micros(200)),
            ("15µs", Duration::from_micros(15)),
            ("7ns", Duration::from_nanos(7)),
            ("5m", Duration::from_secs(300)),
            ("5min", Duration::from_secs(300)),
            ("1.5h", Duration::from_secs(5400)),
            ("1h 30m", Duration::from_secs(5400)),
            (" 0 ", Duration::ZERO),
            ("0s", Duration::ZERO),
        ] {
            assert_eq!(duration(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "s",
            "2",
            "20x",
            "2 weeks",
            "1e99s",
            "NaNs",
            "-2s",
            "--2s",
            "2ss",
            "1.2.3s",
            "99999999999999999999h",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, expected) in [
            ("12", 12),
            ("4K", 4 << 10),
            ("256MiB", 256 << 20),
            ("1.5g", 3 << 29),
            ("4G", 4 << 30),
        ] {
            assert_eq!(size(text), Some(expected), "{text}");
        }
        for text in ["", "G", "-1", "4 apples", "99999999999999G"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
