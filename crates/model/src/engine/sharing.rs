//! Processor sharing by attained service: O(log n) an event.
//!
//! All jobs present have attained service at the same rate since they came, so one number, the *virtual time* V (service
//! that a job present all along would have attained), orders their ends: a job that came at V with demand d ends when V
//! reaches its tag V + d, whatever comes and goes meanwhile. With n jobs on c servers of speed 1, dV/dt = min(1, c/n).

use crate::calendar::{Calendar, Handle};
use crate::time::{Nanos, Time};

/// Servers shared equally by all jobs, each job on at most one server at a time.
pub struct Sharing {
    jobs: Calendar<u32>,
    servers: f64,
    virtual_time: f64,
    at: Time,
}

impl Sharing {
    /// `servers` of them; `u32::MAX` is as good as infinitely many.
    pub fn new(servers: u32) -> Sharing {
        Sharing {
            jobs: Calendar::default(),
            servers: f64::from(servers),
            virtual_time: 0.0,
            at: Time::ZERO,
        }
    }

    fn rate(&self) -> f64 {
        let n = self.jobs.len() as f64;
        if n <= self.servers {
            1.0
        } else {
            self.servers / n
        }
    }

    /// Servers in use.
    #[inline]
    pub fn busy(&self) -> f64 {
        (self.jobs.len() as f64).min(self.servers)
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        if self.jobs.is_empty() {
            // Between busy periods nothing refers to V: starting again from zero keeps its precision.
            self.virtual_time = 0.0;
        } else {
            self.virtual_time += now.since(self.at).0 as f64 * self.rate();
        }
        self.at = now;
    }

    /// A job comes; the handle takes it out early.
    #[inline]
    pub fn add(&mut self, now: Time, job: u32, demand: Nanos) -> Handle {
        self.advance(now);
        // Positive floats sort like their bits.
        self.jobs.schedule(
            Time((self.virtual_time + demand.0 as f64).to_bits()),
            0,
            job,
        )
    }

    /// Takes a job out before its end; what it still wanted.
    pub fn remove(&mut self, now: Time, handle: Handle, tag_of: f64) -> Nanos {
        self.advance(now);
        self.jobs.cancel(handle);
        Nanos((tag_of - self.virtual_time).max(1.0).round() as u64)
    }

    /// The tag that a job with this demand gets if it comes at `now`: pass it to [`Sharing::remove`].
    #[inline]
    pub fn tag(&self, demand: Nanos) -> f64 {
        self.virtual_time + demand.0 as f64
    }

    /// Takes the job that ends now.
    #[inline]
    pub fn finish(&mut self, now: Time) -> Option<u32> {
        self.advance(now);
        let (_, job) = self.jobs.pop()?;
        Some(job)
    }

    /// When the next job ends if nothing comes or goes.
    #[inline]
    pub fn next_end(&self) -> Option<Time> {
        let tag = f64::from_bits(self.jobs.next_at()?.0);
        let left = (tag - self.virtual_time).max(0.0) / self.rate();
        Some(self.at + Nanos(left.ceil() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_jobs_on_one_server_take_turns_infinitely_fast() {
        let mut sharing = Sharing::new(1);
        sharing.add(Time(0), 1, Nanos(100));
        sharing.add(Time(50), 2, Nanos(100));
        // Job 1 has 50 left and half the server.
        assert_eq!(sharing.next_end(), Some(Time(150)));
        assert_eq!(sharing.finish(Time(150)), Some(1));
        assert_eq!(sharing.next_end(), Some(Time(200)));
        assert_eq!(sharing.finish(Time(200)), Some(2));
        assert_eq!(sharing.next_end(), None);
    }

    #[test]
    fn with_enough_servers_nobody_slows_anybody_down() {
        let mut sharing = Sharing::new(2);
        sharing.add(Time(0), 1, Nanos(100));
        sharing.add(Time(0), 2, Nanos(70));
        assert_eq!(sharing.finish(Time(70)), Some(2));
        assert_eq!(sharing.next_end(), Some(Time(100)));
    }

    #[test]
    fn a_job_that_leaves_early_still_wants_the_rest() {
        let mut sharing = Sharing::new(1);
        sharing.add(Time(0), 1, Nanos(100));
        let tag = sharing.tag(Nanos(100));
        let handle = sharing.add(Time(0), 2, Nanos(100));
        assert_eq!(sharing.remove(Time(60), handle, tag), Nanos(70));
        assert_eq!(sharing.next_end(), Some(Time(130)));
    }
}
