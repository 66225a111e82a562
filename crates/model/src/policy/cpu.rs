//! Which application gets how many of a machine's CPUs, and which CPUs.
//!
//! Terms: an application *requests* a number of CPUs and has a *priority* (its worth). Policy (how many) is apart from
//! placement (which). What always holds of [`shares`]: nobody gets more than it requests; never more are given than
//! there are; nothing is left over while somebody wants more (except under batch, which does not split); an
//! application that requests something gets at least one CPU as long as there are enough.

use std::str::FromStr;

/// How CPUs are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// First come, first served: each gets its whole request or waits.
    Batch,
    /// All of them to one application at a time, in turn.
    RoundRobin,
    /// Equal parts, water-filled.
    Equipartition,
    /// In proportion to the requests.
    DynamicSpaceSharing,
    /// In proportion to priority times request.
    PriorityWeighted,
}

impl Policy {
    /// Names in model files.
    pub const NAMES: [&str; 5] = [
        "batch",
        "round-robin",
        "equipartition",
        "dynamic-space-sharing",
        "priority-weighted",
    ];
}

impl FromStr for Policy {
    type Err = ();

    fn from_str(name: &str) -> Result<Policy, ()> {
        Ok(match name {
            "batch" => Policy::Batch,
            "round-robin" => Policy::RoundRobin,
            "equipartition" => Policy::Equipartition,
            "dynamic-space-sharing" => Policy::DynamicSpaceSharing,
            "priority-weighted" => Policy::PriorityWeighted,
            _ => return Err(()),
        })
    }
}

/// What one application asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// CPUs wanted.
    pub cpus: u32,
    /// Worth; 1 is usual.
    pub priority: f64,
}

/// CPUs for each application. `turn` counts decisions and says whose turn it is under round robin; under batch,
/// `requests` are in the order of arrival.
pub fn shares(policy: Policy, requests: &[Request], cpus: u32, turn: usize) -> Vec<u32> {
    match policy {
        Policy::Batch => batch(requests, cpus),
        Policy::RoundRobin => round_robin(requests, cpus, turn),
        Policy::Equipartition => fill(requests, cpus, |_| 1.0),
        Policy::DynamicSpaceSharing => fill(requests, cpus, |r| f64::from(r.cpus)),
        Policy::PriorityWeighted => {
            fill(requests, cpus, |r| f64::from(r.cpus) * r.priority.max(0.0))
        }
    }
}

fn batch(requests: &[Request], cpus: u32) -> Vec<u32> {
    let mut left = cpus;
    requests
        .iter()
        .map(|r| {
            // One that wants more than there are would never start: it gets the whole machine.
            let wanted = r.cpus.min(cpus);
            let given = if wanted <= left { wanted } else { 0 };
            left -= given;
            given
        })
        .collect()
}

fn round_robin(requests: &[Request], cpus: u32, turn: usize) -> Vec<u32> {
    let mut given = vec![0; requests.len()];
    let wanting: Vec<usize> = (0..requests.len())
        .filter(|&i| requests[i].cpus > 0)
        .collect();
    let mut left = cpus;
    // What the one whose turn it is does not want goes to those after it.
    for step in 0..wanting.len() {
        let i = wanting[(turn + step) % wanting.len()];
        given[i] = requests[i].cpus.min(left);
        left -= given[i];
    }
    given
}

/// Water-filling with largest remainders: proportional to `weight`, nobody above its request, a floor of one CPU as long
/// as there are enough; without, one each to the weightiest.
fn fill(requests: &[Request], cpus: u32, weight: impl Fn(&Request) -> f64) -> Vec<u32> {
    let mut given = vec![0u32; requests.len()];
    let weights: Vec<f64> = requests.iter().map(weight).collect();
    let mut wanting: Vec<usize> = (0..requests.len())
        .filter(|&i| requests[i].cpus > 0)
        .collect();
    if wanting.len() >= cpus as usize {
        wanting.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        for &i in wanting.iter().take(cpus as usize) {
            given[i] = 1;
        }
        return given;
    }
    // In billionths of a CPU, so that shares that are equal as fractions are equal here.
    const WHOLE: u64 = 1_000_000_000;
    let ideal = levels(requests, &weights, &wanting, f64::from(cpus));
    let parts: Vec<u64> = ideal
        .iter()
        .map(|x| (x * WHOLE as f64).round() as u64)
        .collect();
    for (&i, part) in wanting.iter().zip(&parts) {
        given[i] = (part / WHOLE) as u32;
    }
    let left = cpus.saturating_sub(given.iter().sum());
    let mut order: Vec<(u64, usize)> = wanting
        .iter()
        .zip(&parts)
        .filter(|&(&i, _)| given[i] < requests[i].cpus)
        .map(|(&i, part)| (part % WHOLE, i))
        .collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, i) in order.iter().take(left as usize) {
        given[i] += 1;
    }
    given
}

/// The share of each of `wanting` as a real number: in proportion to its weight between one CPU and its request. In each
/// round the shares at present weights are clamped; those that had to be raised are settled if raising took more than
/// lowering gave, else those that had to be lowered, and the rest share what is left.
fn levels(requests: &[Request], weights: &[f64], wanting: &[usize], cpus: f64) -> Vec<f64> {
    let mut shares = vec![0.0; wanting.len()];
    let mut open: Vec<usize> = (0..wanting.len()).collect();
    let mut pot = cpus;
    while !open.is_empty() {
        let total: f64 = open.iter().map(|&k| weights[wanting[k]]).sum();
        let mut excess = 0.0;
        let clamped: Vec<(usize, f64, f64)> = open
            .iter()
            .map(|&k| {
                let part = if total > 0.0 {
                    weights[wanting[k]] / total
                } else {
                    1.0 / open.len() as f64
                };
                let raw = pot * part;
                let share = raw.clamp(1.0, f64::from(requests[wanting[k]].cpus));
                excess += share - raw;
                (k, raw, share)
            })
            .collect();
        let mut still = Vec::new();
        for (k, raw, share) in clamped {
            let settled = match excess {
                e if e > 1e-9 => share > raw,
                e if e < -1e-9 => share < raw,
                _ => true,
            };
            if settled {
                shares[k] = share;
                pot -= share;
            } else {
                still.push(k);
            }
        }
        open = still;
    }
    shares
}

/// Which CPUs: keeps what an application has where it can (cache affinity), takes from those that have too many, and
/// hands out free ones lowest first. `before` are CPU sets as bits; applications' sets never overlap.
pub fn place(before: &[u128], shares: &[u32], cpus: u32) -> Vec<u128> {
    let all = if cpus >= 128 {
        u128::MAX
    } else {
        (1u128 << cpus) - 1
    };
    let mut taken = 0u128;
    let mut sets: Vec<u128> = before
        .iter()
        .zip(shares)
        .map(|(&had, &share)| {
            let mut kept = had & all & !taken;
            while kept.count_ones() > share {
                kept &= !(1u128 << (127 - kept.leading_zeros()));
            }
            taken |= kept;
            kept
        })
        .collect();
    for (set, &share) in sets.iter_mut().zip(shares) {
        while set.count_ones() < share {
            let free = all & !taken;
            if free == 0 {
                break;
            }
            let cpu = free & free.wrapping_neg();
            *set |= cpu;
            taken |= cpu;
        }
    }
    sets
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
