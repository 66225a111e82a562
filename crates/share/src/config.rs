//! The configuration: one TOML file, checked as a whole before anything is touched.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_policy::{Cpus, Curve, Policy, Sharing};
use serde::Deserialize;
use toml::Spanned;

use crate::mechanism::Kind;
use crate::message::check_name;
use crate::{CpuSet, ShareError, curves, sys};

/// Every key, with its default and what it means.
pub const EXAMPLE: &str = include_str!("example.toml");

/// What the daemon does.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub(crate) policy: Policy,
    pub(crate) sharing: Sharing,
    pub(crate) quantum: Duration,
    pub(crate) grace: Duration,
    pub(crate) turn: Duration,
    pub(crate) wide_start: Duration,
    pub(crate) grain: Cpus,
    pub(crate) floor: Cpus,
    pub(crate) cpus: CpuSet,
    /// None: what the machine has.
    pub(crate) mechanism: Option<Kind>,
    pub(crate) cgroup: String,
    pub(crate) cap: bool,
    pub(crate) real_time: bool,
    pub(crate) metrics: String,
    pub(crate) history: Option<PathBuf>,
    pub(crate) history_every: Duration,
    pub(crate) applications: usize,
    pub(crate) allow: Vec<Allow>,
    pub(crate) known: Vec<Known>,
}

/// Who may, up to what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allow {
    /// None: everybody.
    pub uid: Option<u32>,
    pub priority: f64,
    pub cpus: Cpus,
    pub applications: usize,
}

/// What is known about an application.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    pub name: String,
    pub priority: Option<f64>,
    pub revenue: f64,
    pub curve: Option<Curve>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    policy: Option<Spanned<String>>,
    sharing: Option<Spanned<String>>,
    quantum: Option<Spanned<String>>,
    grace: Option<Spanned<String>>,
    turn: Option<Spanned<String>>,
    wide_start: Option<Spanned<String>>,
    grain: Option<Spanned<f64>>,
    floor: Option<Spanned<f64>>,
    cpus: Option<Spanned<String>>,
    mechanism: Option<Spanned<String>>,
    cgroup: Option<Spanned<String>>,
    cap: Option<bool>,
    real_time: Option<bool>,
    metrics: Option<String>,
    history: Option<String>,
    history_every: Option<Spanned<String>>,
    applications: Option<Spanned<f64>>,
    #[serde(default)]
    allow: Vec<RawAllow>,
    #[serde(default)]
    application: Vec<RawKnown>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAllow {
    user: Spanned<String>,
    priority: Option<Spanned<f64>>,
    cpus: Option<Spanned<f64>>,
    applications: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKnown {
    name: Spanned<String>,
    priority: Option<Spanned<f64>>,
    revenue: Option<Spanned<f64>>,
    curve: Option<Spanned<RawCurve>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a curve is points, as [[1, 120], [2, 210]], or the folder of a `loadline characterize`"
)]
enum RawCurve {
    Points(Vec<(f64, f64)>),
    File(String),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            policy: Policy::PriorityWeighted,
            sharing: Sharing::Both,
            quantum: Duration::from_millis(100),
            grace: Duration::from_millis(50),
            turn: Duration::from_secs(1),
            wide_start: Duration::from_secs(1),
            grain: Cpus::thousandths(100),
            floor: Cpus::thousandths(100),
            cpus: CpuSet::default(),
            mechanism: None,
            cgroup: "loadline".into(),
            cap: false,
            real_time: true,
            metrics: String::new(),
            history: None,
            history_every: Duration::from_secs(10),
            applications: 64,
            allow: Vec::new(),
            known: Vec::new(),
        }
    }
}

/// Where a value stands, for errors.
struct Reader<'a> {
    text: &'a str,
    path: &'a str,
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, key: &str, says: impl std::fmt::Display) -> ShareError {
        let before = &self.text[..at.span().start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        ShareError::usage(format!("{}:{line}: {key} {says}", self.path))
    }

    fn time(
        &self,
        value: &Option<Spanned<String>>,
        key: &str,
        range: RangeInclusive<Duration>,
        default: Duration,
    ) -> Result<Duration, ShareError> {
        let Some(v) = value else { return Ok(default) };
        let parsed = loadline_units::duration(v.get_ref()).filter(|d| range.contains(d));
        parsed.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.wrong(
                v,
                key,
                format!(
                    "is {:?}; it must be from {least:?} to {most:?}, as 100ms",
                    v.get_ref()
                ),
            )
        })
    }

    fn number(
        &self,
        value: &Option<Spanned<f64>>,
        key: &str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> Result<f64, ShareError> {
        let Some(v) = value else { return Ok(default) };
        let n = *v.get_ref();
        if range.contains(&n) {
            return Ok(n);
        }
        Err(self.wrong(
            v,
            key,
            format!(
                "is {n}; it must be from {} to {}",
                range.start(),
                range.end()
            ),
        ))
    }

    fn one_of<T>(
        &self,
        value: &Option<Spanned<String>>,
        key: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, ShareError>
    where
        T: Clone,
    {
        let Some(v) = value else { return Ok(default) };
        let found = choices.iter().find(|(name, _)| name == v.get_ref());
        found.map(|(_, value)| value.clone()).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|c| c.0).collect();
            self.wrong(
                v,
                key,
                format!(
                    "is {:?}; it must be one of {}",
                    v.get_ref(),
                    names.join(", ")
                ),
            )
        })
    }
}

