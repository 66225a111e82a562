//! Programs as flat code: the structured steps of a model become operations with jumps, which a thread can leave and
//! re-enter at any point by keeping one number.
//!
//! Every place that draws gets a *site*: its distribution with a random stream named after the place.

use crate::model::{KeepAlive, Mode, Model, Step};
use crate::time::Nanos;
use loadline_stats::random::{Dist, Stream};

/// Index of a drawing place.
pub type Site = u32;

/// Deepest nesting of loops in one program.
pub const LOOPS: usize = 4;
/// Deepest nesting of phases in one program.
pub const PHASES: usize = 4;

/// One operation.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    Cpu(Site),
    Wait(Site),
    Sleep {
        site: Site,
        tick: Nanos,
    },
    Visit(u32, Site),
    Acquire {
        resource: u32,
        mode: Mode,
        patience: Site,
    },
    Release {
        resource: u32,
        mode: Mode,
    },
    Await {
        condition: u32,
        mutex: u32,
    },
    Notify {
        condition: u32,
        all: bool,
    },
    Call {
        entry: u32,
        patience: Site,
    },
    Forward(u32),
    Send(u32),
    Reply,
    Fork {
        branches: u32,
        wait_for: u32,
    },
    Branch {
        site: Site,
        arms: u32,
    },
    ByClass(u32),
    KeepAlive(u32),
    Jump(u32),
    LoopBegin {
        site: Site,
        end: u32,
    },
    LoopEnd {
        begin: u32,
    },
    Allocate(Site),
    PhaseBegin,
    PhaseEnd(u32),
    Admit {
        guard: u32,
        site: Site,
    },
    Fail,
    End,
}

/// Stands for "no site".
pub const NO_SITE: Site = u32::MAX;

/// A distribution and the stream that it draws from.
pub struct Sampler {
    pub dist: Dist,
    pub stream: Stream,
}

impl Sampler {
    #[inline]
    pub fn draw(&mut self) -> f64 {
        self.dist.sample(&mut self.stream)
    }
}

/// When a kept connection is closed, and how it is opened.
#[derive(Debug, Clone, Copy)]
pub struct Keep {
    pub connection: u32,
    pub requests: u32,
    pub idle: Nanos,
    pub open: u32,
    pub reopen: u32,
    /// The heap that the server holds something of meanwhile, and how much.
    pub holds: Option<(u32, Site)>,
}

/// All programs of a model.
#[derive(Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// (distribution, name of the place)
    pub sites: Vec<(Dist, String)>,
    /// Cumulative probabilities and where they lead.
    pub arms: Vec<Vec<(f64, u32)>>,
    /// Class and where its program begins.
    pub class_arms: Vec<Vec<(u32, u32)>>,
    /// Connections that clients keep.
    pub keeps: Vec<Keep>,
    /// Where each branch of a fork begins.
    pub forks: Vec<Vec<u32>>,
    /// Where each class's program begins.
    pub classes: Vec<u32>,
    /// Where each entry's program begins.
    pub entries: Vec<u32>,
}

impl Code {
    /// Flattens every program of `model`.
    pub fn of(model: &Model) -> Code {
        let mut code = Code::default();
        for class in &model.classes {
            let start = code.program(&class.program, &format!("class.{}", class.name));
            code.classes.push(start);
        }
        for entry in &model.entries {
            let start = code.program(&entry.program, &format!("entry.{}", entry.name));
            code.entries.push(start);
        }
        code
    }

    /// A drawing place called `name`.
    pub fn site(&mut self, dist: &Dist, name: String) -> Site {
        self.sites.push((dist.clone(), name));
        (self.sites.len() - 1) as Site
    }

    fn optional(&mut self, dist: &Option<Dist>, name: &str) -> Site {
        dist.as_ref()
            .map_or(NO_SITE, |d| self.site(d, format!("{name}.patience")))
    }

