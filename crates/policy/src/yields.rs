//! Who gives way on shared CPUs.

use crate::Slot;

/// Whether each gives way to those with whom it shares a CPU, which then run at once whenever they have work, instead of
/// waiting for their part by weight. Who is content (has all that it asks for, and uses no more) and has a part of that CPU only
/// can be let go first: what it leaves is at least the others' parts. (One that has other CPUs too might use more of the
/// shared one than its part, and less of its own: 0.7 of a CPU of which it had 0.3 was seen.) So gives way who is not, if
/// all are with whom it shares; others split a CPU by their [`crate::weights`].
pub fn yields(slots: &[Vec<Slot>], content: &[bool]) -> Vec<bool> {
    let meets = |i: usize, j: usize| {
        slots[i]
            .iter()
            .any(|a| slots[j].iter().any(|b| a.cpu == b.cpu))
    };
    (0..slots.len())
        .map(|i| {
            let mut beside = (0..slots.len())
                .filter(|&j| j != i && meets(i, j))
                .peekable();
            !content[i]
                && beside.peek().is_some()
                && beside.all(|j| content[j] && slots[j].len() == 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpus;

    fn on(cpus: &[u32]) -> Vec<Slot> {
        let half = Cpus::thousandths(500);
        let slot = |&cpu| Slot { cpu, part: half };
        cpus.iter().map(slot).collect()
    }

    #[test]
    fn who_wants_more_gives_way_to_who_is_content() {
        assert_eq!(yields(&[on(&[1]), on(&[1])], &[true, false]), [false, true]);
        let wide = [on(&[0, 1]), on(&[1])];
        assert_eq!(yields(&wide, &[false, true]), [true, false]);
        assert_eq!(
            yields(&wide, &[true, false]),
            [false; 2],
            "it might take all of the shared one"
        );
    }

    #[test]
    fn among_equals_parts_decide() {
        let both = [on(&[1]), on(&[1])];
        assert_eq!(yields(&both, &[false, false]), [false, false]);
        assert_eq!(yields(&both, &[true, true]), [false, false]);
        let three = [on(&[0]), on(&[0, 1]), on(&[1])];
        assert_eq!(yields(&three, &[true, false, false]), [false; 3]);
        assert_eq!(yields(&three, &[true, false, true]), [false, true, false]);
    }

    #[test]
    fn who_shares_nothing_gives_way_to_nobody() {
        assert_eq!(yields(&[on(&[0]), on(&[1])], &[false, true]), [false; 2]);
    }
}
