//! What a message does. Who may is `who`'s, what it means the manager's.

use loadline_policy::Cpus;

use crate::applications::Origin;
use crate::manager::{Manager, Newcomer};
use crate::message::Message;
use crate::status::Status;
use crate::sys::Peer;
use crate::who::{self, Limits, Masters};
use crate::{ShareError, processes, sys};

/// What the server does besides answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Then {
    #[default]
    Nothing,
    /// The set of applications, or what they want, has changed: decide now.
    Decide,
    /// It wants something else: decided soon, however often it says so.
    DecideSoon,
    /// The connection speaks for this application from now on.
    SpeaksFor(u32),
    Stop,
}

/// The answer, and what follows.
pub(crate) struct Answer {
    pub text: String,
    pub then: Then,
}

fn ok(text: impl Into<String>, then: Then) -> Result<Answer, String> {
    Ok(Answer {
        text: text.into(),
        then,
    })
}

pub(crate) struct Context<'a> {
    pub manager: &'a mut Manager,
    pub masters: Masters,
    pub peer: Peer,
    /// The application that the connection speaks for.
    pub app: Option<u32>,
    pub passed_over: &'a [String],
}

/// Does what a line says. The error is for the one who sent it.
pub(crate) fn execute(line: &str, c: Context<'_>) -> Result<Answer, String> {
    let m = Message::parse(line)?;
    match m.verb {
        "register" => register(&m, c),
        "run" => run(&m, c),
        "adopt" => adopt(&m, c),
        "request" => request(&m, c),
        "report" => report(&m, c),
        "set" => set(&m, c),
        "policy" => policy(&m, c),
        "release" => release(&m, c),
        "status" => {
            m.only(&[])?;
            let status = Status::of(c.manager, c.passed_over);
            ok(
                serde_json::to_string(&status).map_err(|e| e.to_string())?,
                Then::Nothing,
            )
        }
        "stop" => {
            m.only(&[])?;
            who::may_administer(c.masters, c.peer.uid)?;
            ok("ok", Then::Stop)
        }
        other => Err(format!(
            "{other:?} is no message; register, run, adopt, request, report, set, policy, release, status and stop are"
        )),
    }
}

fn said(e: ShareError) -> String {
    e.to_string()
}

fn to_request(request: Option<Option<f64>>) -> Option<Cpus> {
    request.flatten().map(Cpus::from_f64)
}

/// The limits of one more application of this user, and the priority that it asks for.
fn admitted(m: &Message<'_>, c: &Context<'_>, uid: u32) -> Result<(Limits, f64), String> {
    let running = c.manager.apps.iter().filter(|a| a.uid == uid).count();
    let limits = who::may_register(&c.manager.config, c.masters, c.peer.uid, running)?;
    let priority = who::check_priority(limits, m.number("priority", 0.0)?.unwrap_or(1.0))?;
    Ok((limits, priority))
}

fn page_of(c: &Context<'_>, id: u32) -> String {
    let page = c
        .manager
        .find(id)
        .map(|a| a.page.path().display().to_string());
    format!("ok id={id} page={}", page.unwrap_or_default())
}

fn register(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["name", "priority", "request"])?;
    let request = m.request()?;
    if let Some(id) = c.manager.of_pid(c.peer.pid).map(|a| a.id) {
        // Started under the daemon, adopted, or known from before: its name and priority are settled.
        if let (Some(app), Some(request)) = (c.manager.find_mut(id), request) {
            app.demand.ask(request.map(Cpus::from_f64));
        }
        return ok(page_of(&c, id), Then::SpeaksFor(id));
    }
    let (limits, priority) = admitted(m, &c, c.peer.uid)?;
    let name = m
        .name()?
        .map_or_else(|| format!("pid-{}", c.peer.pid), str::to_owned);
    let id = c
        .manager
        .add(Newcomer {
            name,
            pid: c.peer.pid,
            uid: c.peer.uid,
            gid: c.peer.gid,
            origin: Origin::Registered,
            priority,
            asked: to_request(request),
            limits,
            force: false,
        })
        .map_err(said)?;
    ok(page_of(&c, id), Then::SpeaksFor(id))
}

/// The sender is about to become the application: it executes it next.
fn run(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["name", "priority", "request"])?;
    let (limits, priority) = admitted(m, &c, c.peer.uid)?;
    let name = m.name()?.ok_or("run needs a name")?.to_owned();
    let id = c
        .manager
        .add(Newcomer {
            name,
            pid: c.peer.pid,
            uid: c.peer.uid,
            gid: c.peer.gid,
            origin: Origin::Run,
            priority,
            asked: to_request(m.request()?),
            limits,
            // Whatever its shell is in: who says `run` means it.
            force: true,
        })
        .map_err(said)?;
    ok(page_of(&c, id), Then::Decide)
}

