//! Numbers and laws as the model language has them.

use loadline_stats::law::{Family, Fitted, Shape};

/// A time with four digits and its unit.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s <= 0.0 => "0".into(),
        s if s < 1e-3 => format!("{}us", digits(s * 1e6)),
        s if s < 1.0 => format!("{}ms", digits(s * 1e3)),
        s => format!("{}s", digits(s)),
    }
}

pub(super) fn digits(x: f64) -> String {
    let places = (3 - x.abs().max(1e-12).log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{x:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

/// A shape as an expression.
pub(super) fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Constant => "1".into(),
        Shape::Family(Family::Exponential, _) => "exp(1)".into(),
        Shape::Family(Family::Gamma, scv) => format!("gamma({}, 1)", digits(1.0 / scv)),
        Shape::Family(Family::LogNormal, scv) => format!("lognormal(1, {})", digits(*scv)),
        Shape::Family(Family::TwoMoments, scv) => format!("fit(1, {})", digits(*scv)),
        Shape::Table(table) => {
            let points: Vec<String> = table
                .iter()
                .map(|(p, x)| format!("{}, {}", digits(*p), digits(*x)))
                .collect();
            format!("quantiles({})", points.join(", "))
        }
    }
}

/// `name * shape`, or the name alone where it is always the same.
pub(super) fn drawn(name: &str, fitted: &Fitted) -> String {
    match shape(&fitted.shape).as_str() {
        "1" => name.into(),
        law => format!("{name} * {law}"),
    }
}
