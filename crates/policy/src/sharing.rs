//! Who may share a CPU with whom.

use std::str::FromStr;

use crate::{Cpus, Policy, Snapshot};

/// When two applications may share one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each CPU belongs to one application.
    Never,
    /// Shares are fractions, and meet on a CPU.
    Both,
    /// Whole CPUs; but what one that has all it requests does not need of its last CPU is lent to an application of
    /// higher priority that wants more (Guitart's thesis, the last experiment of 5.3.2).
    LowerToHigher,
}

impl Sharing {
    /// All of them.
    pub const ALL: [Sharing; 3] = [Sharing::Never, Sharing::Both, Sharing::LowerToHigher];

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Sharing::Never => "never",
            Sharing::Both => "both",
            Sharing::LowerToHigher => "lower-to-higher",
        }
    }
}

impl FromStr for Sharing {
    type Err = ();

    fn from_str(name: &str) -> Result<Sharing, ()> {
        Sharing::ALL
            .into_iter()
            .find(|s| s.name() == name)
            .ok_or(())
    }
}

/// A part of one of `owner`'s CPUs that `guest` gets; indices of applications. Who lends does not borrow, and lends once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loan {
    /// Whose CPU it is.
    pub owner: usize,
    /// Who gets a part of it.
    pub guest: usize,
    /// How much; less than one CPU.
    pub part: Cpus,
}

/// Who gets how much.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Division {
    /// For each application what is its own, lent parts included.
    pub owned: Vec<Cpus>,
    /// What changes hands.
    pub loans: Vec<Loan>,
}

impl Division {
    /// What each may use: what it owns, less what it lends, and what it borrows.
    pub fn shares(&self) -> Vec<Cpus> {
        let mut shares = self.owned.clone();
        for loan in &self.loans {
            shares[loan.owner] -= loan.part;
            shares[loan.guest] += loan.part;
        }
        shares
    }
}

/// How many CPUs each application gets. `snapshot.grain` counts where fractions are handed out (always under
/// [`Sharing::Both`], for loans under [`Sharing::LowerToHigher`]).
pub fn divide(policy: Policy, sharing: Sharing, snapshot: &Snapshot<'_>) -> Division {
    if sharing == Sharing::Both {
        let owned = snapshot.amounts(&policy.grains(snapshot));
        return Division {
            owned,
            loans: Vec::new(),
        };
    }
    let whole = Snapshot {
        grain: Cpus::ONE,
        floor: Cpus::ONE,
        ..*snapshot
    };
    let owned = whole.amounts(&policy.grains(&whole));
    let loans = match sharing {
        Sharing::LowerToHigher => loans(snapshot, &owned),
        _ => Vec::new(),
    };
    Division { owned, loans }
}

/// The most important guest first, each from the owner that can spare most.
fn loans(snapshot: &Snapshot<'_>, owned: &[Cpus]) -> Vec<Loan> {
    let applications = snapshot.applications;
    let grain = snapshot.grain.as_thousandths();
    let down = |c: Cpus| Cpus::thousandths(c.as_thousandths() / grain * grain);
    // An owner of one CPU that needs nothing of it does not exist: requests are at least a bit.
    let mut spare: Vec<Cpus> = applications
        .iter()
        .zip(owned)
        .map(|(a, &own)| down(own - a.request))
        .collect();
    let wants = |i: usize| applications[i].request.min(Cpus::whole(snapshot.cpus));
    let mut guests: Vec<usize> = (0..owned.len()).filter(|&i| owned[i] < wants(i)).collect();
    guests.sort_by(|&a, &b| {
        applications[b]
            .priority
            .total_cmp(&applications[a].priority)
            .then(a.cmp(&b))
    });
    let mut loans = Vec::new();
    for guest in guests {
        let mut lacks = wants(guest) - owned[guest];
        while lacks > Cpus::ZERO {
            let owner = (0..owned.len())
                .filter(|&o| {
                    spare[o] > Cpus::ZERO && applications[o].priority < applications[guest].priority
                })
                .max_by_key(|&o| (spare[o], std::cmp::Reverse(o)));
            let Some(owner) = owner else { break };
            let part = spare[owner].min(Cpus::thousandths(
                lacks.grains(snapshot.grain) as u32 * grain,
            ));
            loans.push(Loan { owner, guest, part });
            spare[owner] = Cpus::ZERO;
            lacks -= part;
        }
    }
    loans
}
