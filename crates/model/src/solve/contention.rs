//! Mean waits at one queue whose customers are of several kinds, closed and open: the building block of the layered
//! approximation.
//!
//! Exact for one kind of closed customers of exponential service (machine repair) and for open ones alone (M/M/c; M/G/1
//! by the moments of the mixture). Otherwise after Bard and Schweitzer, with several servers by Seidmann (1986) and
//! preemptive priorities by Bryant et al. (1984).

use super::mva::{self, Center, Kind, Network};
use super::queues;

/// In what order customers are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// In order of arrival.
    Arrival,
    /// All at once.
    Sharing,
    /// Higher priorities interrupt lower ones.
    Priority,
}

/// Where customers of a kind come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Population {
    /// So many (a mean, if kinds share threads), each back after so many seconds on average.
    Closed(f64, f64),
    /// A Poisson stream of so many per second.
    Open(f64),
}

/// A kind of customer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Customer {
    /// Where it comes from.
    pub population: Population,
    /// Seconds of service until it is answered.
    pub first: f64,
    /// Seconds that the server is busy with it after that.
    pub second: f64,
    /// Higher goes first where that counts.
    pub priority: i32,
}

impl Customer {
    fn service(&self) -> f64 {
        self.first + self.second
    }

    /// How long it waits for its own second phase, still in progress with probability s2 / (s2 + think) for exponential
    /// times, at a single server.
    fn overtaking(&self, servers: u32) -> f64 {
        match self.population {
            Population::Closed(_, think) if servers == 1 && self.second > 0.0 => {
                self.second * self.second / (self.second + think)
            }
            _ => 0.0,
        }
    }

    /// 1 of very many customers, a half of one alone.
    fn persistence(&self) -> f64 {
        match self.population {
            Population::Closed(n, _) => 1.0 - 0.5 / n.max(1.0),
            Population::Open(_) => 1.0,
        }
    }

    /// Seconds from the end of its service to its return.
    fn away(&self) -> f64 {
        match self.population {
            Population::Closed(_, think) => (think - self.second).max(0.0),
            Population::Open(_) => 0.0,
        }
    }
}

/// The mean wait of each kind; `None` if the open ones alone are too many.
pub fn waits(servers: u32, order: Order, customers: &[Customer]) -> Option<Vec<f64>> {
    let m = f64::from(servers);
    let open = |c: &Customer| matches!(c.population, Population::Open(_));
    let load: f64 = customers
        .iter()
        .map(|c| match c.population {
            Population::Open(rate) => rate * c.service(),
            Population::Closed(..) => 0.0,
        })
        .sum();
    if load >= m {
        return None;
    }
    if let [only] = customers
        && let Population::Closed(n, _) = only.population
    {
        return Some(vec![finite_source(n.round() as u32, servers, only)]);
    }
    if order != Order::Priority && customers.iter().all(open) {
        return only_open(servers, order, customers);
    }
    Some(mixed(m, order, customers, servers))
}

fn finite_source(n: u32, servers: u32, c: &Customer) -> f64 {
    let (service, overtaking) = (c.service(), c.overtaking(servers));
    if n <= servers || service == 0.0 {
        return overtaking;
    }
    let network = Network {
        centers: vec![Center {
            kind: Kind::Queue(servers),
            demands: vec![service],
        }],
        population: vec![n],
        think: vec![c.away()],
    };
    let queued = mva::exact(&network).map_or(0.0, |s| s.response[0] - service);
    queued.max(0.0) + overtaking
}

fn only_open(servers: u32, order: Order, customers: &[Customer]) -> Option<Vec<f64>> {
    let rate = |c: &Customer| match c.population {
        Population::Open(rate) => rate,
        Population::Closed(..) => 0.0,
    };
    let total: f64 = customers.iter().map(rate).sum();
    let mean = customers.iter().map(|c| rate(c) * c.service()).sum::<f64>() / total;
    if total.is_nan() || total <= 0.0 || mean <= 0.0 {
        return Some(vec![0.0; customers.len()]);
    }
    let wait = queues::mmc(total, 1.0 / mean, servers)?.response - mean;
    // A mixture of exponential laws: E[S^2] = sum of 2 s^2.
    let square: f64 = customers
        .iter()
        .map(|c| rate(c) * 2.0 * c.service().powi(2))
        .sum::<f64>()
        / total;
    let each = |c: &Customer| match order {
        Order::Sharing => c.service() * wait / mean,
        _ => wait * square / (2.0 * mean * mean),
    };
    Some(customers.iter().map(each).collect())
}