    fn program(&mut self, steps: &[Step], name: &str) -> u32 {
        let start = self.here();
        self.steps(steps, name);
        self.ops.push(Op::End);
        start
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    fn steps(&mut self, steps: &[Step], name: &str) {
        for (i, step) in steps.iter().enumerate() {
            self.step(step, &format!("{name}.{i}"));
        }
    }

    fn step(&mut self, step: &Step, name: &str) {
        let op = match step {
            Step::Cpu(d) => Op::Cpu(self.site(d, name.into())),
            Step::Wait(d) => Op::Wait(self.site(d, name.into())),
            Step::Sleep(d, tick) => Op::Sleep {
                site: self.site(d, name.into()),
                tick: Nanos::from_seconds(*tick),
            },
            Step::Visit(s, d) => Op::Visit(*s as u32, self.site(d, name.into())),
            Step::Acquire(r, mode, patience) => Op::Acquire {
                resource: *r as u32,
                mode: *mode,
                patience: self.optional(patience, name),
            },
            Step::Release(r, mode) => Op::Release {
                resource: *r as u32,
                mode: *mode,
            },
            Step::Await { condition, mutex } => Op::Await {
                condition: *condition as u32,
                mutex: *mutex as u32,
            },
            Step::Notify(c, all) => Op::Notify {
                condition: *c as u32,
                all: *all,
            },
            Step::Call(e, patience) => Op::Call {
                entry: *e as u32,
                patience: self.optional(patience, name),
            },
            Step::Forward(e) => Op::Forward(*e as u32),
            Step::Send(e) => Op::Send(*e as u32),
            Step::Reply => Op::Reply,
            Step::Allocate(d) => Op::Allocate(self.site(d, name.into())),
            Step::Admit(g, new) => {
                let dist = Dist::Mixture(vec![
                    (*new, Dist::Constant(1.0)),
                    (1.0 - new, Dist::Constant(0.0)),
                ]);
                Op::Admit {
                    guard: *g as u32,
                    site: self.site(&dist, name.into()),
                }
            }
            Step::Fail => Op::Fail,
            Step::Phase(phase, body) => {
                self.ops.push(Op::PhaseBegin);
                self.steps(body, name);
                Op::PhaseEnd(*phase as u32)
            }
            Step::Fork(branches, wait_for) => return self.fork(branches, *wait_for, name),
            Step::Branch(arms) => return self.branch(arms, name),
            Step::ByClass(arms) => return self.by_class(arms, name),
            Step::KeepAlive(k) => return self.keep_alive(k, name),
            Step::Loop(times, body) => return self.repeat(times, body, name),
        };
        self.ops.push(op);
    }

    fn patch(&mut self, places: &[usize]) {
        let here = self.here();
        for &place in places {
            self.ops[place] = Op::Jump(here);
        }
    }

    fn placeholder(&mut self) -> usize {
        self.ops.push(Op::Jump(0));
        self.ops.len() - 1
    }

    fn fork(&mut self, branches: &[Vec<Step>], wait_for: u32, name: &str) {
        let table = self.forks.len() as u32;
        self.forks.push(Vec::new());
        self.ops.push(Op::Fork {
            branches: table,
            wait_for,
        });
        let over = self.placeholder();
        for (i, branch) in branches.iter().enumerate() {
            let start = self.program(branch, &format!("{name}.fork{i}"));
            self.forks[table as usize].push(start);
        }
        self.patch(&[over]);
    }

    fn branch(&mut self, arms: &[(f64, Vec<Step>)], name: &str) {
        let site = self.site(&Dist::Uniform(0.0, 1.0), name.into());
        let table = self.arms.len();
        self.arms.push(Vec::new());
        self.ops.push(Op::Branch {
            site,
            arms: table as u32,
        });
        let mut ends = vec![self.placeholder()];
        let mut cumulative = 0.0;
        for (i, (p, body)) in arms.iter().enumerate() {
            cumulative += p;
            let start = self.here();
            self.arms[table].push((cumulative, start));
            self.steps(body, &format!("{name}.arm{i}"));
            ends.push(self.placeholder());
        }
        // Rounding must not let a draw fall between the last arm and 1.
        if (cumulative - 1.0).abs() < 1e-9
            && let Some(last) = self.arms[table].last_mut()
        {
            last.0 = 1.0;
        }
        self.patch(&ends);
    }

    fn keep_alive(&mut self, k: &KeepAlive, name: &str) {
        self.ops.push(Op::KeepAlive(self.keeps.len() as u32));
        let table = self.keeps.len();
        let mut keep = Keep {
            connection: k.connection as u32,
            requests: k.requests,
            idle: Nanos::from_seconds(k.idle),
            open: 0,
            reopen: 0,
            holds: k
                .holds
                .as_ref()
                .map(|(heap, bytes)| (*heap as u32, self.site(bytes, format!("{name}.holds")))),
        };
        self.keeps.push(keep);
        let open_still = self.placeholder();
        keep.open = self.here();
        self.steps(&k.open, &format!("{name}.open"));
        let opened = self.placeholder();
        keep.reopen = self.here();
        self.steps(&k.reopen, &format!("{name}.reopen"));
        self.keeps[table] = keep;
        self.patch(&[open_still, opened]);
    }

    fn by_class(&mut self, arms: &[(usize, Vec<Step>)], name: &str) {
        let table = self.class_arms.len();
        self.class_arms.push(Vec::new());
        self.ops.push(Op::ByClass(table as u32));
        let mut ends = vec![self.placeholder()];
        for (class, body) in arms {
            let start = self.here();
            self.class_arms[table].push((*class as u32, start));
            self.steps(body, &format!("{name}.class{class}"));
            ends.push(self.placeholder());
        }
        self.patch(&ends);
    }

    fn repeat(&mut self, times: &Dist, body: &[Step], name: &str) {
        let site = self.site(times, name.into());
        let begin = self.here();
        self.ops.push(Op::LoopBegin { site, end: 0 });
        self.steps(body, &format!("{name}.loop"));
        self.ops.push(Op::LoopEnd { begin });
        let end = self.here();
        self.ops[begin as usize] = Op::LoopBegin { site, end };
    }
}
