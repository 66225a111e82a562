//! The call tree of recorded methods: which paths of calls took the time.

use std::collections::HashMap;

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{class, duration, grouped, ms};
use super::{Report, rows};

/// Paths that are shown: those that took most.
const MOST: usize = 24;
/// A path with a smaller share of the time of all outermost ones is not worth a line.
const LEAST_SHARE: f64 = 0.01;
/// Room for a method and what it is indented by.
const ROOM: usize = 52;
/// What is deeper is not indented further.
const DEEPEST: usize = 12;

/// A path of methods, all invocations through it together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Called {
    /// The method.
    pub method: String,
    /// Recorded methods that it was called through.
    pub depth: u32,
    /// Invocations.
    pub invocations: u64,
    /// How many of them an exception ended.
    pub threw: u64,
    /// Time from their begins to their ends.
    pub wall_ms: f64,
    /// Without that of recorded ones that they called.
    pub self_ms: f64,
    /// CPU time, where it was measured.
    pub cpu_ms: Option<f64>,
    /// The longest of them.
    pub max_ms: f64,
}

/// The paths that took most, in the order of the tree.
pub(super) fn tree(db: &Connection) -> Result<Vec<Called>> {
    let found = rows(
        db,
        &format!(
            "SELECT stack, parent, method, depth, invocations, threw, ms(wall_ns), ms(self_ns), ms(cpu_ns), ms(max_ns) FROM call_tree
             WHERE wall_ns >= {LEAST_SHARE} * (SELECT sum(wall_ns) FROM call_tree WHERE parent IS NULL)
             ORDER BY wall_ns DESC, depth, stack LIMIT {MOST}"
        ),
        |r| {
            let called = Called {
                method: r.get(2)?,
                depth: r.get(3)?,
                invocations: r.get(4)?,
                threw: r.get(5)?,
                wall_ms: r.get(6)?,
                self_ms: r.get(7)?,
                cpu_ms: r.get(8)?,
                max_ms: r.get(9)?,
            };
            Ok((r.get::<_, i64>(0)?, r.get::<_, Option<i64>>(1)?, called))
        },
    )?;
    // A caller took at least as long as what it called, so that it is there too, and before.
    let mut below: HashMap<Option<i64>, Vec<usize>> = HashMap::new();
    for (at, (_, parent, _)) in found.iter().enumerate() {
        below.entry(*parent).or_default().push(at);
    }
    let mut todo: Vec<usize> = below.remove(&None).unwrap_or_default();
    todo.reverse();
    let mut tree = Vec::with_capacity(found.len());
    while let Some(at) = todo.pop() {
        let (stack, _, called) = &found[at];
        tree.push(called.clone());
        todo.extend(below.remove(&Some(*stack)).unwrap_or_default().iter().rev());
    }
    Ok(tree)
}

impl Report {
    pub(super) fn methods(&self, out: &mut Page) {
        if self.methods.is_empty() {
            return;
        }
        out.title(
            "recorded methods, by who called them",
            "ms; the probes' own cost included: docs/record.md",
        );
        let cpu = self.methods.iter().any(|c| c.cpu_ms.is_some());
        let figures: &[&str] = match cpu {
            true => &["calls", "mean", "total", "self", "CPU"],
            false => &["calls", "mean", "total", "self"],
        };
        let mut table = columns(&["method"], figures, &[]);
        for c in &self.methods {
            let indent = "  ".repeat((c.depth as usize).min(DEEPEST));
            let mean = duration(c.wall_ms / c.invocations.max(1) as f64);
            let mut row = vec![
                format!("{indent}{}", class(&c.method, ROOM - indent.len())),
                grouped(c.invocations),
                mean,
                ms(c.wall_ms),
                ms(c.self_ms),
            ];
            row.extend(cpu.then(|| c.cpu_ms.map_or("-".into(), ms)));
            table.row(row);
        }
        out.table(&table);
    }
}
