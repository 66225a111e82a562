//! The lines that `JfrEvents.java` prints, taken apart. Times are ns since 1970.

use std::collections::HashMap;

use anyhow::{Context, Result, anyhow};

/// A thread as the flight recorder knows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thread {
    pub java_id: Option<i64>,
    pub tid: Option<i32>,
    pub name: String,
    pub is_virtual: bool,
    pub start: Option<i64>,
    pub stop: Option<i64>,
    pub parent: Option<i64>,
}

/// Why a thread was blocked.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocked {
    /// Contended monitor: class, address, thread that held it.
    Enter(String, Option<i64>, Option<i64>),
    /// `Object.wait`: class, address, notifier, whether time ran out.
    Wait(String, Option<i64>, Option<i64>, bool),
    /// Parked: class of the blocker, its address, time-out in ns.
    Park(String, Option<i64>, Option<i64>),
    Sleep,
    /// Socket or file: what was called, on what, bytes moved.
    Io(&'static str, String, i64),
}

/// An interval in which a thread was blocked.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    pub thread: i64,
    pub begin: i64,
    pub end: i64,
    pub stack: Option<i64>,
    pub why: Blocked,
}

/// A stack that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub ts: i64,
    pub thread: i64,
    pub stack: i64,
    pub weight: Weight,
}

/// What a sample stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Weight {
    /// A period of the sampler: the event type that says how long.
    Period(i64),
    /// CPU time, ns.
    Cpu(i64),
    /// Bytes of a class.
    Bytes(i64, String),
}

/// A collection, a pause of one, or an operation of the virtual machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Vm {
    pub begin: i64,
    pub end: i64,
    pub name: String,
    pub cause: String,
    pub gc: Option<i64>,
}

/// A frame of a stack; its place in the list is its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub parent: Option<i64>,
    pub name: String,
    pub line: Option<i32>,
}

/// Everything that was printed.
#[derive(Debug, Default)]
pub struct Recording {
    /// Whether the last line came.
    pub whole: bool,
    pub jvm: String,
    pub jvm_version: String,
    pub command: String,
    pub pid: i32,
    pub java: u32,
    pub kernel: String,
    pub cpu: String,
    pub cpus: u32,
    pub memory: u64,
    pub lost: u64,
    pub threads: HashMap<i64, Thread>,
    pub frames: Vec<Frame>,
    pub blocked: Vec<Interval>,
    pub samples: Vec<Sample>,
    pub collections: Vec<Vm>,
    pub pauses: Vec<Vm>,
    pub operations: Vec<Vm>,
    /// Time, collection, whether before it, bytes.
    pub heap: Vec<(i64, i64, bool, i64)>,
    /// Periods and thresholds, by event type and name.
    pub settings: HashMap<(i64, String), String>,
    /// First and last moment of any event.
    pub begin: Option<i64>,
    pub end: i64,
}

/// Fields of a line.
struct Fields<'a> {
    line: &'a str,
    fields: std::str::Split<'a, char>,
}

impl<'a> Fields<'a> {
    fn text(&mut self) -> Result<&'a str> {
        let line = self.line;
        self.fields
            .next()
            .with_context(|| format!("a field is missing in {line:?}"))
    }

    fn maybe(&mut self) -> Result<Option<i64>> {
        let text = self.text()?;
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse();
        number
            .map(Some)
            .map_err(|_| anyhow!("{text:?} is no number in {:?}", self.line))
    }

    fn number(&mut self) -> Result<i64> {
        let line = self.line;
        self.maybe()?
            .with_context(|| format!("a number is missing in {line:?}"))
    }
}

impl Recording {
    fn saw(&mut self, begin: i64, end: i64) {
        self.begin = Some(self.begin.map_or(begin, |b| b.min(begin)));
        self.end = self.end.max(end);
    }

