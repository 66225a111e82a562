//! Objects of chosen classes: where they were allocated, and whether they were found dead.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{bytes, class, duration, grouped};
use super::{Report, rows};

/// Places that are shown: those that allocated most.
const MOST: usize = 8;

/// A place in the code that allocated objects of a chosen class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lives {
    /// The class.
    pub class: String,
    /// The innermost method that is not the JDK's; none where no stack was taken.
    pub code: Option<String>,
    /// Line in it.
    pub line: Option<i32>,
    /// Objects.
    pub allocated: u64,
    /// Their sizes together.
    pub bytes: u64,
    /// How many the collector found dead.
    pub freed: u64,
    /// How many it did not.
    pub alive: u64,
    /// From the allocation to there.
    pub mean_life_ms: Option<f64>,
}

pub(super) fn lives(db: &Connection) -> Result<Vec<Lives>> {
    rows(
        db,
        &format!(
            "SELECT class, code, line, allocated, bytes, freed, alive, ms(mean_life_ns) FROM object_sites
             ORDER BY allocated DESC, class, code, line LIMIT {MOST}"
        ),
        |r| {
            let n = |i: usize| r.get::<_, i64>(i).map(|n| n.max(0) as u64);
            Ok(Lives {
                class: r.get(0)?,
                code: r.get(1)?,
                line: r.get(2)?,
                allocated: n(3)?,
                bytes: n(4)?,
                freed: n(5)?,
                alive: n(6)?,
                mean_life_ms: r.get(7)?,
            })
        },
    )
}

impl Report {
    pub(super) fn objects(&self, out: &mut Page) {
        if self.objects.is_empty() {
            return;
        }
        let note = "all of them; a life ends where the collector finds it over";
        out.title("objects of chosen classes", note);
        let right = ["allocated", "bytes", "freed", "alive", "mean life"];
        let mut table = columns(&["class", "code"], &right, &[]);
        for o in &self.objects {
            let code = o.code.as_deref().unwrap_or("(no stack)");
            let place = o.line.map_or(code.to_owned(), |l| format!("{code}:{l}"));
            table.row([
                class(&o.class, 22),
                class(&place, 32),
                grouped(o.allocated),
                bytes(o.bytes as f64),
                grouped(o.freed),
                grouped(o.alive),
                o.mean_life_ms.map_or("-".into(), duration),
            ]);
        }
        out.table(&table);
    }
}
