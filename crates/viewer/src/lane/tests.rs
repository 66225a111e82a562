use super::*;
use proptest::prelude::*;

fn lane(first: i64, states: &[(i64, u8)]) -> Lane {
    let mut lane = Lane::default();
    let mut t = first;
    for &(length, class) in states {
        assert!(lane.push(t, t + length, class));
        t += length;
    }
    lane
}

/// Time per class by walking over every state.
fn brute_force(lane: &Lane, begin: i64, end: i64) -> Times {
    let mut times = [0; ABSENT + 1];
    for i in 0..lane.len() {
        let (b, e, class) = lane.state(i);
        times[class as usize] += (e.min(end) - b.max(begin)).max(0);
    }
    times[ABSENT] = end - begin - times.iter().sum::<i64>();
    times
}

fn states() -> impl Strategy<Value = Vec<(i64, u8)>> {
    prop::collection::vec((0..500i64, 0..ABSENT as u8), 0..400)
}

proptest! {
    #[test]
    fn times_of_a_range_equal_those_of_every_state(
        first in 0..300i64, states in states(), begin in 0..90_000i64, length in 0..90_000i64,
    ) {
        let lane = lane(first, &states);
        prop_assert_eq!(lane.times(begin, begin + length), brute_force(&lane, begin, begin + length));
    }

    #[test]
    fn a_window_has_a_column_per_pixel_and_each_is_what_lies_below_it(
        first in 0..300i64, states in states(), begin in 0..60_000i64, length in 1..90_000i64, px in 1..700u32,
    ) {
        let lane = lane(first, &states);
        let window = Window { begin, end: begin + length, px };
        let columns = lane.columns(window);
        prop_assert_eq!(columns.len(), px as usize);
        for (i, column) in columns.iter().enumerate() {
            let (b, e) = (window.edge(i as u32), window.edge(i as u32 + 1));
            let expected = if b == e { Column::Solid(Walk::new(&lane).stretch(b).1) } else { mixture(brute_force(&lane, b, e)) };
            prop_assert_eq!(*column, expected, "column {} of {:?}", i, window);
        }
    }

    #[test]
    fn the_shares_of_a_mixture_add_up_to_the_whole_and_are_nearly_exact(
        times in prop::array::uniform12(0..1_000_000_000_000i64),
    ) {
        let total: i64 = times.iter().sum();
        prop_assume!(total > 0);
        if let Column::Mixture(shares) = mixture(times) {
            prop_assert_eq!(shares.iter().map(|s| *s as i64).sum::<i64>(), WHOLE);
            for (share, time) in shares.iter().zip(times) {
                let exact = time as f64 * WHOLE as f64 / total as f64;
                prop_assert!((*share as f64 - exact).abs() < 1.0);
            }
        }
    }

    #[test]
    fn a_state_is_found_by_any_time_within_it(first in 0..300i64, states in states(), t in 0..100_000i64) {
        let lane = lane(first, &states);
        let expected = (0..lane.len()).find(|&i| { let (b, e, _) = lane.state(i); b <= t && t < e });
        prop_assert_eq!(lane.at(t), expected);
    }
}

#[test]
fn a_state_that_overlaps_the_last_is_refused() {
    let mut lane = lane(10, &[(5, 0)]);
    assert!(!lane.push(14, 20, 1));
    assert!(!lane.push(16, 20, 1), "a gap");
    assert!(lane.push(15, 20, 1));
}

#[test]
fn columns_of_one_state_are_encoded_as_one_run() {
    let lane = lane(0, &[(1000, 3), (7, 0), (993, 9)]);
    let bytes = encode(&lane.columns(Window {
        begin: 0,
        end: 2000,
        px: 20,
    }));
    // 10 columns of a lock, one column of 7% running, 9 columns idle.
    assert_eq!(bytes, [3, 10, 0, 255, 1, 0, 2, 0, 18, 9, 237, 9, 9, 0]);
}

#[test]
fn a_window_shorter_than_its_pixels_shows_the_state_of_each() {
    let lane = lane(0, &[(1, 0), (1, 1)]);
    let columns = lane.columns(Window {
        begin: 0,
        end: 2,
        px: 8,
    });
    assert_eq!(columns[..4], [Column::Solid(0); 4]);
    assert_eq!(columns[4..], [Column::Solid(1); 4]);
}
