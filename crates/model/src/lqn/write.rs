//! A network as XML in the order of `lqn-core.xsd`.

use super::document::{
    Activity, Document, Entry, Post, Pre, Precedence, Processor, Scheduling, Task, TaskKind,
};
use std::fmt::Write;

pub(super) fn xml(document: &Document) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for remark in &document.remarks {
        // Two hyphens end a comment.
        let _ = writeln!(out, "<!-- {} -->", remark.replace("--", "- -"));
    }
    let _ = writeln!(
        out,
        "<lqn-model name=\"{}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:noNamespaceSchemaLocation=\"lqn.xsd\">",
        escaped(&document.name)
    );
    out.push_str("  <solver-params conv_val=\"1e-06\" it_limit=\"500\" underrelax_coeff=\"0.9\" print_int=\"0\"/>\n");
    for p in &document.processors {
        processor(&mut out, p);
    }
    out.push_str("</lqn-model>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn multiplicity(of: Option<u32>) -> String {
    match of {
        Some(1) | None => String::new(),
        Some(n) => format!(" multiplicity=\"{n}\""),
    }
}

fn processor(out: &mut String, p: &Processor) {
    let scheduling = match p.scheduling {
        Scheduling::Fcfs => "fcfs",
        Scheduling::Sharing => "ps",
        Scheduling::Infinite => "inf",
        Scheduling::Preemptive => "pp",
        Scheduling::HeadOfLine => "hol",
    };
    let mut more = multiplicity(p.multiplicity);
    if p.scheduling == Scheduling::Sharing {
        let _ = write!(
            more,
            " quantum=\"{}\"",
            if p.quantum > 0.0 { p.quantum } else { 0.001 }
        );
    }
    if p.speed != 1.0 {
        let _ = write!(more, " speed-factor=\"{}\"", p.speed);
    }
    let _ = writeln!(
        out,
        "  <processor name=\"{}\" scheduling=\"{scheduling}\"{more}>",
        escaped(&p.name)
    );
    for t in &p.tasks {
        task(out, t);
    }
    out.push_str("  </processor>\n");
}

fn task(out: &mut String, t: &Task) {
    let scheduling = match t.kind {
        TaskKind::Reference => "ref",
        TaskKind::Fcfs => "fcfs",
        TaskKind::Infinite => "inf",
        TaskKind::HeadOfLine => "hol",
        TaskKind::Semaphore => "semaphore",
        TaskKind::ReadWrite => "rwlock",
    };
    let mut more = multiplicity(t.multiplicity);
    if t.think > 0.0 {
        let _ = write!(more, " think-time=\"{}\"", t.think);
    }
    if t.priority != 0 {
        let _ = write!(more, " priority=\"{}\"", t.priority);
    }
    let _ = writeln!(
        out,
        "    <task name=\"{}\" scheduling=\"{scheduling}\"{more}>",
        escaped(&t.name)
    );
    for e in &t.entries {
        entry(out, e);
    }
    if !t.activities.is_empty() {
        out.push_str("      <task-activities>\n");
        for a in &t.activities {
            activity(out, a, "        ", None);
        }
        for p in &t.precedences {
            precedence(out, p);
        }
        for (entry, after) in &t.replies {
            let _ = writeln!(out, "        <reply-entry name=\"{}\">", escaped(entry));
            for a in after {
                let _ = writeln!(out, "          <reply-activity name=\"{}\"/>", escaped(a));
            }
            out.push_str("        </reply-entry>\n");
        }
        out.push_str("      </task-activities>\n");
    }
    out.push_str("    </task>\n");
}

