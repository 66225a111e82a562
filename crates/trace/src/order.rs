//! The order of rows that are nearly sorted.

/// Indices of rows in the order of their keys; of equal keys the earlier row comes first.
///
/// Rows come about in the order of time, but for some: a request begins where its parsing did. Those that come late are
/// sorted, and merged with the rest, which is in order as it lies.
pub fn sorted(keys: &[i64]) -> Vec<usize> {
    let mut late: Vec<(i64, usize)> = Vec::new();
    let mut in_order = Vec::with_capacity(keys.len());
    let mut latest = i64::MIN;
    for (at, &key) in keys.iter().enumerate() {
        if key < latest {
            late.push((key, at));
        } else {
            latest = key;
            in_order.push(at);
        }
    }
    if late.is_empty() {
        return in_order;
    }
    late.sort_unstable();
    let mut all = Vec::with_capacity(keys.len());
    let mut in_order = in_order.into_iter().peekable();
    for (key, at) in late {
        // One that is late has an equal only before it.
        while let Some(earlier) = in_order.next_if(|&at| keys[at] <= key) {
            all.push(earlier);
        }
        all.push(at);
    }
    all.extend(in_order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_a_stable_sort_gives() {
        // Every sequence of six keys out of four.
        for n in 0..4usize.pow(6) {
            let keys: Vec<i64> = (0..6).map(|i| (n / 4usize.pow(i) % 4) as i64).collect();
            let mut want: Vec<usize> = (0..6).collect();
            want.sort_by_key(|&i| keys[i]);
            assert_eq!(sorted(&keys), want, "{keys:?}");
        }
    }
}
