//! A synthetic trace, for tests and for working on the page without a recording.
//!
//! `sim` is a small event-driven simulation of a TLS server on a few CPUs: acceptor, poller,
//! workers, a connection pool, one contended monitor, garbage collections. `jobs` says what the
//! sessions ask of it, `work` how a thread does it. `write` turns what happened into the tables. Everything is drawn from a
//! seed, so that the same size gives the same trace.

pub mod jobs;
pub mod sim;
mod work;
pub mod write;

pub use write::write;

/// How large a synthetic trace is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Length, seconds.
    pub seconds: i64,
    /// CPUs of the machine.
    pub cpus: usize,
    /// Workers of the server.
    pub workers: usize,
    /// New connections per second.
    pub connections_per_second: f64,
}

impl Size {
    /// What a demo records.
    #[allow(dead_code, reason = "each user of this module needs another size")]
    pub const SMALL: Size = Size {
        seconds: 20,
        cpus: 2,
        workers: 20,
        connections_per_second: 38.0,
    };
    /// About two million states of two hundred threads.
    #[allow(dead_code, reason = "each user of this module needs another size")]
    pub const LARGE: Size = Size {
        seconds: 125,
        cpus: 8,
        workers: 180,
        connections_per_second: 170.0,
    };
}

/// Random numbers (SplitMix64; Steele, Lea and Flood 2014): seeded, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with this mean, at least one.
    pub fn exponential(&mut self, mean: f64) -> i64 {
        (-mean * (1.0 - self.unit()).ln()).max(1.0) as i64
    }

    /// Uniform around `mean`, from half of it to one and a half.
    pub fn around(&mut self, mean: i64) -> i64 {
        ((mean as f64 * (0.5 + self.unit())) as i64).max(1)
    }

    /// One of `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}
