//! `trace.json`: what the session says, completed by what the agent found out inside the target.

use loadline_trace::meta::{Level, Meta};
use loadline_trace::spool::agent;

use crate::input::Input;

/// What only the agent knows about the target.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct AgentInfo {
    jvm: String,
    java: u32,
    server: Option<String>,
    name: Option<String>,
    server_by: Option<String>,
}

/// Whether the agent had probes in place, those in virtual threads too.
pub fn has_probes(input: &Input) -> bool {
    let info = input.header.as_ref().map(|h| h.info.as_str());
    let info: AgentInfo = serde_json::from_str(info.unwrap_or("{}")).unwrap_or_default(); // it has said nothing
    info.server_by.as_deref() == Some("probes")
}

pub fn meta(input: &Input, end: i64, kernel_events: u64, agent_events: u64) -> Meta {
    let s = &input.session;
    let mut meta = Meta {
        writer: s.writer.clone(),
        begin_ns: s.begin_ns,
        end_ns: end,
        begin_unix_ns: s.begin_unix_ns,
        target: s.target.clone(),
        machine: s.machine.clone(),
        levels: s.levels.clone(),
        losses: input.losses(),
        ended: if s.ended.is_empty() {
            "recovered".into()
        } else {
            s.ended.clone()
        },
        notes: s.notes.clone(),
        not_recorded: s.not_recorded.clone(),
        events: kernel_events + agent_events,
        ..Meta::default()
    };
    if s.redact {
        meta.notes.push(
            "redacted: addresses, and what stands for one customer in a path, were left out".into(),
        );
    }
    if let Some(h) = &input.header {
        describe_target(&mut meta, h);
    }
    if let Some(why) = agent_failure(input, agent_events) {
        for level in ["jvm", "server", "app"] {
            if let Some(l) = meta.levels.get_mut(level).filter(|l| l.recorded) {
                *l = Level {
                    recorded: false,
                    why: why.clone(),
                };
            }
        }
    }
    meta
}

fn describe_target(meta: &mut Meta, header: &agent::Header) {
    if let Ok(info) = serde_json::from_str::<AgentInfo>(&header.info) {
        if !info.jvm.is_empty() {
            meta.target.jvm = info.jvm;
        }
        if info.java > 0 {
            meta.target.java = info.java;
        }
        meta.target.server = info
            .server
            .filter(|s| !s.is_empty())
            .or(meta.target.server.take());
        if meta.target.name.is_empty() {
            meta.target.name = info.name.unwrap_or_default();
        }
    }
    if header.spared_stacks > 0 {
        meta.notes.push(format!(
            "{} long waits have no stack, so that stacks take no more than 0.5% of a CPU: with a longer --stacks more of those have one",
            header.spared_stacks
        ));
    }
    if header.spared_samples > 0 {
        meta.notes.push(format!(
            "{} samples were left out, so that sampling takes no more than 0.5% of a CPU: those after them stand for their time; a longer --samples spreads them evenly",
            header.spared_samples
        ));
    }
    if header.spared_allocations > 0 {
        meta.notes.push(format!(
            "{} samples of allocations were left out, so that they take no more than 0.5% of a CPU: those after them on the same threads, where there are any, stand for their bytes; with a larger --allocations fewer are",
            header.spared_allocations
        ));
    }
    if header.calls_left_out > 0 {
        meta.notes.push(format!(
            "{} calls of methods were left out by filters, or because they were short, outside of any invocation that was recorded",
            header.calls_left_out
        ));
    }
    meta.notes.extend(header.warnings());
}

/// Why nothing came from the agent, if nothing did.
fn agent_failure(input: &Input, events: u64) -> Option<String> {
    use agent::state;
    let header = input.header.as_ref();
    match header.map(|h| h.state) {
        Some(state::FAILED) => Some(header.map(|h| h.message.clone()).unwrap_or_default()),
        None | Some(state::CREATED) if events == 0 => {
            Some("the agent never answered inside the JVM".into())
        }
        _ => None,
    }
}
