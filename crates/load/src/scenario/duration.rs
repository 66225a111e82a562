use std::time::Duration;

/// The longest duration accepted: ten years, so that adding it to now never overflows.
const MAX_SECONDS: f64 = 10.0 * 366.0 * 86_400.0;

/// Reads `150ms`, `2s`, `1.5s`, `10m`, `200us`, `1h`, or a bare `0`. The error says what it must be.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let wrong = || format!("is {text:?}; it must be a number with a unit, as 150ms, 2s, 5m, 1h");
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "us" | "µs" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "" if number == 0.0 => 0.0,
        _ => return Err(wrong()),
    };
    if seconds < 0.0 {
        return Err(format!("is {text}; it must be 0s or more"));
    }
    if seconds.is_nan() || seconds > MAX_SECONDS {
        return Err(format!("is {text}; it must be at most 10 years"));
    }
    Ok(Duration::from_secs_f64(seconds))
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
            ("5m", Duration::from_secs(300)),
            ("1h", Duration::from_secs(3600)),
            ("0", Duration::ZERO),
        ] {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "2", "2 weeks", "1e99s", "NaNs", "--2s", "2ss"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(
            parse_duration("-2s"),
            Err("is -2s; it must be 0s or more".into())
        );
    }
}