fn entry(out: &mut String, e: &Entry) {
    let kind = if e.phases.is_empty() {
        "NONE"
    } else {
        "PH1PH2"
    };
    let rate = e
        .open_rate
        .map_or(String::new(), |r| format!(" open-arrival-rate=\"{r}\""));
    let head = format!(
        "      <entry name=\"{}\" type=\"{kind}\"{rate}",
        escaped(&e.name)
    );
    if e.phases.is_empty() && e.forwarding.is_empty() {
        let _ = writeln!(out, "{head}/>");
        return;
    }
    let _ = writeln!(out, "{head}>");
    for (dest, share) in &e.forwarding {
        let _ = writeln!(
            out,
            "        <forwarding dest=\"{}\" prob=\"{share}\"/>",
            escaped(dest)
        );
    }
    if !e.phases.is_empty() {
        out.push_str("        <entry-phase-activities>\n");
        for (number, a) in &e.phases {
            activity(out, a, "          ", Some(*number));
        }
        out.push_str("        </entry-phase-activities>\n");
    }
    out.push_str("      </entry>\n");
}

fn activity(out: &mut String, a: &Activity, indent: &str, phase: Option<u32>) {
    let mut more = String::new();
    if let Some(number) = phase {
        let _ = write!(more, " phase=\"{number}\"");
    }
    if let Some(entry) = &a.bound {
        let _ = write!(more, " bound-to-entry=\"{}\"", escaped(entry));
    }
    if a.demand > 0.0 && a.cvsq != 1.0 {
        let _ = write!(more, " host-demand-cvsq=\"{}\"", a.cvsq);
    }
    if !a.calls.is_empty() {
        let order = if a.deterministic {
            "DETERMINISTIC"
        } else {
            "STOCHASTIC"
        };
        let _ = write!(more, " call-order=\"{order}\"");
    }
    let head = format!(
        "{indent}<activity name=\"{}\" host-demand-mean=\"{}\"{more}",
        escaped(&a.name),
        a.demand
    );
    if a.calls.is_empty() {
        let _ = writeln!(out, "{head}/>");
        return;
    }
    let _ = writeln!(out, "{head}>");
    // Those that wait come first in the schema.
    for waits in [true, false] {
        let verb = if waits { "synch-call" } else { "asynch-call" };
        for c in a.calls.iter().filter(|c| c.waits == waits) {
            let _ = writeln!(
                out,
                "{indent}  <{verb} dest=\"{}\" calls-mean=\"{}\"/>",
                escaped(&c.dest),
                c.mean
            );
        }
    }
    let _ = writeln!(out, "{indent}</activity>");
}

fn precedence(out: &mut String, p: &Precedence) {
    let list = |names: &[String]| -> String {
        let one = |n: &String| format!("<activity name=\"{}\"/>", escaped(n));
        names.iter().map(one).collect()
    };
    let counted = |names: &[(String, f64)], key: &str| -> String {
        let one =
            |(n, x): &(String, f64)| format!("<activity name=\"{}\" {key}=\"{x}\"/>", escaped(n));
        names.iter().map(one).collect()
    };
    let pre = match &p.pre {
        Pre::One(a) => format!("<pre>{}</pre>", list(std::slice::from_ref(a))),
        Pre::Or(all) => format!("<pre-OR>{}</pre-OR>", list(all)),
        Pre::And(all, quorum) => {
            let quorum = quorum.map_or(String::new(), |q| format!(" quorum=\"{q}\""));
            format!("<pre-AND{quorum}>{}</pre-AND>", list(all))
        }
    };
    let post = match &p.post {
        None => String::new(),
        Some(Post::One(a)) => format!("<post>{}</post>", list(std::slice::from_ref(a))),
        Some(Post::Or(arms)) => format!("<post-OR>{}</post-OR>", counted(arms, "prob")),
        Some(Post::And(all)) => format!("<post-AND>{}</post-AND>", list(all)),
        Some(Post::Loop(bodies, end)) => {
            let end = end
                .as_ref()
                .map_or(String::new(), |e| format!(" end=\"{}\"", escaped(e)));
            format!("<post-LOOP{end}>{}</post-LOOP>", counted(bodies, "count"))
        }
    };
    let _ = writeln!(out, "        <precedence>{pre}{post}</precedence>");
}
