//! The machine, its threads, and what they do for a request or a piece of a handshake.

use std::fmt::Write;

use super::numbers::{digits, drawn, time};
use super::shared::{at_queue, cpu_outside, locked, sections, wait_outside};
use super::{kinds, plain, pool_name};
use crate::fit::{Class, Fit};

/// Linux 6.6 to 6.18 as distributed: `base_slice_ns` for 2 CPUs; for 1 it is 0.7 ms.
const SLICE: &str = "1.4ms";

/// Of the times that a dispatcher is awake, the share from which on waiting for a lock is part of it.
const LOCKED: f64 = 0.01;

pub(super) fn machines(out: &mut String, fit: &Fit) {
    let contention = fit.contention.map_or(String::new(), |c| {
        format!(
            "contention = \"contention\"\ncontention_at = \"contention_at\"\ncontention_over = \"{}ms\"\n",
            1e3 * c.over
        )
    });
    let _ = writeln!(
        out,
        "[machines.server]\ncores = \"cpus\"\nspeed = \"speed\"\nscheduler = \"eevdf\"\nslice = \"{SLICE}\"\n{contention}"
    );
    if let Some(c) = &fit.collections {
        let growth = c.growth.map_or(
            "",
            |_| "growth = \"pause_growth\"\ngrowth_at = \"pause_at\"\n",
        );
        let aging = c.aging.as_ref().map_or(
            "",
            |_| "max = \"heap_max\"\nold = \"heap_old\"\nmark_cpu = \"mark_cpu\"\n",
        );
        let _ = writeln!(
            out,
            "[heaps.java]\nmachine = \"server\"\nyoung = \"young\"\ncpu = \"{}\"\nthreads = 1\n{growth}{aging}",
            drawn("pause", &c.pause)
        );
    }
    for (i, pool) in fit.pools.iter().enumerate() {
        let _ = writeln!(
            out,
            "[resources.{0}]    # {1}\nkind = \"semaphore\"\nunits = \"{0}\"\n",
            pool_name(i),
            plain(&pool.name)
        );
    }
    if locks_dispatcher(fit) {
        let _ = writeln!(
            out,
            "# Who wakes the dispatcher does so with its selector's lock in hand, and may lose the CPU to it.\n\
             [resources.selector]\nkind = \"mutex\"\n"
        );
    }
    sections(out, fit);
}

fn locks_dispatcher(fit: &Fit) -> bool {
    fit.costs.dispatcher_locked >= LOCKED
}

