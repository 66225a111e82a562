//! What the numbers mean (`.pcf`) and what the rows are called (`.row`).
//!
//! Of paraver-kernel's parsers: a line that is the name of a section begins that section, wherever it stands; a number
//! of a label is an `int`; names of rows are taken line by line. So a label is one line, and is never empty.

use std::io::Write;

use anyhow::Result;
use loadline_trace::Trace;
use loadline_trace::tables::names;

use super::records::Rows;
use super::types;
use crate::timeline::{Domain, SPAN_KINDS, STATES, Timeline, WAIT_KINDS};

/// Colours of the kernel's states, by code from 0 (no thread): red, green, blue; the viewer's palette.
const COLORS: [(u8, u8, u8); STATES.len() + 1] = [
    (255, 255, 255),
    (46, 125, 50),
    (251, 192, 45),
    (239, 108, 0),
    (96, 125, 139),
    (121, 85, 72),
    (189, 189, 189),
    (176, 190, 197),
];

/// The `.pcf`.
pub fn pcf(out: &mut impl Write, timeline: &Timeline) -> Result<()> {
    writeln!(
        out,
        "DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS MICROSEC\nLOOK_BACK 100\nSPEED 1\nFLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS {}\nYMAX_SCALE 37\n",
        COLORS.len()
    )?;
    writeln!(
        out,
        "DEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n\nSTATES\n0 no thread"
    )?;
    for (state, code) in STATES.iter().zip(1..) {
        writeln!(out, "{code} {state}")?;
    }
    writeln!(out, "\nSTATES_COLOR")?;
    for ((r, g, b), code) in COLORS.iter().zip(0..) {
        writeln!(out, "{code} {{{r},{g},{b}}}")?;
    }
    writeln!(out)?;

    let fixed = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    event(
        out,
        types::CAUSE,
        "Cause of the state",
        &fixed(&names::CAUSES),
    )?;
    for (kind, code) in SPAN_KINDS.iter().zip(1..) {
        let values = timeline.names(Domain::Span(code));
        event(
            out,
            types::SPAN + code as u32,
            &format!("Span: {kind}"),
            values,
        )?;
    }
    event(out, types::WAIT, "Wait", &fixed(&WAIT_KINDS))?;
    event(
        out,
        types::WAIT_CLASS,
        "Wait: class",
        timeline.names(Domain::Class),
    )?;
    event(out, types::WAIT_OBJECT, "Wait: identity of the object", &[])?;
    event(out, types::WAIT_OWNER, "Wait: row of the owner", &[])?;
    let calls = if timeline.all_syscalls {
        "System call"
    } else {
        "System call (only where it blocked)"
    };
    event(out, types::SYSCALL, calls, timeline.names(Domain::Syscall))?;
    event(
        out,
        types::DESCRIPTOR,
        "Descriptor of the system call",
        &resources(timeline)?,
    )?;
    event(out, types::BYTES, "Bytes asked for", &[])?;
    for (kind, code) in timeline.names(Domain::VmKind).iter().zip(1..) {
        let values = timeline.names(Domain::Vm);
        event(
            out,
            types::VM + code,
            &format!("Virtual machine: {kind}"),
            values,
        )?;
    }
    for (kind, code) in timeline.names(Domain::Mark).iter().zip(1..) {
        event(out, types::MARK + code, &format!("Mark: {kind}"), &[])?;
    }
    let virtual_threads: Vec<(i64, &str)> = timeline
        .threads
        .iter()
        .filter(|t| t.is_virtual())
        .map(|t| (t.id + 1, t.name.as_str()))
        .collect();
    numbered(
        out,
        types::VIRTUAL_THREAD,
        "Virtual thread",
        &virtual_threads,
    )
}

/// Names of the resources, by id: `fd 12 127.0.0.1:80 -> 127.0.0.1:4711`.
fn resources(timeline: &Timeline) -> Result<Vec<String>> {
    let sql = "SELECT 'fd ' || fd || ' ' || name FROM resources ORDER BY id";
    let mut statement = timeline.db().prepare(sql)?;
    let names = statement.query_map([], |r| r.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// A type of events whose values are numbered from 1.
fn event(out: &mut impl Write, kind: u32, label: &str, values: &[String]) -> Result<()> {
    let values: Vec<(i64, &str)> = (1..).zip(values.iter().map(String::as_str)).collect();
    numbered(out, kind, label, &values)
}

fn numbered(out: &mut impl Write, kind: u32, label: &str, values: &[(i64, &str)]) -> Result<()> {
    writeln!(out, "EVENT_TYPE\n0 {kind} {}", one_line(label))?;
    if !values.is_empty() {
        writeln!(out, "VALUES\n0 end")?;
        for (code, name) in values.iter().filter(|(c, _)| i32::try_from(*c).is_ok()) {
            writeln!(out, "{code} {}", one_line(name))?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The `.row`.
pub fn row(out: &mut impl Write, trace: &Trace, rows: &Rows, cpus: u32) -> Result<()> {
    writeln!(out, "LEVEL CPU SIZE {cpus}")?;
    for cpu in 0..cpus {
        writeln!(out, "CPU {cpu}")?;
    }
    let host = one_line(&trace.meta.machine.host);
    writeln!(out, "\nLEVEL NODE SIZE 1\n{host}\n")?;
    let name = one_line(&trace.meta.target.name);
    writeln!(out, "LEVEL APPL SIZE 1\n{name}\n")?;
    writeln!(out, "LEVEL TASK SIZE 1\n{name}\n")?;
    writeln!(out, "LEVEL THREAD SIZE {}", rows.count())?;
    for name in &rows.names {
        writeln!(out, "{}", one_line(name))?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        "(no name)".into()
    } else {
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_line_and_never_empty() {
        assert_eq!(one_line("SELECT *\n  FROM t"), "SELECT * FROM t");
        assert_eq!(one_line(" \n"), "(no name)");
    }
}
