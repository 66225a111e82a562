use std::time::Duration;

/// The longest duration accepted: ten years, so that adding it to now never overflows.
const MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

/// Reads `150ms`, `2s`, `1.5s`, `10m`, `200us`, `1h`, or a bare `0`. The error says what it must be.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    match loadline_units::duration(text) {
        Some(d) if d <= MAX => Ok(d),
        Some(_) => Err(format!("is {text}; it must be at most 10 years")),
        None => Err(format!(
            "is {text:?}; it must be a number with a unit, as 150ms, 2s, 5m, 1h, and not negative"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_duration_is_refused() {
        assert_eq!(parse_duration("150ms"), Ok(Duration::from_millis(150)));
        for (text, part) in [
            ("2", "a unit"),
            ("-2s", "not negative"),
            ("90000h", "10 years"),
        ] {
            let said = parse_duration(text).expect_err(text);
            assert!(said.contains(part), "{said}");
        }
    }
}
