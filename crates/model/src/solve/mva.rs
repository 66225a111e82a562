//! Closed and mixed product-form networks: exact mean value analysis (Reiser and Lavenberg, 1980) and the approximation
//! of Bard and Schweitzer.

/// How customers are served at a centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// One after the other, or sharing: so many servers.
    Queue(u32),
    /// All at once.
    Delay,
}

/// A centre: demand of each class (visits times service time).
#[derive(Debug, Clone, PartialEq)]
pub struct Center {
    /// How it serves.
    pub kind: Kind,
    /// Seconds per request of each class, over all its visits.
    pub demands: Vec<f64>,
}

/// A closed network.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Its centres.
    pub centers: Vec<Center>,
    /// Customers of each class.
    pub population: Vec<u32>,
    /// Think time of each class.
    pub think: Vec<f64>,
}

/// Its steady state: per class, and per centre and class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Solution {
    /// Requests per second.
    pub throughput: Vec<f64>,
    /// Response time without thinking.
    pub response: Vec<f64>,
    /// Mean number at each centre, per class.
    pub queue: Vec<Vec<f64>>,
    /// Residence time at each centre, per class.
    pub residence: Vec<Vec<f64>>,
}

/// Exact MVA. `None` where it does not apply or would take more than some ten million steps: several classes with a
/// centre of several servers, or too many populations.
pub fn exact(network: &Network) -> Option<Solution> {
    let classes = network.population.len();
    let multi = network
        .centers
        .iter()
        .any(|c| matches!(c.kind, Kind::Queue(n) if n > 1));
    if classes == 1 {
        // The recursion for several servers loses digits; sums of positive terms do not, but overflow in the end.
        return Some(if multi && network.population[0] <= 500 {
            convolution(network)
        } else {
            single(network)
        });
    }
    let states: f64 = network
        .population
        .iter()
        .map(|&n| f64::from(n) + 1.0)
        .product();
    if multi || states * network.centers.len() as f64 > 3e7 {
        return None;
    }
    let k = network.centers.len();
    let strides: Vec<usize> = network
        .population
        .iter()
        .scan(1usize, |stride, &n| {
            let own = *stride;
            *stride *= n as usize + 1;
            Some(own)
        })
        .collect();
    let mut total = vec![0.0; states as usize * k];
    let mut last = Solution::default();
    for state in 1..states as usize {
        let counts: Vec<usize> = (0..classes)
            .map(|c| state / strides[c] % (network.population[c] as usize + 1))
            .collect();
        let mut throughput = vec![0.0; classes];
        let mut residence = vec![vec![0.0; classes]; k];
        for c in (0..classes).filter(|&c| counts[c] > 0) {
            let less = state - strides[c];
            let mut response = 0.0;
            for i in 0..k {
                let center = &network.centers[i];
                let seen = if center.kind == Kind::Delay {
                    0.0
                } else {
                    total[less * k + i]
                };
                residence[i][c] = center.demands[c] * (1.0 + seen);
                response += residence[i][c];
            }
            throughput[c] = counts[c] as f64 / (network.think[c] + response);
        }
        for i in 0..k {
            total[state * k + i] = (0..classes).map(|c| throughput[c] * residence[i][c]).sum();
        }
        if state + 1 == states as usize {
            last = solution(throughput, residence);
        }
    }
    Some(last)
}

fn solution(throughput: Vec<f64>, residence: Vec<Vec<f64>>) -> Solution {
    let classes = throughput.len();
    Solution {
        response: (0..classes)
            .map(|c| residence.iter().map(|r| r[c]).sum())
            .collect(),
        queue: residence
            .iter()
            .map(|r| (0..classes).map(|c| throughput[c] * r[c]).collect())
            .collect(),
        throughput,
        residence,
    }
}

