//! Steps that stand for several: transfers over links, branches, TLS handshakes.

use super::Programs;
use crate::language::LoadError;
use crate::language::declared;
use crate::language::section::{Section, find};
use crate::model::{KeepAlive, Step, UNLIMITED};
use loadline_stats::random::Dist;

impl Programs<'_> {
    pub(super) fn link(&self, s: &Section<'_>, name: &str) -> Result<usize, LoadError> {
        let links = self.root.named("links")?;
        let known: Vec<&str> = links.iter().map(|l| l.0.as_str()).collect();
        find(name, "link", &known)
            .map_err(|e| s.context.wrong(s.line, format!("{}: {e}", s.path)))?;
        let station = self.model.stations.iter().position(|st| st.name == name);
        station.ok_or_else(|| {
            s.context
                .wrong(s.line, format!("{}: {name} is no link", s.path))
        })
    }

    /// Bytes over a link: its server for as long as they take, then the latency.
    pub(super) fn transfer(
        &self,
        s: &Section<'_>,
        name: &str,
        bytes: Dist,
        steps: &mut Vec<Step>,
    ) -> Result<(), LoadError> {
        let station = self.link(s, name)?;
        let (latency, per_byte) = declared::link(self.root, name)?;
        if per_byte > 0.0 && bytes != Dist::Constant(0.0) {
            steps.push(Step::Visit(station, scaled(bytes, per_byte)));
        }
        if latency != Dist::Constant(0.0) {
            steps.push(Step::Wait(latency));
        }
        Ok(())
    }

    pub(super) fn branch(
        &mut self,
        s: &Section<'_>,
        thread: bool,
        depth: (usize, usize),
    ) -> Result<Step, LoadError> {
        let mut arms = Vec::new();
        let mut total = 0.0;
        for (i, node) in s.list("branch")?.unwrap_or_default().iter().enumerate() {
            let arm = Section::of(s.context, format!("{}.branch[{i}]", s.path), node)?;
            let p = arm.required("p", arm.number("p", 0.0, 1.0)?)?;
            total += p;
            arms.push((p, self.body(&arm, "do", thread, depth)?));
            arm.finish()?;
        }
        if total > 1.0 + 1e-9 {
            return Err(s.wrong(
                "branch",
                format!("the probabilities sum to {total}; they must not exceed 1"),
            ));
        }
        Ok(Step::Branch(arms))
    }

    /// `{ keep_alive = "web", requests = 100, idle = "20s", open = […], reopen = […], heap = "java", holds = "70kB" }`
    pub(super) fn keep_alive(
        &mut self,
        s: &Section<'_>,
        thread: bool,
        depth: (usize, usize),
    ) -> Result<Step, LoadError> {
        if thread {
            return Err(s.wrong(
                "keep_alive",
                "clients keep connections; of a server's own use resources of kind connections",
            ));
        }
        let name = s.required("keep_alive", s.text("keep_alive")?)?;
        let connections = &mut self.model.connections;
        let connection = connections
            .iter()
            .position(|c| *c == name)
            .unwrap_or_else(|| {
                connections.push(name);
                connections.len() - 1
            });
        let open = self.body(s, "open", thread, depth)?;
        let reopen = match s.node("reopen") {
            Some(_) => self.body(s, "reopen", thread, depth)?,
            None => open.clone(),
        };
        let heaps: Vec<&str> = self.model.heaps.iter().map(|h| h.name.as_str()).collect();
        let heap = s.reference("heap", "heap", &heaps)?;
        let holds = match (s.dist("holds")?, heap) {
            (Some(_), Some(heap)) if self.model.heaps[heap].aging.is_none() => {
                return Err(s.wrong("heap", "nothing grows old in it: it has no `max`"));
            }
            (Some(bytes), Some(heap)) => Some((heap, bytes)),
            (None, None) => None,
            (Some(_), None) => return Err(s.wrong("holds", "of which heap? `heap` says it")),
            (None, Some(_)) => return Err(s.wrong("heap", "how much of it? `holds` says it")),
        };
        Ok(Step::KeepAlive(KeepAlive {
            connection,
            holds,
            requests: s.count("requests", 1.0)?.unwrap_or(UNLIMITED),
            idle: s.seconds_or_never("idle")?.unwrap_or(f64::INFINITY),
            open,
            reopen,
        }))
    }

    pub(super) fn handshake(
        &mut self,
        s: &Section<'_>,
        thread: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), LoadError> {
        if !thread {
            return Err(s.wrong(
                "handshake",
                "the server's threads do handshakes: put it into a pool's program",
            ));
        }
        let known: Vec<&str> = self.tls.iter().map(|t| t.name.as_str()).collect();
        let which = s.required(
            "handshake",
            s.reference("handshake", "tls section", &known)?,
        )?;
        let resumed = s.number("resumed", 0.0, 1.0)?.unwrap_or(0.0);
        let latency = match s.text("link")? {
            Some(link) => {
                self.link(s, &link)?;
                declared::link(self.root, &link)?.0
            }
            None => Dist::Constant(0.0),
        };
        let (resumed_phase, full_phase) = (
            self.phase("handshake, resumed"),
            self.phase("handshake, full"),
        );
        let t = &self.tls[which];
        let arm = |cpu: &Dist, trips: f64| {
            let mut body = vec![Step::Cpu(cpu.clone())];
            if latency != Dist::Constant(0.0) && trips > 0.0 {
                body.push(Step::Wait(scaled(latency.clone(), 2.0 * trips)));
            }
            body
        };
        steps.push(Step::Branch(vec![
            (
                resumed,
                vec![Step::Phase(
                    resumed_phase,
                    arm(&t.resumed_cpu, t.resumed_trips),
                )],
            ),
            (
                1.0 - resumed,
                vec![Step::Phase(full_phase, arm(&t.full_cpu, t.full_trips))],
            ),
        ]));
        Ok(())
    }
}

/// A multiple of a distribution.
pub(super) fn scaled(dist: Dist, factor: f64) -> Dist {
    match dist {
        Dist::Constant(x) => Dist::Constant(x * factor),
        Dist::Exponential(x) => Dist::Exponential(x * factor),
        other => Dist::Scaled(factor, Box::new(other)),
    }
}
