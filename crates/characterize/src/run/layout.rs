//! Which CPUs the server gets and which the generator: decided from those that we may use.

use crate::result::Layout;

/// The server on the first `count` of `allowed`, the generator on the others; if none are left, it
/// shares all of them. The error says how many there are.
pub fn layout(allowed: &[usize], count: u32) -> Result<Layout, String> {
    let n = count as usize;
    if n > allowed.len() {
        return Err(format!(
            "--cpus {count}: this program may use {} ({})",
            crate::words::cpus(allowed.len() as u32),
            list(allowed)
        ));
    }
    let (server, rest) = allowed.split_at(n);
    Ok(Layout {
        server: server.to_vec(),
        generator: if rest.is_empty() { allowed } else { rest }.to_vec(),
        shared: rest.is_empty(),
    })
}

/// For a server whose CPUs are left as they are.
pub fn as_it_is(allowed: &[usize], server: &[usize]) -> Layout {
    let others: Vec<usize> = allowed
        .iter()
        .copied()
        .filter(|c| !server.contains(c))
        .collect();
    let shared = others.is_empty() || server.is_empty();
    Layout {
        server: server.to_vec(),
        generator: if others.is_empty() {
            allowed.to_vec()
        } else {
            others
        },
        shared,
    }
}

/// What a reader must know of a layout.
pub fn note(l: &Layout) -> Option<String> {
    (l.shared && !l.server.is_empty()).then(|| {
        format!(
            "the server's CPUs ({}) and the generator's ({}) overlap: this machine has too few for both, so that they compete; figures near saturation say less than the server alone would",
            list(&l.server),
            list(&l.generator)
        )
    })
}

/// `0, 1`.
pub fn list(cpus: &[usize]) -> String {
    cpus.iter()
        .map(usize::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gets_what_the_server_leaves() {
        let l = layout(&[2, 3, 5, 7], 1).expect("enough");
        assert_eq!(
            (l.server, l.generator, l.shared),
            (vec![2], vec![3, 5, 7], false)
        );
    }

    #[test]
    fn a_server_on_all_cpus_shares_them_with_the_generator_and_that_is_said() {
        let l = layout(&[0, 1], 2).expect("enough");
        assert!(l.shared && l.generator == [0, 1]);
        assert!(note(&l).expect("a note").contains("too few"));
        assert_eq!(note(&layout(&[0, 1], 1).expect("enough")), None);
    }

    #[test]
    fn more_cpus_than_there_are_is_an_error_that_says_how_many() {
        assert_eq!(
            layout(&[0, 1], 4).expect_err("too many"),
            "--cpus 4: this program may use 2 CPUs (0, 1)"
        );
    }

    #[test]
    fn a_server_left_where_it_is_is_avoided_if_possible() {
        assert_eq!(as_it_is(&[0, 1, 2], &[0]).generator, vec![1, 2]);
        assert!(as_it_is(&[0, 1], &[0, 1]).shared);
    }
}
