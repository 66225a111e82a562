//! Where the time of handshakes and requests went on each side: phases by causes.
//!
//! Terms: a *portion* is the mean time of one phase for one cause, per handshake of the phase's kind or per request.

use std::collections::BTreeMap;

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

/// A phase as people call it: its name in the tables, its title, and what it is a mean of.
pub const PHASES: [(&str, &str, &str); 9] = [
    ("tls_full", "TLS handshake, full", "per handshake"),
    ("tls_resumed", "TLS handshake, resumed", "per handshake"),
    ("tls_unknown", "TLS, full or resumed", "per handshake"),
    ("tls_failed", "TLS handshake, failed", "per handshake"),
    ("request", "outside the service", "per request"),
    ("service", "service", "per request"),
    ("pool_wait", "waiting for the pool", "per request"),
    ("sql", "SQL", "per request"),
    ("call", "calls of services", "per request"),
];

/// Mean time in a phase for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Portion {
    /// As in the table `breakdown`.
    pub phase: String,
    /// Likewise.
    pub cause: String,
    /// Per handshake of the phase's kind, or per request.
    pub ms: f64,
}

/// What a recording has of it: sums, ms, per phase and cause, and of how many handshakes or requests they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sums {
    ms: BTreeMap<(String, String), f64>,
    of: BTreeMap<String, f64>,
}

/// Reads a recording.
pub fn read(db: &Connection) -> Result<Sums> {
    let mut sums = Sums::default();
    let mut of = db.prepare(
        "WITH requests AS (SELECT count(*)::DOUBLE AS n FROM spans WHERE kind = 'request' AND complete),
              b AS (SELECT b.* FROM breakdown b JOIN spans s ON s.id = b.span
                    WHERE s.complete AND b.kind IN ('request', 'tls_handshake') AND b.phase <> 'idle')
         SELECT phase, cause, sum(ms(duration_ns)),
                if(any_value(b.kind) = 'request', any_value(requests.n), any_value(c.n)::DOUBLE)
         FROM b JOIN (SELECT phase, count(DISTINCT span) AS n FROM b GROUP BY phase) c USING (phase), requests
         GROUP BY phase, cause ORDER BY phase, cause",
    )?;
    let rows = of.query_map([], |r| {
        Ok((
            r.get::<_, String>(0)?,
            r.get::<_, String>(1)?,
            r.get(2)?,
            r.get(3)?,
        ))
    })?;
    for row in rows {
        let (phase, cause, ms, n): (_, _, f64, f64) = row?;
        sums.of.insert(phase.clone(), n);
        sums.ms.insert((phase, cause), ms);
    }
    Ok(sums)
}

/// Means over the recordings of a side.
pub fn means<'a>(recordings: impl Iterator<Item = &'a Sums>) -> Vec<Portion> {
    let mut all = Sums::default();
    for one in recordings {
        for (key, ms) in &one.ms {
            *all.ms.entry(key.clone()).or_default() += ms;
        }
        for (phase, n) in &one.of {
            *all.of.entry(phase.clone()).or_default() += n;
        }
    }
    let portion = |((phase, cause), ms): ((String, String), f64)| Portion {
        ms: ms / all.of[&phase].max(1.0),
        phase,
        cause,
    };
    all.ms.into_iter().map(portion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_a_side_are_weighed_by_their_requests() {
        let one = |ms: f64, n: f64| Sums {
            ms: [(("sql".into(), "socket".into()), ms)].into(),
            of: [("sql".into(), n)].into(),
        };
        let portions = means([one(10.0, 10.0), one(90.0, 30.0)].iter());
        assert_eq!(portions.len(), 1);
        assert_eq!(portions[0].ms, 2.5);
    }
}