    /// Takes a line.
    pub fn take(&mut self, line: &str) -> Result<()> {
        let mut f = Fields {
            line,
            fields: line.split('\t'),
        };
        let kind = f.text()?;
        match kind {
            "end" => self.whole = true,
            "jvm" => {
                self.jvm = f.text()?.into();
                self.jvm_version = f.text()?.into();
                self.command = f.text()?.into();
                self.pid = f.maybe()?.unwrap_or(0) as i32;
            }
            "java" => self.java = f.text()?.parse().unwrap_or(0),
            "os" => {
                // `uname:Linux 6.1.0 …` is in one of its lines, which are joined by spaces.
                let text = f.text()?;
                let after = text
                    .split_once("uname: ")
                    .or_else(|| text.split_once("uname:"));
                let kernel = after.and_then(|(_, u)| u.split_whitespace().nth(1));
                self.kernel = kernel.unwrap_or_default().into();
            }
            "cpu" => {
                let short = f.text()?;
                self.cpus = f.maybe()?.unwrap_or(0) as u32;
                let long = f.text()?;
                let brand = long.split_once("Brand: ").map_or(short, |(_, b)| b);
                self.cpu = brand.split(", Vendor").next().unwrap_or(brand).into();
            }
            "memory" => self.memory = f.maybe()?.unwrap_or(0) as u64,
            "loss" => self.lost += f.maybe()?.unwrap_or(0) as u64,
            "setting" => {
                let ts = f.number()?;
                let (id, name) = (f.number()?, f.text()?.to_owned());
                self.settings.insert((id, name), f.text()?.into());
                self.saw(ts, ts);
            }
            "thread" => {
                let id = f.number()?;
                let thread = self.threads.entry(id).or_default();
                thread.java_id = f.maybe()?;
                thread.tid = f.maybe()?.map(|t| t as i32);
                thread.name = f.text()?.into();
                thread.is_virtual = f.text()? == "1";
            }
            "start" => {
                let ts = f.number()?;
                let (thread, parent) = (f.maybe()?, f.maybe()?);
                if let Some(thread) = thread.and_then(|t| self.threads.get_mut(&t)) {
                    thread.start = Some(ts);
                    thread.parent = parent;
                }
                self.saw(ts, ts);
            }
            "stop" => {
                let ts = f.number()?;
                if let Some(thread) = f.maybe()?.and_then(|t| self.threads.get_mut(&t)) {
                    thread.stop = Some(ts);
                }
                self.saw(ts, ts);
            }
            "frame" => {
                let id = f.number()?;
                if id != self.frames.len() as i64 {
                    return Err(anyhow!("frame {id} came after {}", self.frames.len()));
                }
                self.frames.push(Frame {
                    parent: f.maybe()?,
                    name: f.text()?.into(),
                    line: f.maybe()?.filter(|l| *l > 0).map(|l| l as i32),
                });
            }
            "gc" | "pause" | "operation" => {
                let (begin, end) = (f.number()?, f.number()?);
                let gc = if kind == "operation" {
                    None
                } else {
                    f.maybe()?
                };
                let name = f.text()?.to_owned();
                let cause = if kind == "gc" {
                    f.text()?.to_owned()
                } else {
                    String::new()
                };
                let vm = Vm {
                    begin,
                    end,
                    name,
                    cause,
                    gc,
                };
                match kind {
                    "gc" => self.collections.push(vm),
                    "pause" => self.pauses.push(vm),
                    _ => self.operations.push(vm),
                }
                self.saw(begin, end);
            }
            "heap" => {
                let (ts, gc) = (f.number()?, f.number()?);
                let before = f.text()?.starts_with("Before");
                self.heap.push((ts, gc, before, f.maybe()?.unwrap_or(0)));
                self.saw(ts, ts);
            }
            "sample" | "cputime" | "alloc" => {
                let ts = f.number()?;
                let thread = f.maybe()?;
                let n = f.maybe()?.unwrap_or(0);
                let weight = match kind {
                    "sample" => Weight::Period(n),
                    "cputime" => Weight::Cpu(n),
                    _ => Weight::Bytes(n, f.text()?.into()),
                };
                if let (Some(thread), Some(stack)) = (thread, f.maybe()?) {
                    self.samples.push(Sample {
                        ts,
                        thread,
                        stack,
                        weight,
                    });
                }
                self.saw(ts, ts);
            }
            _ => {
                let (begin, end, thread, stack) =
                    (f.number()?, f.number()?, f.number()?, f.maybe()?);
                let why = match kind {
                    "enter" => Blocked::Enter(f.text()?.into(), f.maybe()?, f.maybe()?),
                    "wait" => {
                        let (class, object, notifier) = (f.text()?.into(), f.maybe()?, f.maybe()?);
                        Blocked::Wait(class, object, notifier, f.text()? == "true")
                    }
                    "park" => Blocked::Park(f.text()?.into(), f.maybe()?, f.maybe()?),
                    "sleep" => Blocked::Sleep,
                    "SocketRead" => {
                        Blocked::Io("recvfrom", f.text()?.into(), f.maybe()?.unwrap_or(0))
                    }
                    "SocketWrite" => {
                        Blocked::Io("sendto", f.text()?.into(), f.maybe()?.unwrap_or(0))
                    }
                    "FileRead" => Blocked::Io("read", f.text()?.into(), f.maybe()?.unwrap_or(0)),
                    "FileWrite" => Blocked::Io("write", f.text()?.into(), f.maybe()?.unwrap_or(0)),
                    "FileForce" => Blocked::Io("fsync", f.text()?.into(), 0),
                    _ => return Err(anyhow!("a line of unknown kind: {line:?}")),
                };
                self.blocked.push(Interval {
                    thread,
                    begin,
                    end,
                    stack,
                    why,
                });
                self.saw(begin, end);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_one_of_ours_is_an_error_that_shows_it() {
        let mut r = Recording::default();
        for line in [
            "what\t1\t2\t3\t",
            "enter\t1",
            "frame\t7\t\ta\t1",
            "sample\tx\t1\t1\t1",
        ] {
            let e = r.take(line).expect_err(line).to_string();
            assert!(
                e.contains("line")
                    || e.contains("field")
                    || e.contains("frame")
                    || e.contains("number"),
                "{e}"
            );
        }
    }

    #[test]
    fn a_wait_has_its_class_and_its_end() {
        let mut r = Recording::default();
        r.take("thread\t7\t30\t4711\tworker\t0").expect("a thread");
        r.take("frame\t0\t\tA.run\t3").expect("a frame");
        r.take("wait\t100\t250\t7\t0\tjava.lang.Object\t99\t\ttrue")
            .expect("a wait");
        assert_eq!(r.threads[&7].tid, Some(4711));
        assert_eq!((r.begin, r.end), (Some(100), 250));
        let why = Blocked::Wait("java.lang.Object".into(), Some(99), None, true);
        assert_eq!(
            (r.blocked[0].why.clone(), r.blocked[0].stack),
            (why, Some(0))
        );
    }
}
