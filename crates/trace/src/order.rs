//! The order of rows that are nearly sorted.

/// Indices of items in the order of their keys; of equal keys the earlier item comes first.
///
/// Rows come about in the order of time, but for some: a request begins where its parsing did. Those that come late are
/// sorted, and merged with the rest, which is in order as it lies.
pub fn sorted<T>(items: &[T], key: impl Fn(&T) -> i64) -> impl Iterator<Item = usize> {
    let mut late: Vec<(i64, usize)> = Vec::new();
    let mut latest = i64::MIN;
    for (at, item) in items.iter().enumerate() {
        let key = key(item);
        if key < latest {
            late.push((key, at));
        } else {
            latest = key;
        }
    }
    late.sort_unstable();
    let mut is_late = late.iter().map(|l| l.1).collect::<Vec<_>>();
    is_late.sort_unstable();
    let mut is_late = is_late.into_iter().peekable();
    let mut in_order = (0..items.len())
        .filter(move |at| is_late.next_if_eq(at).is_none())
        .peekable();
    let mut late = late.into_iter().peekable();
    std::iter::from_fn(move || match (late.peek(), in_order.peek()) {
        // One that is late has an equal only before it.
        (Some(&(ts, _)), Some(&at)) if key(&items[at]) <= ts => in_order.next(),
        (Some(_), _) => late.next().map(|l| l.1),
        (None, _) => in_order.next(),
    })
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
            assert_eq!(sorted(&keys, |k| *k).collect::<Vec<_>>(), want, "{keys:?}");
        }
    }
}