const MOST_PRIORITY: f64 = 1e6;
const MOST_CPUS: f64 = CpuSet::LIMIT as f64;

impl Config {
    /// Of a file's text; `path` is for errors.
    pub fn parse(text: &str, path: &str) -> Result<Config, ShareError> {
        let raw: Raw = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |s| {
                text[..s.start.min(text.len())].matches('\n').count() + 1
            });
            ShareError::usage(format!("{path}:{line}: {}", e.message()))
        })?;
        let r = Reader { text, path };
        let d = Config::default();
        let ms = Duration::from_millis;
        let long = Duration::from_secs(10);
        Ok(Config {
            policy: r.one_of(
                &raw.policy,
                "policy",
                &Policy::ALL.map(|p| (p.name(), p)),
                d.policy,
            )?,
            sharing: r.one_of(
                &raw.sharing,
                "sharing",
                &Sharing::ALL.map(|s| (s.name(), s)),
                d.sharing,
            )?,
            quantum: r.time(&raw.quantum, "quantum", ms(10)..=long, d.quantum)?,
            grace: r.time(&raw.grace, "grace", ms(0)..=long, d.grace)?,
            turn: r.time(
                &raw.turn,
                "turn",
                ms(10)..=Duration::from_secs(3600),
                d.turn,
            )?,
            wide_start: r.time(
                &raw.wide_start,
                "wide_start",
                ms(0)..=Duration::from_secs(60),
                d.wide_start,
            )?,
            grain: grain(&r, &raw.grain)?.unwrap_or(d.grain),
            floor: Cpus::from_f64(r.number(
                &raw.floor,
                "floor",
                0.001..=MOST_CPUS,
                d.floor.as_f64(),
            )?),
            cpus: match &raw.cpus {
                Some(v) => CpuSet::parse(v.get_ref()).map_err(|e| r.wrong(v, "cpus:", e))?,
                None => d.cpus,
            },
            mechanism: {
                let mut choices = vec![("auto", None)];
                choices.extend(Kind::ALL.map(|k| (k.name(), Some(k))));
                r.one_of(&raw.mechanism, "mechanism", &choices, None)?
            },
            cgroup: match &raw.cgroup {
                Some(v) => check_name(v.get_ref())
                    .map_err(|e| r.wrong(v, "cgroup:", e))?
                    .to_owned(),
                None => d.cgroup,
            },
            cap: raw.cap.unwrap_or(d.cap),
            real_time: raw.real_time.unwrap_or(d.real_time),
            metrics: raw.metrics.unwrap_or_default(),
            history: raw.history.filter(|h| !h.is_empty()).map(PathBuf::from),
            history_every: r.time(
                &raw.history_every,
                "history_every",
                ms(1000)..=Duration::from_secs(3600),
                d.history_every,
            )?,
            applications: r.number(&raw.applications, "applications", 1.0..=1000.0, 64.0)? as usize,
            allow: raw
                .allow
                .iter()
                .map(|a| allow(&r, a))
                .collect::<Result<_, _>>()?,
            known: raw
                .application
                .iter()
                .map(|a| known(&r, a))
                .collect::<Result<_, _>>()?,
        })
    }

    /// What is known about the application of this name.
    pub(crate) fn known(&self, name: &str) -> Option<&Known> {
        self.known.iter().find(|k| k.name == name)
    }

    /// Keeps the history in this file.
    pub fn keep_history(&mut self, path: PathBuf) {
        self.history = Some(path);
    }
}

fn grain(r: &Reader<'_>, value: &Option<Spanned<f64>>) -> Result<Option<Cpus>, ShareError> {
    let Some(v) = value else { return Ok(None) };
    let grain = Cpus::from_f64(*v.get_ref());
    let t = grain.as_thousandths();
    if (50..=1000).contains(&t) && 1000 % t == 0 {
        return Ok(Some(grain));
    }
    let says = format!(
        "is {}; it must divide one CPU and be 0.05 at least, as 0.1, 0.25, 0.5 or 1",
        v.get_ref()
    );
    Err(r.wrong(v, "grain", says))
}

