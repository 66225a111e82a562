//! What clients do: classes, connections, sessions.

use std::fmt::Write;

use super::numbers::{digits, drawn, time};
use super::programs::at_client;
use crate::fit::{END, Fit, Handshake, Think};

pub(super) fn visitors(out: &mut String, fit: &Fit) {
    let v = &fit.visitors;
    let through = if fit.costs.dispatch.count > 0 {
        "dispatcher"
    } else {
        "worker"
    };
    let pieces = |kind: &str, h: &Handshake| {
        let steps: Vec<String> = h
            .pieces
            .iter()
            .enumerate()
            .map(|(i, (pause, _))| {
                let name = format!("{kind}_pause_{}", i + 1);
                let piece = format!("{kind}_{}", i + 1);
                let pause = format!("{{ wait = \"{}\" }}", drawn(&name, pause));
                format!(
                    "{}, {{ call = \"{through}.{piece}\" }}",
                    at_client(&piece, Some(&pause))
                )
            })
            .collect();
        steps.join(",\n      ")
    };
    let open = |resume: &str| {
        let mut steps = vec!["{ wait = \"2 * network\" }".to_owned()];
        if fit.costs.accept.count > 0 {
            steps.push("{ call = \"acceptor\" }".into());
        }
        match (&fit.full, &fit.resumed) {
            (Some(full), Some(resumed)) => steps.push(format!(
                "{{ branch = [\n    {{ p = \"{resume}\", do = [\n      {} ] }},\n    {{ p = \"1 - {resume}\", do = [\n      {} ] }} ] }}",
                pieces("resumed", resumed),
                pieces("full", full)
            )),
            (Some(h), None) => steps.push(pieces("full", h)),
            (None, Some(h)) => steps.push(pieces("resumed", h)),
            (None, None) => {}
        }
        steps.join(", ")
    };
    let timeout = v
        .timeout
        .map_or(String::new(), |t| format!("timeout = \"{}\"\n", time(t)));
    for (i, c) in fit.classes.iter().enumerate() {
        if i > 0 {
            let _ = writeln!(
                out,
                "[classes.{}]\nlike = \"{}\"\n",
                c.name, fit.classes[0].name
            );
            continue;
        }
        let call = if fit.costs.dispatch.count > 0 {
            "{ call = \"dispatcher.page\" }".to_owned()
        } else {
            let arms: Vec<String> = fit
                .classes
                .iter()
                .map(|c| format!("{0} = [ {{ call = \"worker.{0}\" }} ]", c.name))
                .collect();
            format!("{{ by_class = {{ {} }} }}", arms.join(", "))
        };
        let page = at_client("page", None);
        let ages = fit.collections.as_ref().is_some_and(|c| c.aging.is_some());
        let holds = if ages {
            "heap = \"java\", holds = \"connection_holds\", "
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "# Every class is asked for in the same way: over a connection that is kept, or opened.\n[classes.{}]\n{timeout}program = [\n  \
             {{ keep_alive = \"web\", requests = \"per_connection\", {holds}open = [ {} ],\n    reopen = [ {} ] }},\n  \
             {page}, {{ wait = \"network\" }}, {call}, {{ wait = \"network\" }}, {page}\n]\n",
            c.name,
            open("resume_first"),
            open("resume_later"),
        );
    }
    let class_of = |route: &str| {
        let found = fit
            .classes
            .iter()
            .find(|c| c.routes.iter().any(|r| r == route));
        found.map(|c| c.name.clone())
    };
    let mut start: std::collections::BTreeMap<String, f64> = Default::default();
    for (route, weight) in &v.start {
        if let Some(class) = class_of(route) {
            *start.entry(class).or_default() += weight;
        }
    }
    let mut next: std::collections::BTreeMap<String, std::collections::BTreeMap<String, f64>> =
        Default::default();
    for (route, row) in &v.next {
        let Some(from) = class_of(route) else {
            continue;
        };
        for (to, weight) in row {
            let to = if to == END {
                Some(END.to_owned())
            } else {
                class_of(to)
            };
            if let Some(to) = to {
                *next.entry(from.clone()).or_default().entry(to).or_default() += weight;
            }
        }
    }
    let table = |row: &std::collections::BTreeMap<String, f64>| {
        let cells: Vec<String> = row
            .iter()
            .map(|(k, w)| format!("{k} = {}", digits(*w)))
            .collect();
        format!("{{ {} }}", cells.join(", "))
    };
    let mut phases: Vec<String> = v
        .phases
        .iter()
        .map(|(seconds, from, to)| {
            let level = if from == to {
                format!("level = {}", digits(*from))
            } else {
                format!("from = {}, to = {}", digits(*from), digits(*to))
            };
            format!("{{ for = \"{}\", {level} }}", time(*seconds))
        })
        .collect();
    if !phases.is_empty() {
        phases = vec![format!(
            "phase = [ {} ]\nrepeat = {}\n",
            phases.join(", "),
            v.repeat
        )];
    }
    let phases = phases.concat();
    let think = match &v.think {
        Think::Mean(_) => "think * exp(1)".to_owned(),
        Think::Law(law) => drawn("think", law),
    };
    let _ = writeln!(
        out,
        "# From {}. Weights are how often each followed each.\n[sessions.visitors]\nrate = \"rate\"\n{phases}clients = \"users\"\non_failure = \"leave\"\nthink = \"{think}\"\nstart = {}\n[sessions.visitors.next]",
        v.source,
        table(&start)
    );
    for (from, row) in &next {
        let _ = writeln!(out, "{from} = {}", table(row));
    }
}