fn mixed(m: f64, order: Order, customers: &[Customer], servers: u32) -> Vec<f64> {
    let n = customers.len();
    let (mut queue, mut wait, mut rate) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for _ in 0..2_000 {
        let mut change = 0.0f64;
        for (i, c) in customers.iter().enumerate() {
            let seen = |j: usize| match c.population {
                Population::Closed(count, _) if i == j => queue[j] * (1.0 - 1.0 / count).max(0.0),
                _ => queue[j],
            };
            let backlog = |from: &dyn Fn(&Customer) -> bool| -> f64 {
                let each = customers.iter().enumerate().filter(|(_, o)| from(o));
                each.map(|(j, o)| o.service() / m * seen(j)).sum()
            };
            let new = match order {
                Order::Arrival => backlog(&|_| true),
                Order::Sharing => c.service() / m * (0..n).map(seen).sum::<f64>(),
                Order::Priority => {
                    let higher: f64 = (0..n)
                        .filter(|&j| customers[j].priority > c.priority)
                        .map(|j| rate[j] * customers[j].service() / m)
                        .sum::<f64>()
                        .min(0.999);
                    let equal = backlog(&|o| o.priority == c.priority);
                    // One of few who is served now does not come again soon: it counts half for what it brings later.
                    let above: f64 = (0..n)
                        .filter(|&j| customers[j].priority > c.priority)
                        .map(|j| customers[j].service() / m * queue[j] * customers[j].persistence())
                        .sum();
                    (equal + above + c.service() * higher) / (1.0 - higher)
                }
            };
            let new = new + c.overtaking(servers);
            change = change.max((new - wait[i]).abs() / (1e-12 + c.service()));
            wait[i] = 0.5 * (wait[i] + new);
            rate[i] = match c.population {
                Population::Open(rate) => rate,
                Population::Closed(count, _) => {
                    count / (c.away() + c.service() + wait[i]).max(1e-300)
                }
            };
            queue[i] = rate[i] * (c.service() / m + wait[i]);
        }
        if change < 1e-10 {
            break;
        }
    }
    wait
}

#[cfg(test)]
mod tests {
    use super::*;

    fn customer(population: Population, service: f64, priority: i32) -> Customer {
        Customer {
            population,
            first: service,
            second: 0.0,
            priority,
        }
    }

    #[test]
    fn open_customers_wait_as_erlang_and_pollaczek_say() {
        let one = [customer(Population::Open(1.6), 2.0, 0)];
        assert!((waits(4, Order::Arrival, &one).unwrap()[0] - 2.0 * 0.745541).abs() < 1e-5);
        // Two means at one server: lambda E[S^2] / (2 (1 - rho)).
        let two = [
            customer(Population::Open(0.2), 1.0, 0),
            customer(Population::Open(0.1), 4.0, 0),
        ];
        let truth = (0.2 * 2.0 + 0.1 * 32.0) / (2.0 * (1.0 - 0.6));
        for w in waits(1, Order::Arrival, &two).unwrap() {
            assert!((w - truth).abs() < 1e-9, "{w} {truth}");
        }
        assert_eq!(
            waits(
                1,
                Order::Arrival,
                &[customer(Population::Open(1.0), 1.0, 0)]
            ),
            None
        );
    }

    #[test]
    fn two_kinds_that_are_alike_wait_about_as_long_as_one() {
        let alike = [
            customer(Population::Closed(5.0, 9.0), 1.0, 0),
            customer(Population::Closed(5.0, 9.0), 1.0, 0),
        ];
        let exact = waits(
            1,
            Order::Arrival,
            &[customer(Population::Closed(10.0, 9.0), 1.0, 0)],
        )
        .unwrap()[0];
        for w in waits(1, Order::Arrival, &alike).unwrap() {
            assert!((w - exact).abs() < 0.2 * (1.0 + exact), "{w} {exact}");
        }
    }

    #[test]
    fn the_first_in_rank_does_not_wait_for_the_others() {
        let ranked = [
            customer(Population::Closed(1.0, 4.0), 1.0, 2),
            customer(Population::Closed(1.0, 4.0), 1.0, 1),
        ];
        let w = waits(1, Order::Priority, &ranked).unwrap();
        assert!(w[0].abs() < 1e-9 && w[1] > 0.2, "{w:?}");
    }
}
