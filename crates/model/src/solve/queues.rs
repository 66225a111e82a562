//! Single queues in closed form. Rates per second, times in seconds; W is the mean response time, Wq the mean wait.

/// M/M/c: Poisson arrivals, exponential service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiServer {
    /// Probability of having to wait (Erlang C).
    pub waiting: f64,
    /// Mean response time.
    pub response: f64,
    arrival: f64,
    service: f64,
    servers: u32,
}

/// The probability of having to wait in M/M/c with offered load `a` erlangs (Erlang, 1917), by way of Erlang B.
pub fn erlang_c(servers: u32, a: f64) -> f64 {
    let b = erlang_b(servers, a);
    let rho = a / f64::from(servers);
    b / (1.0 - rho * (1.0 - b))
}

/// The probability of being lost in M/G/c/c with offered load `a` erlangs (Erlang, 1917): the stable recursion
/// B(k) = a B(k-1) / (k + a B(k-1)).
pub fn erlang_b(servers: u32, a: f64) -> f64 {
    (1..=servers).fold(1.0, |b, k| a * b / (f64::from(k) + a * b))
}

/// The probability of giving up in M/M/c+M (Erlang A; Palm, 1957): Poisson arrivals at `arrival`, `servers` of rate
/// `service`, those who wait give up at rate `impatience`.
pub fn erlang_a(servers: u32, arrival: f64, service: f64, impatience: f64) -> f64 {
    // Unnormalized probabilities upward from the state "all servers busy, nobody waits", downward through Erlang B.
    let a = arrival / service;
    let b = erlang_b(servers, a);
    let mut weight = 1.0;
    let mut total = 1.0 / b;
    let mut queue = 0.0;
    for j in 1..1_000_000u32 {
        weight *= arrival / (f64::from(servers) * service + f64::from(j) * impatience);
        total += weight;
        queue += f64::from(j) * weight;
        if weight * f64::from(j) < 1e-17 * total {
            break;
        }
    }
    impatience * queue / (total * arrival)
}

/// M/M/c; `None` if it is not stable.
pub fn mmc(arrival: f64, service: f64, servers: u32) -> Option<MultiServer> {
    let a = arrival / service;
    if a >= f64::from(servers) {
        return None;
    }
    let waiting = erlang_c(servers, a);
    let response = 1.0 / service + waiting / (f64::from(servers) * service - arrival);
    Some(MultiServer {
        waiting,
        response,
        arrival,
        service,
        servers,
    })
}

impl MultiServer {
    /// P(response > t).
    fn beyond(&self, t: f64) -> f64 {
        let (mu, rest) = (
            self.service,
            f64::from(self.servers) * self.service - self.arrival,
        );
        let alone = (1.0 - self.waiting) * (-mu * t).exp();
        if (rest - mu).abs() < 1e-9 * mu {
            return alone + self.waiting * (1.0 + mu * t) * (-mu * t).exp();
        }
        // The wait, if there is one, is exponential with rate c mu - lambda; service follows.
        alone + self.waiting * (rest * (-mu * t).exp() - mu * (-rest * t).exp()) / (rest - mu)
    }

    /// The `p`-quantile of the response time (exact for one server and first come, first served).
    pub fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.response);
        while self.beyond(high) > 1.0 - p {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.beyond(middle) > 1.0 - p {
                low = middle
            } else {
                high = middle
            }
        }
        0.5 * (low + high)
    }
}

/// M/G/1 first come, first served: W by Pollaczek and Khinchine.
pub fn mg1(arrival: f64, mean: f64, scv: f64) -> Option<f64> {
    let rho = arrival * mean;
    (rho < 1.0).then(|| mean * (1.0 + rho * (1.0 + scv) / (2.0 * (1.0 - rho))))
}

/// M/G/1 under processor sharing: W depends on the mean only.
pub fn mg1_ps(arrival: f64, mean: f64) -> Option<f64> {
    let rho = arrival * mean;
    (rho < 1.0).then(|| mean / (1.0 - rho))
}

/// D/M/1: W = 1 / (mu (1 - sigma)), sigma the root of sigma = exp(-mu (1 - sigma) / lambda) below 1.
pub fn dm1(arrival: f64, service: f64) -> Option<f64> {
    if arrival >= service {
        return None;
    }
    let mut sigma = 0.5;
    for _ in 0..10_000 {
        let next = (-service * (1.0 - sigma) / arrival).exp();
        if (next - sigma).abs() < 1e-16 {
            break;
        }
        sigma = next;
    }
    Some(1.0 / (service * (1.0 - sigma)))
}

/// M/M/1/K: (probability of being lost, W of those who are not, throughput); K counts the one in service.
pub fn mm1k(arrival: f64, service: f64, k: u32) -> (f64, f64, f64) {
    let rho: f64 = arrival / service;
    let weights: Vec<f64> = (0..=k).map(|n| rho.powi(n as i32)).collect();
    let total: f64 = weights.iter().sum();
    let lost = weights[k as usize] / total;
    let l: f64 = weights
        .iter()
        .enumerate()
        .map(|(n, w)| n as f64 * w)
        .sum::<f64>()
        / total;
    let x = arrival * (1.0 - lost);
    (lost, l / x, x)
}

/// M/G/1 with non-preemptive priorities, highest first: mean waits (Cobham, 1954). Classes are (arrival, mean, scv).
pub fn priority_waits(classes: &[(f64, f64, f64)]) -> Vec<f64> {
    let residual: f64 = classes
        .iter()
        .map(|(l, s, c)| 0.5 * l * s * s * (1.0 + c))
        .sum();
    let mut before = 0.0;
    classes
        .iter()
        .map(|(l, s, _)| {
            let with = before + l * s;
            let wait = residual / ((1.0 - before) * (1.0 - with));
            before = with;
            wait
        })
        .collect()
}

/// M/G/1 with preemptive-resume priorities, highest first: mean response times.
pub fn preemptive_responses(classes: &[(f64, f64, f64)]) -> Vec<f64> {
    let (mut before, mut residual) = (0.0, 0.0);
    classes
        .iter()
        .map(|(l, s, c)| {
            residual += 0.5 * l * s * s * (1.0 + c);
            let with = before + l * s;
            let w = s / (1.0 - before) + residual / ((1.0 - before) * (1.0 - with));
            before = with;
            w
        })
        .collect()
}

/// Fork and join over two like M/M/1 queues (Flatto and Hahn, 1984; Nelson and Tantawi, 1988).
pub fn fork_join_two(arrival: f64, service: f64) -> Option<f64> {
    let rho = arrival / service;
    (rho < 1.0).then(|| (12.0 - rho) / (8.0 * (1.0 - rho)) / service)
}