/// One class; centres of several servers exactly, by their marginal probabilities.
fn single(network: &Network) -> Solution {
    let k = network.centers.len();
    let n = network.population[0];
    let mut queue = vec![0.0; k];
    // P(j there | population), for centres of several servers, j from 0 to servers - 1.
    let mut marginal: Vec<Vec<f64>> = network
        .centers
        .iter()
        .map(|c| match c.kind {
            Kind::Queue(m) if m > 1 => {
                let mut p = vec![0.0; m.min(n + 1) as usize];
                p[0] = 1.0;
                p
            }
            _ => Vec::new(),
        })
        .collect();
    let (mut x, mut residence) = (0.0, vec![0.0; k]);
    for population in 1..=n {
        for i in 0..k {
            let d = network.centers[i].demands[0];
            residence[i] = match network.centers[i].kind {
                Kind::Delay => d,
                Kind::Queue(1) => d * (1.0 + queue[i]),
                Kind::Queue(m) => {
                    let idle: f64 = marginal[i]
                        .iter()
                        .enumerate()
                        .take(m as usize - 1)
                        .map(|(j, p)| (f64::from(m) - 1.0 - j as f64) * p)
                        .sum();
                    d / f64::from(m) * (1.0 + queue[i] + idle)
                }
            };
        }
        x = f64::from(population) / (network.think[0] + residence.iter().sum::<f64>());
        for i in 0..k {
            queue[i] = x * residence[i];
            if let Kind::Queue(m) = network.centers[i].kind
                && m > 1
            {
                let d = network.centers[i].demands[0];
                let p = &mut marginal[i];
                for j in (1..p.len()).rev() {
                    p[j] = x * d / j as f64 * p[j - 1];
                }
                let tail: f64 = (1..p.len()).map(|j| (f64::from(m) - j as f64) * p[j]).sum();
                p[0] = (1.0 - (x * d + tail) / f64::from(m)).max(0.0);
            }
        }
    }
    solution(vec![x], residence.into_iter().map(|r| vec![r]).collect())
}

/// One class by the normalizing constants of Buzen (1973): only sums of positive terms.
fn convolution(network: &Network) -> Solution {
    let n = network.population[0] as usize;
    // Demands in units of the cycle at the bottleneck keep the constants moderate.
    let bound = approximate(network).throughput[0].max(1e-300);
    let factor = |kind: Kind, demand: f64| -> Vec<f64> {
        let mut f = vec![1.0; n + 1];
        for j in 1..=n {
            let rate = match kind {
                Kind::Delay => j as f64,
                Kind::Queue(m) => (j as f64).min(f64::from(m)),
            };
            f[j] = f[j - 1] * demand * bound / rate;
        }
        f
    };
    let fold = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..=n)
            .map(|k| (0..=k).map(|j| a[j] * b[k - j]).sum())
            .collect()
    };
    let think = factor(Kind::Delay, network.think[0]);
    let factors: Vec<Vec<f64>> = network
        .centers
        .iter()
        .map(|c| factor(c.kind, c.demands[0]))
        .collect();
    let g = factors.iter().fold(think.clone(), |g, f| fold(&g, f));
    let x = bound * g[n - 1] / g[n];
    let residence = (0..factors.len())
        .map(|i| {
            let others = factors
                .iter()
                .enumerate()
                .filter(|(j, _)| *j != i)
                .fold(think.clone(), |g, (_, f)| fold(&g, f));
            let queue: f64 = (1..=n)
                .map(|j| j as f64 * factors[i][j] * others[n - j])
                .sum::<f64>()
                / g[n];
            vec![queue / x]
        })
        .collect();
    solution(vec![x], residence)
}

/// Bard and Schweitzer: queues seen on arrival are those in the steady state with one customer of one's own class
/// less, by proportion. Several servers by Seidmann (1986): a queue of demand d/m and a delay of d (m-1)/m.
pub fn approximate(network: &Network) -> Solution {
    let classes = network.population.len();
    let k = network.centers.len();
    let n: Vec<f64> = network.population.iter().map(|&n| f64::from(n)).collect();
    let mut queue = vec![vec![0.0; classes]; k];
    for row in &mut queue {
        for c in 0..classes {
            row[c] = n[c] / k as f64;
        }
    }
    let mut throughput = vec![0.0; classes];
    let mut residence = vec![vec![0.0; classes]; k];
    for _ in 0..100_000 {
        let mut change = 0.0f64;
        for c in (0..classes).filter(|&c| n[c] > 0.0) {
            let mut response = 0.0;
            for i in 0..k {
                let d = network.centers[i].demands[c];
                residence[i][c] = match network.centers[i].kind {
                    Kind::Delay => d,
                    Kind::Queue(m) => {
                        let m = f64::from(m);
                        let seen: f64 =
                            (0..classes).map(|j| queue[i][j]).sum::<f64>() - queue[i][c] / n[c];
                        d * (m - 1.0) / m + d / m * (1.0 + seen)
                    }
                };
                response += residence[i][c];
            }
            throughput[c] = n[c] / (network.think[c] + response);
        }
        for i in 0..k {
            for c in 0..classes {
                let delay = match network.centers[i].kind {
                    // Only those in the queue of Seidmann's pair are seen by others.
                    Kind::Queue(m) => network.centers[i].demands[c] * (1.0 - 1.0 / f64::from(m)),
                    Kind::Delay => 0.0,
                };
                let new = throughput[c] * (residence[i][c] - delay);
                change = change.max((new - queue[i][c]).abs());
                queue[i][c] = new;
            }
        }
        if change < 1e-12 {
            break;
        }
    }
    solution(throughput, residence)
}
