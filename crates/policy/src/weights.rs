//! Scheduling weights that split shared CPUs as the slots say.

use crate::Slot;

/// Weights range over this ratio at most: beyond it a scheduler's integers no longer tell much.
const RANGE: f64 = 1000.0;

/// A weight for each application, for schedulers that spread an application's weight evenly over its n CPUs (as Linux
/// does for the tasks of a cgroup): then what counts on one CPU is w/n, and two that share a CPU must have
/// (w1/n1) : (w2/n2) = part1 : part2. Measured on 2 CPUs, one application on both and one on the second only, which they
/// were to halve: equal weights gave the first 1/3 of it, 2:1 gave it half. Because applications and the CPUs that they
/// share form a forest, one pass satisfies all ratios. The geometric mean of each tree is 1.
pub fn weights(slots: &[Vec<Slot>]) -> Vec<f64> {
    let mut weights = vec![0.0; slots.len()];
    for root in 0..slots.len() {
        if weights[root] > 0.0 {
            continue;
        }
        weights[root] = 1.0;
        let mut tree = vec![root];
        let mut next = 0;
        while next < tree.len() {
            let i = tree[next];
            next += 1;
            for slot in &slots[i] {
                for (j, others) in slots.iter().enumerate() {
                    let Some(other) = others.iter().find(|s| s.cpu == slot.cpu) else {
                        continue;
                    };
                    if weights[j] > 0.0 || slot.part.as_thousandths() == 0 {
                        continue;
                    }
                    let parts = other.part.as_f64() / slot.part.as_f64();
                    weights[j] = weights[i] * parts * others.len() as f64 / slots[i].len() as f64;
                    tree.push(j);
                }
            }
        }
        let mean = tree.iter().map(|&i| weights[i].ln()).sum::<f64>() / tree.len() as f64;
        for &i in &tree {
            let range = RANGE.sqrt();
            weights[i] = (weights[i] / mean.exp()).clamp(1.0 / range, range);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpus;

    fn slots(list: &[(u32, u32)]) -> Vec<Slot> {
        let slot = |&(cpu, part)| Slot {
            cpu,
            part: Cpus::thousandths(part),
        };
        list.iter().map(slot).collect()
    }

    #[test]
    fn who_shares_nothing_has_weight_one() {
        assert_eq!(
            weights(&[slots(&[(0, 1000)]), slots(&[]), slots(&[(1, 1000)])]),
            [1.0, 1.0, 1.0]
        );
    }

    #[test]
    fn a_wider_application_needs_more_weight_for_the_same_part() {
        let w = weights(&[slots(&[(0, 1000), (1, 500)]), slots(&[(1, 500)])]);
        assert!((w[0] / w[1] - 2.0).abs() < 1e-12, "{w:?}");
        let w = weights(&[slots(&[(0, 1000), (1, 200)]), slots(&[(1, 800)])]);
        assert!((w[0] / w[1] - 0.5).abs() < 1e-12, "{w:?}");
    }

    #[test]
    fn ratios_hold_along_a_chain() {
        let all = [
            slots(&[(0, 700)]),
            slots(&[(0, 300), (1, 100)]),
            slots(&[(1, 900)]),
        ];
        let w = weights(&all);
        assert!(
            ((w[0] / 1.0) / (w[1] / 2.0) - 7.0 / 3.0).abs() < 1e-12,
            "{w:?}"
        );
        assert!(
            ((w[1] / 2.0) / (w[2] / 1.0) - 1.0 / 9.0).abs() < 1e-12,
            "{w:?}"
        );
    }
}