fn adopt(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["pid", "name", "priority", "request", "force"])?;
    let pid = m.pid()?.ok_or("adopt needs a pid")?;
    let (uid, gid) = processes::owner(pid).ok_or_else(|| format!("there is no process {pid}"))?;
    if uid != c.peer.uid {
        who::may_administer(c.masters, c.peer.uid)?;
    }
    let force = match m.text("force") {
        None => false,
        Some("1") => true,
        Some(other) => return Err(format!("force is {other:?}; it is 1, or not said")),
    };
    if force {
        who::may_administer(c.masters, c.peer.uid)?;
    }
    if let Some(app) = c.manager.of_pid(pid) {
        return Err(format!("process {pid} is managed already, as {}", app.name));
    }
    let (limits, priority) = admitted(m, &c, uid)?;
    let name = m
        .name()?
        .map_or_else(|| format!("pid-{pid}"), str::to_owned);
    let asked = to_request(m.request()?);
    let newcomer = Newcomer {
        name,
        pid,
        uid,
        gid,
        origin: Origin::Adopted,
        priority,
        asked,
        limits,
        force,
    };
    let id = c.manager.add(newcomer).map_err(said)?;
    ok(page_of(&c, id), Then::Decide)
}

/// Of the application that the connection speaks for.
fn request(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["request"])?;
    let request = m
        .request()?
        .ok_or("request needs request=CPUS or request=auto")?;
    let app = c
        .app
        .and_then(|id| c.manager.find_mut(id))
        .ok_or("register first")?;
    app.demand.ask(request.map(Cpus::from_f64));
    ok("ok", Then::DecideSoon)
}

fn report(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["goodput", "p95_ms", "revenue"])?;
    let (goodput, p95_ms) = (m.number("goodput", 0.0)?, m.number("p95_ms", 0.0)?);
    let revenue = m.number("revenue", 0.0)?;
    let app = c
        .app
        .and_then(|id| c.manager.find_mut(id))
        .ok_or("register first")?;
    app.reported.goodput = goodput.or(app.reported.goodput);
    app.reported.p95_ms = p95_ms.or(app.reported.p95_ms);
    app.demand.revenue = revenue.unwrap_or(app.demand.revenue);
    ok("ok", Then::Nothing)
}

fn named(m: &Message<'_>, c: &Context<'_>) -> Result<u32, String> {
    let name = m
        .name()?
        .ok_or_else(|| format!("{} needs a name", m.verb))?;
    let app = c.manager.apps.iter().find(|a| a.name == name);
    let app = app.ok_or_else(|| {
        let names: Vec<&str> = c.manager.apps.iter().map(|a| a.name.as_str()).collect();
        format!(
            "no application {name} is managed; managed: {}",
            if names.is_empty() {
                "none".into()
            } else {
                names.join(", ")
            }
        )
    })?;
    who::may_change(c.masters, c.peer.uid, app.uid)?;
    Ok(app.id)
}

fn set(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["name", "priority", "request", "revenue"])?;
    let id = named(m, &c)?;
    let (priority, request, revenue) = (
        m.number("priority", 0.0)?,
        m.request()?,
        m.number("revenue", 0.0)?,
    );
    if priority.is_none() && request.is_none() && revenue.is_none() {
        return Err("set needs a priority, a request or a revenue".into());
    }
    let master = c.masters.include(c.peer.uid);
    let app = c.manager.find_mut(id).ok_or("it has just gone")?;
    if let Some(priority) = priority {
        let limits = if master {
            Limits {
                priority: f64::INFINITY,
                ..app.demand.limits
            }
        } else {
            app.demand.limits
        };
        app.demand.priority = who::check_priority(limits, priority)?;
    }
    if let Some(request) = request {
        app.demand.settled = request.is_some();
        app.demand.asked = request.map(Cpus::from_f64);
    }
    app.demand.revenue = revenue.unwrap_or(app.demand.revenue);
    ok("ok", Then::Decide)
}

fn policy(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["policy", "sharing"])?;
    who::may_administer(c.masters, c.peer.uid)?;
    // Checked both before either counts.
    let policy = m
        .text("policy")
        .map(|p| p.parse().map_err(|()| format!("{p:?} is no policy")))
        .transpose()?;
    let sharing = m
        .text("sharing")
        .map(|s| s.parse().map_err(|()| format!("{s:?} is no sharing rule")))
        .transpose()?;
    c.manager.config.policy = policy.unwrap_or(c.manager.config.policy);
    c.manager.config.sharing = sharing.unwrap_or(c.manager.config.sharing);
    ok("ok", Then::Decide)
}

fn release(m: &Message<'_>, c: Context<'_>) -> Result<Answer, String> {
    m.only(&["name"])?;
    let id = named(m, &c)?;
    c.manager.remove(id).map_err(said)?;
    ok("ok", Then::Decide)
}

/// Who called sudo, if the daemon was started so.
pub(crate) fn masters() -> Masters {
    let sudo = std::env::var("SUDO_UID").ok().and_then(|u| u.parse().ok());
    Masters {
        daemon: sys::uid(),
        sudo: sudo.filter(|_| sys::uid() == 0),
    }
}
