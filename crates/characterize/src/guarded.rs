//! What the guard of a server (`docs/guard.md`) says of itself, and what it did while a load was offered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Why somebody was refused: the guard's name of the count, and in words.
pub const REASONS: [(&str, &str); 8] = [
    ("refusedByBudget", "no room"),
    ("refusedByCeiling", "under way, held back"),
    ("refusedBadClaims", "claims not good"),
    ("refusedReplays", "ticket used too often"),
    ("refusedAddresses", "address of bad claims"),
    ("refusedNotTls", "not TLS"),
    ("refusedSlowHellos", "hello too slow"),
    ("shedRequests", "requests shed"),
];

/// One guard's figures, as `loadline guard --json` and the starter's actuator endpoint print them; counts are since its start.
/// Keys that are missing are nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Figures {
    /// Of its connector, valve or filter.
    pub name: String,
    /// Connections or requests.
    pub guards: String,
    /// off, observe or enforce.
    pub mode: String,
    /// What response times are aimed at.
    pub objective: String,
    /// Whether it refuses now.
    pub refusing: bool,
    /// Whether it lets everybody in because its loop does not run.
    pub stalled: bool,
    /// CPUs that it counts with.
    #[serde(deserialize_with = "measured")]
    pub cpus: f64,
    /// Of them, the share that the process uses.
    #[serde(deserialize_with = "measured")]
    pub utilization: f64,
    /// What who begins waits for.
    #[serde(deserialize_with = "measured")]
    pub delay_millis: f64,
    /// What of it is aimed at.
    #[serde(deserialize_with = "measured")]
    pub target_delay_millis: f64,
    /// CPU time of a new session.
    #[serde(deserialize_with = "measured")]
    pub new_cost_millis: f64,
    /// Of one that begins with a ticket.
    #[serde(deserialize_with = "measured")]
    pub resumed_cost_millis: f64,
    /// From how many handshakes, or first requests.
    pub learnt_from: u64,
    /// Errors inside of it.
    pub errors: u64,
    /// Everything else, by name.
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

/// What was not measured yet is null, and counts as 0.
fn measured<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(0.0))
}

impl Figures {
    /// From what was printed: an array of guards, one guard, or what an actuator says where there is none.
    pub fn read(json: &str) -> Result<Vec<Figures>, serde_json::Error> {
        let all = match serde_json::from_str(json)? {
            serde_json::Value::Array(all) => all,
            one => vec![one],
        };
        let guarded = |v: &serde_json::Value| v.get("guarded") != Some(&false.into());
        all.into_iter()
            .filter(guarded)
            .map(serde_json::from_value)
            .collect()
    }

    /// A count by its name; 0 for one that it does not have.
    pub fn count(&self, name: &str) -> u64 {
        self.others.get(name).and_then(|v| v.as_u64()).unwrap_or(0)
    }

    /// Why it refused how often, in words.
    pub fn refused(&self) -> Vec<(&'static str, u64)> {
        let counts = REASONS.map(|(key, words)| (words, self.count(key)));
        counts.into_iter().filter(|(_, n)| *n > 0).collect()
    }
}

/// What all guards of a server did while a load was offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guarded {
    /// Of the strictest; in observe it refused nobody, and `refused` are those whom it would have.
    pub mode: String,
    /// What response times it aimed at.
    pub objective: String,
    /// By reason, in words.
    pub refused: BTreeMap<String, u64>,
    /// It let everybody in for want of figures.
    pub stalled: bool,
    /// Errors inside of it, each of which let somebody in.
    pub errors: u64,
    /// Why it could not be asked, if so: then all else is nothing.
    pub not_told: Option<String>,
}

impl Guarded {
    /// Between two looks. A guard that was not there at the first, as one of requests before these come, began with nothing.
    pub fn between(before: &[Figures], after: &[Figures]) -> Option<Guarded> {
        const STRICT: [&str; 3] = ["off", "observe", "enforce"];
        let first = after.first()?;
        let strictness = |mode: &str| STRICT.iter().position(|m| *m == mode);
        let mut did = Guarded {
            mode: first.mode.clone(),
            objective: first.objective.clone(),
            ..Guarded::default()
        };
        let none = Figures::default();
        for now in after {
            let then = before.iter().find(|f| f.name == now.name).unwrap_or(&none);
            if strictness(&now.mode) > strictness(&did.mode) {
                (did.mode, did.objective) = (now.mode.clone(), now.objective.clone());
            }
            for (key, words) in REASONS {
                let n = now.count(key).saturating_sub(then.count(key));
                if n > 0 {
                    *did.refused.entry(words.to_owned()).or_default() += n;
                }
            }
            did.stalled |= now.stalled;
            did.errors += now.errors.saturating_sub(then.errors);
        }
        Some(did)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"name":"https","guards":"connections","mode":"enforce","objective":"p95=250ms",
        "refusedByBudget":7,"shedRequests":2,"errors":1,"stalled":false,"newCostMillis":4.5,"delayMillis":null,"correction":null}"#;

    #[test]
    fn figures_are_read_one_by_one_in_a_list_or_as_an_actuator_says_them() {
        let one = Figures::read(ONE).expect("valid");
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].new_cost_millis, 4.5);
        assert_eq!(one[0].refused(), [("no room", 7), ("requests shed", 2)]);
        assert_eq!(
            Figures::read(&format!("[{ONE},{ONE}]")).expect("valid"),
            [one[0].clone(), one[0].clone()]
        );
        for none in ["[]", r#"{"guarded":false}"#] {
            assert!(Figures::read(none).expect("valid").is_empty(), "{none}");
        }
        assert!(Figures::read("<html>").is_err());
    }

    #[test]
    fn what_was_done_is_the_difference_over_all_guards() {
        let before = Figures::read(ONE).expect("valid");
        let after = ONE
            .replace("\"refusedByBudget\":7", "\"refusedByBudget\":19")
            .replace("\"errors\":1", "\"errors\":4");
        let other =
            r#"{"name":"requests","mode":"observe","refusedByBudget":3,"refusedReplays":5}"#;
        let after = Figures::read(&format!("[{other},{after}]")).expect("valid");
        let did = Guarded::between(&before, &after).expect("guarded");
        assert_eq!(
            (did.mode.as_str(), did.objective.as_str(), did.errors),
            ("enforce", "p95=250ms", 3)
        );
        let expected = [
            ("no room".to_owned(), 15),
            ("ticket used too often".to_owned(), 5),
        ];
        assert_eq!(did.refused, BTreeMap::from(expected));
        assert_eq!(Guarded::between(&before, &[]), None);
    }
}
