//! Flame graphs: folded stacks (`a;b;c 1234`), which every flame graph tool reads, and a page that needs no other file.
//!
//! Where what ran was sampled: time on a CPU by stack, and time off it by the stack of the wait and by why.
//! Else time of requests and handshakes by what they are, their phase and their cause (without requests, of threads
//! by name and cause), and beside it a graph of the time off the CPU, where stacks of waits were taken.
//! Where methods were recorded, a graph of the time of their invocations by the methods that they were called through.
//! Where allocations were sampled, a graph of what was allocated by the code and the class.
//! The unit is a microsecond, of allocations a byte.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use serde_json::json;

use crate::Written;
use crate::scratch::Scratch;

/// The page; `/*DATA*/` stands for the stacks, `/*TITLE*/` for what was recorded, `/*UNIT*/` for what is counted.
const PAGE: &str = include_str!("flame.html");

/// A stack, the outermost frame first, and its time.
type Folded = Vec<(Vec<String>, i64)>;

pub fn write(trace: &Trace, out: &Path) -> Result<Written> {
    let scratch = Scratch::open(trace, out)?;
    let db = &scratch.db;
    let count = |sql: &str| db.query_row(sql, [], |r| r.get::<_, i64>(0));
    let sampled = count("SELECT count(*) FROM samples WHERE kind = 'cpu'")? > 0;
    let waited = count("SELECT count(*) FROM waits WHERE stack IS NOT NULL")? > 0;
    let requests = count("SELECT count(*) FROM breakdown")? > 0;
    let called = count("SELECT count(*) FROM calls")? > 0;
    let all = if sampled {
        by_code(db)?
    } else if requests {
        by_phase(db)?
    } else {
        by_thread(db)?
    };

    let title = format!("{} · {:.1} s", trace.meta.target.name, trace.meta.seconds());
    let allocated = count("SELECT count(*) FROM samples WHERE kind = 'alloc'")? > 0;
    let mut files = graph(out, ["index.html", "stacks.folded"], &title, "us", &all)?;
    let mut notes = Vec::new();
    if !sampled && waited {
        let title = format!("{title} · off CPU");
        files.extend(graph(
            out,
            ["off-cpu.html", "off-cpu.folded"],
            &title,
            "us",
            &by_code(db)?,
        )?);
        notes.push("what ran was not sampled (loadline record --samples): index.html shows phases and causes, off-cpu.html the code that waited".into());
    } else if !sampled && !called {
        notes.push("call stacks were not recorded: it shows phases and causes, not code".into());
    }
    if called {
        let title = format!("{title} · methods");
        let names = ["methods.html", "methods.folded"];
        files.extend(graph(out, names, &title, "us", &by_method(db)?)?);
    }
    if allocated {
        let title = format!("{title} · allocations");
        let names = ["allocations.html", "allocations.folded"];
        files.extend(graph(out, names, &title, "bytes", &by_allocation(db)?)?);
    }
    Ok(Written { files, notes })
}

/// Writes one graph: the page, and its stacks as text.
fn graph(
    out: &Path,
    names: [&str; 2],
    title: &str,
    unit: &str,
    folded: &Folded,
) -> Result<Vec<PathBuf>> {
    let [page, text] = names.map(|name| out.join(name));
    let file = std::fs::File::create(&text).with_context(|| text.display().to_string())?;
    let mut file = std::io::BufWriter::new(file);
    for (stack, us) in folded {
        writeln!(file, "{} {us}", stack.join(";"))?;
    }
    file.flush()?;
    // In a script nothing may look like its end.
    let safe = |text: String| text.replace('<', "\\u003c");
    let html = PAGE
        .replace("/*TITLE*/\"\"", &safe(json!(title).to_string()))
        .replace("/*UNIT*/\"\"", &safe(json!(unit).to_string()))
        .replace("/*DATA*/[]", &safe(json!(folded).to_string()));
    std::fs::write(&page, html).with_context(|| page.display().to_string())?;
    Ok(vec![page, text])
}

fn collect(db: &Connection, sql: &str, columns: usize) -> Result<Folded> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |r| {
        let frames = (0..columns).map(|i| r.get::<_, Option<String>>(i));
        let frames = frames.collect::<Result<Vec<_>, _>>()?;
        Ok((frames, r.get::<_, i64>(columns)?))
    })?;
    let mut folded = Folded::new();
    for row in rows {
        let (frames, us) = row?;
        let frames = frames.into_iter().flatten();
        folded.push((frames.map(|f| frame(&f)).collect(), us));
    }
    Ok(folded)
}