pub(super) fn pools(out: &mut String, fit: &Fit) {
    let heap = if fit.collections.is_some() {
        "heap = \"java\"\n"
    } else {
        ""
    };
    let dispatched = fit.costs.dispatch.count > 0;
    if fit.costs.accept.count > 0 {
        let _ = writeln!(
            out,
            "[pools.acceptor]\nmachine = \"server\"\nthreads = 1\nprogram = [ {{ cpu = \"overhead_factor * accept\" }} ]\n"
        );
    }
    let asleep = "# A thread that was asleep pays for being woken: here as one that is created when there is work and ends when there is none.";
    let locked = if locks_dispatcher(fit) {
        "{ acquire = \"selector\", do = [ { cpu = 0 } ] }, "
    } else {
        ""
    };
    if dispatched {
        let by_class: Vec<String> = fit
            .classes
            .iter()
            .map(|c| format!("{0} = [ {{ forward = \"worker.{0}\" }} ]", c.name))
            .collect();
        let _ = writeln!(
            out,
            "{asleep}\n[pools.dispatcher]\nmachine = \"server\"\nmin_threads = 0\nmax_threads = 1\nidle_timeout = 0\n\
             create_cpu = \"overhead_factor * dispatcher_woken\"\n{heap}\n[pools.dispatcher.entries]\n\
             page = [ {locked}{{ cpu = \"overhead_factor * dispatch\" }}, {{ by_class = {{ {} }} }} ]",
            by_class.join(", ")
        );
        for (kind, h) in kinds(fit) {
            for i in 1..=h.pieces.len() {
                let _ = writeln!(
                    out,
                    "{kind}_{i} = [ {locked}{{ cpu = \"overhead_factor * dispatch\" }}, {{ forward = \"worker.{kind}_{i}\" }} ]"
                );
            }
        }
        let _ = writeln!(out, "back = [ {locked}{{ cpu = 0 }} ]\n");
    }
    // Tomcat's queue is a LinkedBlockingQueue.
    let signal = if dispatched && fit.costs.queued {
        "signal = \"in-turn\"\n"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "{}[pools.worker]\nmachine = \"server\"\nmin_threads = 0\nmax_threads = \"workers\"\nidle_timeout = 0\n{signal}\
         create_cpu = \"overhead_factor * worker_woken\"\n{heap}\n[pools.worker.entries]",
        if dispatched {
            String::new()
        } else {
            format!("{asleep}\n")
        }
    );
    let after = match (dispatched, locks_dispatcher(fit)) {
        (true, true) => ", { acquire = \"selector\", do = [ { send = \"dispatcher.back\" } ] }",
        (true, false) => ", { send = \"dispatcher.back\" }",
        (false, _) => "",
    };
    for c in &fit.classes {
        let _ = writeln!(
            out,
            "{} = [\n{}  {{ reply = true }}, {{ cpu = \"other_request + overhead_factor * (visit + next_visit)\" }}{after}\n]",
            c.name,
            request(c, fit)
        );
    }
    for (kind, h) in kinds(fit) {
        for (i, (_, cpu)) in h.pieces.iter().enumerate() {
            let name = format!("{kind}_{}", i + 1);
            let other = if i == 0 {
                format!("other_{kind} + ")
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "{name} = [ {{ cpu = \"handshake_factor * {}\" }}, {}{{ reply = true }}, {{ cpu = \"{other}overhead_factor * (visit + next_visit)\" }}{after} ]",
                drawn(&name, cpu),
                allocate(fit, &name)
            );
        }
    }
    out.push('\n');
    client(out, fit);
    for s in &fit.background {
        let _ = writeln!(
            out,
            "[pools.vm_{0}]\nmachine = \"server\"\nthreads = 1\n{heap}program = [ {{ cpu = \"{1}\" }} ]\n\
             [classes.vm_{0}]\nbackground = true\nrate = \"{0}_rate\"\nprogram = [ {{ call = \"vm_{0}\" }} ]\n",
            s.name,
            drawn(&format!("{}_burst", s.name), &s.cpu)
        );
    }
}

/// The client's own thread, where it has its CPU from the server's machine. A pause of it in a handshake is then its CPU, of
/// which half are less than the median: what is longer waited for something else. The rest of its CPU is half before each
/// request and half after its reply.
fn client(out: &mut String, fit: &Fit) {
    let mut entries = String::new();
    let mut pauses = 0.0;
    for (kind, h) in kinds(fit) {
        for (i, (pause, _)) in h.pieces.iter().enumerate() {
            let cpu = pause.median();
            pauses += h.count as f64 * cpu;
            let _ = writeln!(
                entries,
                "{kind}_{} = [ {{ cpu = \"{}\" }} ]",
                i + 1,
                time(cpu)
            );
        }
    }
    let requests: usize = fit.classes.iter().map(|c| c.count).sum();
    let _ = writeln!(
        out,
        "[pools.client]\nmachine = \"server\"\nthreads = 1\n[pools.client.entries]\n\
         page = [ {{ cpu = \"max(client_cpu - {}, 0) / 2\" }} ]\n{entries}",
        time(pauses / requests.max(1) as f64)
    );
}

/// What a client does itself where it shares the server's CPUs, and what stands for it where it does not, if anything.
pub(super) fn at_client(entry: &str, elsewhere: Option<&str>) -> String {
    let elsewhere = elsewhere.map_or(String::new(), |step| {
        format!(", {{ p = \"if(client_cpu > 0, 0, 1)\", do = [ {step} ] }}")
    });
    format!(
        "{{ branch = [ {{ p = \"if(client_cpu > 0, 1, 0)\", do = [ {{ call = \"client.{entry}\" }} ] }}{elsewhere} ] }}"
    )
}

