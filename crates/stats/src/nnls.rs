//! Least squares with coefficients that cannot be negative (Lawson and Hanson, *Solving Least Squares Problems*, 1974,
//! chapter 23): what a unit of each of several causes costs, from how often they occurred and what it came to together.

/// Coefficients `x >= 0` that minimize the sum of squares of `rows * x - values`, one per column of `rows`.
///
/// Rows must be of equal length, and as many as `values`. A column that is a combination of others, or never occurs, gets 0.
pub fn nnls(rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    // Columns are counts and constants of very different size: scaled to length 1, so that one tolerance fits them all.
    let lengths: Vec<f64> = (0..columns)
        .map(|c| rows.iter().map(|r| r[c] * r[c]).sum::<f64>().sqrt())
        .collect();
    let at = |r: &[f64], c: usize| {
        if lengths[c] > 0.0 {
            r[c] / lengths[c]
        } else {
            0.0
        }
    };
    let gram: Vec<Vec<f64>> = (0..columns)
        .map(|i| {
            (0..columns)
                .map(|j| rows.iter().map(|r| at(r, i) * at(r, j)).sum())
                .collect()
        })
        .collect();
    let right: Vec<f64> = (0..columns)
        .map(|i| rows.iter().zip(values).map(|(r, y)| at(r, i) * y).sum())
        .collect();
    let size = values.iter().map(|y| y * y).sum::<f64>().sqrt();
    let mut x = vec![0.0; columns];
    let mut free: Vec<usize> = Vec::new();
    // Each step lowers the sum of squares, so that no set of free columns comes twice; the bound is for rounding.
    for _ in 0..10 * columns.max(1) {
        let slope =
            |c: usize, x: &[f64]| right[c] - gram[c].iter().zip(x).map(|(g, x)| g * x).sum::<f64>();
        let steepest = (0..columns)
            .filter(|c| !free.contains(c))
            .map(|c| (slope(c, &x), c))
            .filter(|(s, _)| *s > 1e-10 * size)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, enters)) = steepest else {
            break;
        };
        free.push(enters);
        loop {
            let Some(wanted) = solve(&gram, &right, &free) else {
                free.pop();
                break;
            };
            if wanted.iter().all(|w| *w > 0.0) {
                x.fill(0.0);
                free.iter().zip(&wanted).for_each(|(c, w)| x[*c] = *w);
                break;
            }
            // As far towards it as all stay at 0 or above; what comes to 0 leaves.
            let step = free
                .iter()
                .zip(&wanted)
                .filter(|(_, w)| **w <= 0.0)
                .map(|(c, w)| x[*c] / (x[*c] - w))
                .fold(1.0, f64::min);
            free.iter()
                .zip(&wanted)
                .for_each(|(c, w)| x[*c] += step * (w - x[*c]));
            free.retain(|c| x[*c] > 1e-14 * size);
            (0..columns)
                .filter(|c| !free.contains(c))
                .for_each(|c| x[c] = 0.0);
        }
    }
    x.iter()
        .zip(&lengths)
        .map(|(x, l)| if *l > 0.0 { x / l } else { 0.0 })
        .collect()
}

/// Solves the normal equations of the free columns by Cholesky's decomposition; `None` if they are not independent.
fn solve(gram: &[Vec<f64>], right: &[f64], free: &[usize]) -> Option<Vec<f64>> {
    let n = free.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = gram[free[i]][free[j]] - inner;
            if i == j {
                // Columns have length 1: this is the square of the sine of the angle to those before.
                if rest < 1e-9 {
                    return None;
                }
                l[i][i] = rest.sqrt();
            } else {
                l[i][j] = rest / l[j][j];
            }
        }
    }
    let mut y = vec![0.0; n];
    for i in 0..n {
        let inner: f64 = (0..i).map(|k| l[i][k] * y[k]).sum();
        y[i] = (right[free[i]] - inner) / l[i][i];
    }
    for i in (0..n).rev() {
        let inner: f64 = (i + 1..n).map(|k| l[k][i] * y[k]).sum();
        y[i] = (y[i] - inner) / l[i][i];
    }
    Some(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    fn close(a: &[f64], b: &[f64], within: f64) {
        assert_eq!(a.len(), b.len());
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() <= within, "{a:?}, not {b:?}");
        }
    }

    #[test]
    fn what_is_determined_is_found() {
        let mut stream = Stream::new(3, "nnls");
        let rows: Vec<Vec<f64>> = (0..200)
            .map(|_| {
                vec![
                    (stream.uniform() * 9.0).floor(),
                    (stream.uniform() * 50.0).floor(),
                    1.0,
                ]
            })
            .collect();
        let values: Vec<f64> = rows
            .iter()
            .map(|r| 3.0 * r[0] + 0.25 * r[1] + 7.0)
            .collect();
        close(&nnls(&rows, &values), &[3.0, 0.25, 7.0], 1e-8);
    }

    /// Without the bound the second coefficient would be -1; with it the first alone is the projection, 8/5.
    #[test]
    fn a_cost_is_never_negative() {
        let rows = [vec![1.0, 0.0], vec![2.0, 1.0]];
        close(&nnls(&rows, &[2.0, 3.0]), &[8.0 / 5.0, 0.0], 1e-12);
    }

    #[test]
    fn what_always_comes_together_is_not_told_apart() {
        let rows: Vec<Vec<f64>> = (1..20)
            .map(|i| vec![f64::from(i), 2.0 * f64::from(i), 0.0])
            .collect();
        let values: Vec<f64> = (1..20).map(|i| 10.0 * f64::from(i)).collect();
        let x = nnls(&rows, &values);
        assert!((x[0] + 2.0 * x[1] - 10.0).abs() < 1e-9, "{x:?}");
        assert!((x[0] == 0.0 || x[1] == 0.0) && x[2] == 0.0, "{x:?}");
        assert!(nnls(&[], &[]).is_empty());
    }
}