/// A frame's text as the folded format allows it: one line, and no separator.
fn frame(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(';', ",")
}

fn by_phase(db: &Connection) -> Result<Folded> {
    collect(
        db,
        "SELECT b.kind || 's', if(b.kind = 'request', s.name, b.phase), if(b.kind = 'request', b.phase, NULL), b.cause,
                (sum(b.duration_ns) // 1000)::BIGINT AS us
         FROM breakdown b JOIN spans s ON s.id = b.span WHERE b.kind IN ('request', 'tls_handshake')
         GROUP BY ALL HAVING us > 0 ORDER BY ALL",
        4,
    )
}

fn by_thread(db: &Connection) -> Result<Folded> {
    collect(
        db,
        "SELECT t.kind, t.name, s.cause, (sum(s.end_ns - s.begin_ns) // 1000)::BIGINT AS us
         FROM states s JOIN threads t ON t.id = s.thread GROUP BY ALL HAVING us > 0 ORDER BY ALL",
        3,
    )
}

/// By the methods that were recorded: what each invocation took beside those that it made.
fn by_method(db: &Connection) -> Result<Folded> {
    by_stack(
        db,
        "SELECT NULL, NULL, o.stack, ((any_value(o.ns) - coalesce(sum(c.ns), 0)) // 1000)::BIGINT AS us
         FROM (SELECT stack, sum(wall_ns) AS ns FROM calls GROUP BY stack) o
         LEFT JOIN (SELECT s.parent, sum(wall_ns) AS ns FROM calls JOIN stacks s ON s.id = stack GROUP BY s.parent) c ON c.parent = o.stack
         GROUP BY ALL HAVING us > 0 ORDER BY ALL",
    )
}

fn by_code(db: &Connection) -> Result<Folded> {
    by_stack(
        db,
        "SELECT 'on CPU', NULL, stack, (sum(weight) // 1000)::BIGINT AS us FROM samples WHERE kind = 'cpu'
         GROUP BY ALL HAVING us > 0
         UNION ALL
         SELECT 'off CPU', s.cause, w.stack, (sum(s.end_ns - s.begin_ns) // 1000)::BIGINT AS us
         FROM states s JOIN waits w ON w.id = s.wait
         WHERE w.stack IS NOT NULL AND s.cause NOT IN ('running', 'runnable', 'idle') GROUP BY ALL HAVING us > 0
         ORDER BY ALL",
    )
}

/// By what was allocated: below the code its class.
fn by_allocation(db: &Connection) -> Result<Folded> {
    by_stack(
        db,
        "SELECT NULL, class, stack, sum(weight)::BIGINT AS bytes FROM samples WHERE kind = 'alloc' GROUP BY ALL HAVING bytes > 0 ORDER BY ALL",
    )
}

/// Of a query for what stands below a stack, what above it, the stack's id, and how much it is.
fn by_stack(db: &Connection, sql: &str) -> Result<Folded> {
    let mut frames: HashMap<i64, (Option<i64>, String)> = HashMap::new();
    let mut statement = db.prepare("SELECT id, parent, name FROM stacks")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, String>(2)?)))?;
    for row in rows {
        let (id, parent, name): (i64, Option<i64>, String) = row?;
        frames.insert(id, (parent, frame(&name)));
    }
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |r| {
        Ok((
            r.get::<_, Option<String>>(0)?,
            r.get::<_, Option<String>>(1)?,
            r.get::<_, i64>(2)?,
            r.get::<_, i64>(3)?,
        ))
    })?;
    let mut folded = Folded::new();
    for row in rows {
        let (root, cause, stack, us) = row?;
        let mut path = Vec::new();
        let mut next = Some(stack);
        while let Some((parent, name)) = next.and_then(|id| frames.get(&id)) {
            path.push(name.clone());
            next = *parent;
        }
        path.extend(root);
        path.reverse();
        path.extend(cause);
        folded.push((path, us));
    }
    Ok(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_holds_no_separator_of_the_folded_format() {
        assert_eq!(frame("SELECT a;\n  b"), "SELECT a, b");
    }
}
