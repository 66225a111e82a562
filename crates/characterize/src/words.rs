//! Figures for people.

/// Three significant digits, thousands in groups: 0.52, 41.3, 352, 12,400.
pub fn figure(x: f64) -> String {
    let size = x.abs();
    match size {
        _ if !x.is_finite() => "-".into(),
        0.0 => "0".into(),
        s if s < 0.01 => format!("{x:.4}"),
        s if s < 1.0 => format!("{x:.2}"),
        s if s < 100.0 => trimmed(format!("{x:.1}")),
        _ => grouped(x.round() as i64),
    }
}

fn trimmed(text: String) -> String {
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn grouped(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    if n < 0 { format!("-{out}") } else { out }
}

/// Milliseconds as ms or, from a second on, s.
pub fn ms(x: f64) -> String {
    if x >= 1000.0 {
        format!("{:.1} s", x / 1e3)
    } else {
        format!("{} ms", figure(x))
    }
}

/// A share as a whole percentage.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// `about 34 min`, `about 50 s`: how long something takes.
pub fn about(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("about {:.0} s", seconds.max(1.0))
    } else if seconds < 5400.0 {
        format!("about {:.0} min", seconds / 60.0)
    } else {
        format!("about {:.1} h", seconds / 3600.0)
    }
}

/// `1 CPU`, `2 CPUs`.
pub fn cpus(n: u32) -> String {
    if n == 1 {
        "1 CPU".into()
    } else {
        format!("{n} CPUs")
    }
}

/// A span of time without needless digits: 60 s, 1.5 s.
pub fn seconds(s: f64) -> String {
    format!("{} s", figure(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_groups() {
        for (x, text) in [
            (0.0, "0"),
            (0.524, "0.52"),
            (41.32, "41.3"),
            (41.0, "41"),
            (352.4, "352"),
            (12_400.0, "12,400"),
        ] {
            assert_eq!(figure(x), text);
        }
        assert_eq!(figure(f64::NAN), "-");
        assert_eq!(ms(88.0), "88 ms");
        assert_eq!(ms(2711.0), "2.7 s");
        assert_eq!(about(2040.0), "about 34 min");
        assert_eq!(about(9000.0), "about 2.5 h");
    }
}