fn allow(r: &Reader<'_>, raw: &RawAllow) -> Result<Allow, ShareError> {
    let uid = match raw.user.get_ref().as_str() {
        "*" => None,
        user => Some(
            sys::uid_of(user)
                .ok_or_else(|| r.wrong(&raw.user, "user", format!("{user:?} is not known")))?,
        ),
    };
    Ok(Allow {
        uid,
        priority: r.number(&raw.priority, "priority", 0.001..=MOST_PRIORITY, 1.0)?,
        cpus: Cpus::from_f64(r.number(&raw.cpus, "cpus", 0.001..=MOST_CPUS, MOST_CPUS)?),
        applications: r.number(&raw.applications, "applications", 1.0..=1000.0, 4.0)? as usize,
    })
}

fn known(r: &Reader<'_>, raw: &RawKnown) -> Result<Known, ShareError> {
    let name = check_name(raw.name.get_ref()).map_err(|e| r.wrong(&raw.name, "name:", e))?;
    let curve = match &raw.curve {
        Some(curve) => {
            let made = match curve.get_ref() {
                RawCurve::Points(points) => {
                    Curve::new(points.iter().copied()).map_err(|e| e.to_string())
                }
                RawCurve::File(file) => {
                    let base = Path::new(r.path).parent().unwrap_or(Path::new(""));
                    curves::read(file, base)
                }
            };
            Some(made.map_err(|e| r.wrong(curve, "curve:", e))?)
        }
        None => None,
    };
    let priority = match &raw.priority {
        Some(_) => Some(r.number(&raw.priority, "priority", 0.001..=MOST_PRIORITY, 1.0)?),
        None => None,
    };
    Ok(Known {
        name: name.to_owned(),
        priority,
        revenue: r.number(&raw.revenue, "revenue", 0.0..=1e12, 1.0)?,
        curve,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_default() {
        assert_eq!(
            Config::parse(EXAMPLE, "example").expect("valid"),
            Config::default()
        );
        assert_eq!(
            Config::parse("", "empty").expect("valid"),
            Config::default()
        );
    }

    #[test]
    fn the_commented_examples_are_valid_too() {
        let text: String = EXAMPLE
            .lines()
            .map(|l| {
                l.strip_prefix("# ")
                    .filter(|l| l.starts_with('[') || l.contains(" = "))
                    .unwrap_or(l)
            })
            .filter(|l| !l.starts_with("user"))
            .map(|l| {
                if l == "[[allow]]" {
                    "[[allow]]\nuser = \"*\"\n".to_owned()
                } else {
                    format!("{l}\n")
                }
            })
            .collect();
        let config = Config::parse(&text, "t").expect("valid");
        assert_eq!((config.allow.len(), config.known.len()), (1, 1));
    }

    #[test]
    fn a_curve_is_found_beside_the_configuration() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("shop.characterize")).expect("made");
        let result = dir.path().join("shop.characterize/result.json");
        std::fs::write(result, curves::tests::TWO_COUNTS).expect("written");
        let path = dir.path().join("share.toml");
        let text = "[[application]]\nname = \"shop\"\ncurve = \"shop.characterize\"";
        let config = Config::parse(text, &path.display().to_string()).expect("valid");
        let curve = config.known("shop").and_then(|k| k.curve.clone());
        assert_eq!(curve.expect("it is there").points().len(), 2);
    }

    #[test]
    fn errors_name_file_line_key_and_range() {
        for (text, says) in [
            (
                "\nquantum = \"5ms\"",
                "t:2: quantum is \"5ms\"; it must be from 10ms to 10s",
            ),
            (
                "policy = \"fair\"",
                "t:1: policy is \"fair\"; it must be one of batch, round-robin",
            ),
            ("grain = 0.3", "t:1: grain is 0.3; it must divide one CPU"),
            ("cpus = \"3-1\"", "t:1: cpus: \"3-1\" is no list of CPUs"),
            ("quantm = \"1s\"", "t:1: unknown field `quantm`"),
            (
                "[[allow]]\nuser = \"no such user\"",
                "t:2: user \"no such user\" is not known",
            ),
            (
                "[[application]]\nname = \"a\"\ncurve = [[0, 1]]",
                "t:3: curve: [0, 1] is no point",
            ),
            (
                "[[application]]\nname = \"a\"\ncurve = 3",
                "t:3: a curve is points, as [[1, 120], [2, 210]], or the folder",
            ),
            (
                "[[application]]\nname = \"a\"\ncurve = \"no.characterize\"",
                "t:3: curve: no.characterize: ",
            ),
            (
                "[[application]]\nname = \"a/b\"",
                "t:2: name: \"a/b\" is no name",
            ),
            (
                "mechanism = \"magic\"",
                "one of auto, cgroup-v2, cgroup-v1, affinity",
            ),
        ] {
            let e = Config::parse(text, "t").expect_err(text).to_string();
            assert!(e.contains(says), "{e}");
        }
    }
}
