//! Response times in logarithmic cells: 128 to each doubling, so that a percentile is within 0.4% before interpolation.
//! Grows only over the range that occurs; two histograms add.

const CELLS: u64 = 128;
const SHIFT: u32 = CELLS.trailing_zeros();

/// Counts of durations in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    first: usize,
    counts: Vec<u32>,
    total: u64,
}

#[inline]
fn cell(nanos: u64) -> usize {
    if nanos < CELLS {
        return nanos as usize;
    }
    let shift = 63 - nanos.leading_zeros() - SHIFT;
    ((u64::from(shift) + 1) * CELLS + ((nanos >> shift) - CELLS)) as usize
}

/// Lower bound of a cell, in nanoseconds.
fn bound(cell: usize) -> f64 {
    let cell = cell as u64;
    if cell < CELLS {
        return cell as f64;
    }
    let shift = cell / CELLS - 1;
    ((CELLS + cell % CELLS) as f64) * (shift as f64).exp2()
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        let cell = cell(nanos);
        if cell.wrapping_sub(self.first) >= self.counts.len() {
            self.reach(cell);
        }
        self.counts[cell - self.first] += 1;
        self.total += 1;
    }

    #[cold]
    fn reach(&mut self, cell: usize) {
        let low = cell / 64 * 64;
        if self.counts.is_empty() {
            self.first = low;
            self.counts = vec![0; 64];
            return;
        }
        if low < self.first {
            let mut counts = vec![0; self.first - low];
            counts.append(&mut self.counts);
            self.counts = counts;
            self.first = low;
        }
        if cell >= self.first + self.counts.len() {
            self.counts.resize(low + 64 - self.first, 0);
        }
    }

    /// Adds another histogram's counts.
    pub fn add(&mut self, other: &Histogram) {
        if other.total == 0 {
            return;
        }
        self.reach(other.first);
        self.reach(other.first + other.counts.len() - 1);
        for (i, n) in other.counts.iter().enumerate() {
            self.counts[other.first + i - self.first] += n;
        }
        self.total += other.total;
    }

    /// How many durations were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets everything, keeping the room.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// The `p`-quantile in seconds, linear within its cell; NaN of nothing.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.total == 0 {
            return f64::NAN;
        }
        let wanted = p * self.total as f64;
        let mut seen = 0.0;
        for (i, &n) in self.counts.iter().enumerate() {
            let n = f64::from(n);
            if n > 0.0 && seen + n >= wanted {
                let (low, high) = (bound(self.first + i), bound(self.first + i + 1));
                return (low + (high - low) * ((wanted - seen) / n).clamp(0.0, 1.0)) * 1e-9;
            }
            seen += n;
        }
        bound(self.first + self.counts.len()) * 1e-9
    }

    /// The share of durations above `seconds`, linear within its cell.
    pub fn share_above(&self, seconds: f64) -> f64 {
        let nanos = seconds * 1e9;
        let above: f64 = self
            .counts
            .iter()
            .enumerate()
            .map(|(i, &n)| {
                let (low, high) = (bound(self.first + i), bound(self.first + i + 1));
                f64::from(n) * ((high - nanos) / (high - low)).clamp(0.0, 1.0)
            })
            .sum();
        above / self.total.max(1) as f64
    }

    /// (lower bound in seconds, upper bound, count) of groups of cells, about `groups` to the whole range.
    pub fn coarse(&self, groups: usize) -> Vec<(f64, f64, u64)> {
        let used: Vec<usize> = (0..self.counts.len())
            .filter(|&i| self.counts[i] > 0)
            .collect();
        let (Some(&low), Some(&high)) = (used.first(), used.last()) else {
            return Vec::new();
        };
        let step = ((high - low) / groups.max(1) + 1).next_power_of_two();
        (low..=high)
            .step_by(step)
            .map(|i| {
                let end = (i + step).min(self.counts.len());
                let n = self.counts[i..end].iter().map(|&n| u64::from(n)).sum();
                (
                    bound(self.first + i) * 1e-9,
                    bound(self.first + end) * 1e-9,
                    n,
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cell_holds_what_lies_between_its_bounds(nanos in 0u64..u64::MAX / 4) {
            let c = cell(nanos);
            prop_assert!(bound(c) <= nanos as f64 * (1.0 + 1e-15));
            prop_assert!((nanos as f64) < bound(c + 1) * (1.0 + 1e-15));
        }

        #[test]
        fn quantiles_are_within_a_cell_of_the_sorted_values(values in prop::collection::vec(0u64..1_000_000_000, 1..300)) {
            let mut histogram = Histogram::default();
            for &v in &values { histogram.record(v); }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for p in [0.5, 0.95, 1.0] {
                let exact = sorted[((p * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1] as f64;
                let got = histogram.quantile(p) * 1e9;
                prop_assert!((got - exact).abs() <= exact / 128.0 + 1.0, "{p}: {got} of {exact}");
            }
        }
    }

    #[test]
    fn two_halves_add_to_the_whole() {
        let (mut a, mut b, mut all) = (
            Histogram::default(),
            Histogram::default(),
            Histogram::default(),
        );
        for v in 0..10_000u64 {
            let v = v * v;
            if v % 3 == 0 {
                a.record(v)
            } else {
                b.record(v)
            }
            all.record(v);
        }
        a.add(&b);
        assert_eq!(a.total(), all.total());
        assert_eq!(a.quantile(0.9), all.quantile(0.9));
    }
}
