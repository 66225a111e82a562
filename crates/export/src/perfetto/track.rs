//! Slices of one track: what Perfetto closes is the innermost, so what crosses is cut in two.

/// A slice that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// What it is, for its track.
    pub id: i64,
    /// Kind and name, for opening it again.
    pub kind: i64,
    pub name: i64,
}

/// The open slices of a track, the innermost last.
#[derive(Debug, Default)]
pub struct Track {
    open: Vec<Slice>,
}

impl Track {
    pub fn begin(&mut self, slice: Slice) {
        self.open.push(slice);
    }

    /// Ends a slice: how many slices are to be closed, and which of them go on and are opened again.
    pub fn end(&mut self, id: i64) -> (usize, Vec<Slice>) {
        let Some(at) = self.open.iter().rposition(|s| s.id == id) else {
            return (0, Vec::new());
        };
        let again = self.open.split_off(at + 1);
        self.open.pop();
        self.open.extend(&again);
        (again.len() + 1, again)
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crosses_is_cut_and_goes_on() {
        let slice = |id| Slice {
            id,
            kind: 0,
            name: 0,
        };
        let mut track = Track::default();
        track.begin(slice(1));
        track.begin(slice(2));
        assert_eq!(track.end(1), (2, vec![slice(2)]));
        assert_eq!(track.end(1), (0, vec![]));
        assert_eq!(track.end(2), (1, vec![]));
        assert!(track.is_empty());
    }
}
