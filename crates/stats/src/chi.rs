//! Pearson's chi-square (1900), for tests of random draws.

use crate::random::Random;

/// The statistic of counts that should all be alike.
pub(crate) fn chi_square(cells: &[u32]) -> f64 {
    let total: f64 = cells.iter().map(|&n| f64::from(n)).sum();
    let expected = total / cells.len() as f64;
    cells
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum()
}

/// Each byte of the words over 256 cells at the 0.1% level (255 degrees of freedom: critical value 330.5), and pairs of
/// neighbouring words over 16 x 16 cells.
pub(crate) fn bytes_are_uniform<R: Random>(make: impl Fn() -> R) {
    for shift in (0..64).step_by(8) {
        let mut stream = make();
        let mut cells = [0u32; 256];
        for _ in 0..256_000 {
            cells[(stream.bits() >> shift) as usize & 255] += 1;
        }
        let chi = chi_square(&cells);
        assert!(chi < 330.5, "byte at {shift}: {chi}");
    }
    let mut stream = make();
    let mut cells = [0u32; 256];
    for _ in 0..256_000 {
        let (a, b) = (stream.bits() >> 60, stream.bits() >> 60);
        cells[(a * 16 + b) as usize] += 1;
    }
    let chi = chi_square(&cells);
    assert!(chi < 330.5, "pairs: {chi}");
}