fn allocate(fit: &Fit, cpu: &str) -> String {
    if fit.collections.is_some() {
        format!("{{ allocate = \"allocation * ({cpu})\" }}, ")
    } else {
        String::new()
    }
}

/// What a worker does for a request, until its reply.
fn request(c: &Class, fit: &Fit) -> String {
    let mut out = String::new();
    let mut held = Vec::new();
    // Shares of requests that ask for a connection at all, and how often those that do.
    let taken: f64 = c
        .acquisitions
        .iter()
        .map(|(n, share)| f64::from(*n) * share)
        .sum();
    let none = c
        .acquisitions
        .iter()
        .find(|a| a.0 == 0)
        .map_or(0.0, |a| a.1);
    let pool = c.pool.filter(|_| none < 0.99);
    let pooled = pool.is_some();
    let over = if pooled && taken > 0.0 && (taken - 1.0).abs() > 0.01 {
        format!(" / {}", digits(taken))
    } else {
        String::new()
    };
    for part in &c.parts {
        let inside = pooled && matches!(part.name, "held" | "sql");
        let over = if inside { over.as_str() } else { "" };
        let cpu = format!(
            "{{ cpu = \"{}_factor * {}{over}\" }}",
            part.name,
            drawn(&cpu_outside(c, part.name, fit), &part.law),
        );
        let steps = std::iter::once(cpu).chain(locked(c, part.name, over, fit));
        if inside {
            held.extend(steps);
        } else {
            steps.for_each(|step| {
                let _ = writeln!(out, "  {step},");
            });
        }
    }
    if let Some(wait) = &c.sql_wait {
        let step = format!(
            "{{ wait = \"{}{}\" }}",
            drawn(&wait_outside(c, "database", &["sql"], fit), wait),
            if pooled { over.as_str() } else { "" }
        );
        if pooled {
            held.push(step);
        } else {
            let _ = writeln!(out, "  {step},");
        }
    }
    if let Some(step) = at_queue(c, "database", if pooled { over.as_str() } else { "" }, fit) {
        if pooled {
            held.push(step);
        } else {
            let _ = writeln!(out, "  {step},");
        }
    }
    if let Some(wait) = &c.service_wait {
        let services = format!("{}_services", c.name);
        let _ = writeln!(out, "  {{ wait = \"{}\" }},", drawn(&services, wait));
    }
    if let Some(step) = at_queue(c, "services", "", fit) {
        let _ = writeln!(out, "  {step},");
    }
    if let Some(wait) = &c.other_wait {
        let outside = wait_outside(c, "outside", &["container", "service", "held"], fit);
        let _ = writeln!(out, "  {{ wait = \"{}\" }},", drawn(&outside, wait));
    }
    if let Some(pool) = pool.filter(|_| !held.is_empty()) {
        let acquire = format!(
            "{{ acquire = \"{}\", do = [ {} ] }}",
            pool_name(pool),
            held.join(", ")
        );
        let most = c.acquisitions.iter().map(|a| a.0).max().unwrap_or(0);
        let _ = match (most, none) {
            (1, none) if none < 0.01 => writeln!(out, "  {acquire},"),
            (1, none) => writeln!(
                out,
                "  {{ branch = [ {{ p = {}, do = [ {acquire} ] }} ] }},",
                digits(1.0 - none)
            ),
            _ => {
                let times: Vec<String> = c
                    .acquisitions
                    .iter()
                    .map(|(n, share)| format!("{}, {n}", digits(*share)))
                    .collect();
                let times = if times.len() == 1 {
                    most.to_string()
                } else {
                    format!("\"mix({})\"", times.join(", "))
                };
                writeln!(out, "  {{ repeat = {times}, do = [ {acquire} ] }},")
            }
        };
    }
    let parts: Vec<String> = c
        .parts
        .iter()
        .map(|p| format!("{}_{}", c.name, p.name))
        .collect();
    let allocates = allocate(fit, &parts.join(" + "));
    if !allocates.is_empty() {
        let _ = writeln!(out, "  {allocates}");
    }
    out
}
