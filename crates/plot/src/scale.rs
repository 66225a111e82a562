//! Axes: round ticks, where a value lies between the ends, and numbers of few digits.

/// One axis.
#[derive(Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    log: bool,
    step: f64,
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// From a tick at or below both 0 and `least` to one at or above `most`.
    pub(crate) fn covering(least: f64, most: f64) -> Axis {
        let (least, most) = (least.min(0.0), most.max(0.0));
        let most = if most > least { most } else { 1.0 };
        let step = nice((most - least) / 4.0);
        let (first, last) = (
            (least / step + 1e-9).floor(),
            (most / step - 1e-9).ceil().max(1.0),
        );
        Axis {
            low: first * step,
            high: last * step,
            log: false,
            step,
            ticks: (0..=(last - first) as usize)
                .map(|n| (first + n as f64) * step)
                .collect(),
        }
    }

    /// Shares of 1: the whole is an end where more than half of it is reached.
    pub(crate) fn shares(least: f64, most: f64) -> Axis {
        if most <= 0.5 || most > 1.05 || least < 0.0 {
            return Axis::covering(least, most);
        }
        Axis {
            low: 0.0,
            high: most.max(1.0),
            log: false,
            step: 0.25,
            ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0],
        }
    }

    /// Whole powers of ten around values above 0.
    pub(crate) fn decades(least: f64, most: f64) -> Axis {
        let low = (least.log10() + 1e-9).floor() as i32;
        let high = ((most.log10() - 1e-9).ceil() as i32).max(low + 1);
        let every = ((high - low) as usize).div_ceil(7);
        Axis {
            low: 10f64.powi(low),
            high: 10f64.powi(high),
            log: true,
            step: 0.0,
            ticks: (low..=high)
                .step_by(every)
                .map(|power| 10f64.powi(power))
                .collect(),
        }
    }

    /// From `low` to `high` exactly, with round ticks between them, some `pieces` apart.
    pub(crate) fn between(low: f64, high: f64, pieces: usize) -> Axis {
        let step = nice((high - low) / pieces as f64);
        let first = (low / step - 1e-9).ceil();
        let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 2.0 * pieces as f64);
        Axis {
            low,
            high,
            log: false,
            step,
            ticks: (0..=count as usize)
                .map(|n| (first + n as f64) * step)
                .filter(|tick| *tick <= high + 1e-9 * step)
                .collect(),
        }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let of = |v: f64| if self.log { v.log10() } else { v };
        let span = of(self.high) - of(self.low);
        if span > 0.0 {
            ((of(value) - of(self.low)) / span).clamp(0.0, 1.0)
        } else {
            0.5
        }
    }

    /// Text of a tick.
    pub(crate) fn text(&self, tick: f64, percent: bool) -> String {
        let (times, unit) = if percent { (100.0, "%") } else { (1.0, "") };
        let (step, top) = if self.log {
            (tick, tick)
        } else {
            (self.step, self.high.abs().max(self.low.abs()))
        };
        number(times * tick, times * step, times * top) + unit
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not less than `least`.
fn nice(least: f64) -> f64 {
    if !(least > 1e-300 && least.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .map(|n| n * power)
        .find(|n| *n >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// Three digits of a value: `0.524`, `41.3`, `352`, `12.4k`.
pub fn short(value: f64) -> String {
    number(value, value.abs(), value.abs())
}

/// Exact to a hundredth of `step`; in thousands, millions or milliards if `top` is so large.
fn number(value: f64, step: f64, top: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    if top >= 1e13 || step < 1e-6 {
        return format!("{value:.2e}")
            .replace(".00e", "e")
            .replace("0e", "e");
    }
    let (unit, name) = match top {
        t if t >= 1e10 => (1e9, "G"),
        t if t >= 1e6 => (1e6, "M"),
        t if t >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (2.0 - (step / unit).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{:.decimals$}", value / unit);
    let text = match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.'),
        None => &text,
    };
    format!("{text}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|t| axis.text(*t, false)).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            texts(&Axis::covering(0.0, 41.0)),
            ["0", "20", "40", "60"].to_vec()
        );
        assert_eq!(
            texts(&Axis::covering(0.0, 0.9)),
            ["0", "0.25", "0.5", "0.75", "1"].to_vec()
        );
        assert_eq!(
            texts(&Axis::covering(0.0, 20_000.0)),
            ["0", "5k", "10k", "15k", "20k"].to_vec()
        );
        assert_eq!(
            texts(&Axis::covering(-3.0, 5.0)),
            ["-4", "-2", "0", "2", "4", "6"].to_vec()
        );
        for most in [1e-12, 0.03, 1.0, 7.7, 352.0, 1e6, 1e250] {
            let axis = Axis::covering(0.0, most);
            assert!((2..=6).contains(&axis.ticks.len()), "{most}: {axis:?}");
            assert!(*axis.ticks.last().unwrap() >= most * 0.999_999, "{axis:?}");
        }
    }

    #[test]
    fn the_x_axis_ends_where_its_values_end() {
        let axis = Axis::between(3.0, 41.0, 5);
        assert_eq!(texts(&axis), ["10", "20", "30", "40"].to_vec());
        assert_eq!((axis.share(3.0), axis.share(41.0)), (0.0, 1.0));
        let fine = Axis::between(1.0, 1.01, 4);
        assert_eq!(
            texts(&fine),
            ["1", "1.0025", "1.005", "1.0075", "1.01"].to_vec()
        );
        let one = Axis::between(7.0, 7.0, 5);
        assert_eq!((texts(&one), one.share(7.0)), (vec!["7".to_owned()], 0.5));
    }

    #[test]
    fn decades_enclose_all_values() {
        assert_eq!(
            texts(&Axis::decades(0.2, 12_000.0)),
            ["0.1", "1", "10", "100", "1000", "10k", "100k"].to_vec()
        );
        assert_eq!(texts(&Axis::decades(10.0, 10.0)), ["10", "100"].to_vec());
        let axis = Axis::decades(1.0, 100.0);
        assert_eq!(axis.share(10.0), 0.5);
        assert!(Axis::decades(1e-280, 1e280).ticks.len() < 10);
    }

    #[test]
    fn shares_reach_to_the_whole_only_if_they_come_near() {
        let axis = Axis::shares(0.1, 0.98);
        let texts: Vec<String> = axis.ticks.iter().map(|t| axis.text(*t, true)).collect();
        assert_eq!(texts, ["0%", "25%", "50%", "75%", "100%"]);
        let low = Axis::shares(0.0, 0.03);
        assert_eq!(low.text(*low.ticks.last().unwrap(), true), "3%");
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (0.5241, "0.524"),
            (41.32, "41.3"),
            (352.4, "352"),
            (9_876.0, "9876"),
            (12_437.0, "12.4k"),
            (2.5e6, "2.5M"),
            (3e-9, "3e-9"),
            (-20.0, "-20"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(short(value), text, "{value}");
        }
    }
}
