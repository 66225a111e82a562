use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use loadline_characterize::{
    Event, Objective, Options, Parameters, Point, Refused, Which, characterize, summary,
};
use loadline_load::Scenario;

use crate::{Usage, interrupt, show};

/// Find the load line of a server: sweep the load, record on both sides, say what limits
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline characterize --start \"java -jar shop.jar\" --scenario browsing --cpus 1,2\n  \
    sudo loadline characterize --url https://127.0.0.1:8443 --pid 4121 --objective p95=200ms\n  \
    loadline characterize --url http://127.0.0.1:8080 --think 500ms --points 6 --duration 20s --trace 0\n\n\
    The same command goes on where it was stopped. Recording needs what `loadline record` needs;\n\
    without it the report has no traces and says so.")]
pub struct Args {
    /// The command that starts the server, as in a shell; it is ended when this ends
    #[arg(long, value_name = "COMMAND", required_unless_present = "url")]
    start: Option<String>,
    /// Where the server answers [default with --start: the port that it listens on]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The server's process, if it runs already: its CPU use is measured, and it is recorded
    #[arg(long, value_name = "PID", requires = "url", conflicts_with = "start")]
    pid: Option<i32>,
    /// CPU counts to measure, one after the other: the server runs on so many, the generator on the others
    /// [default: as it is]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    cpus: Vec<u32>,
    /// A built-in scenario's name, or a TOML file (see loadline load)
    #[arg(long, default_value = "browsing", value_name = "NAME|FILE")]
    scenario: String,
    /// Offered loads, from a tenth of the saturation to --to times it
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..=200))]
    points: u32,
    /// Most points in search of the load line
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=50))]
    search: u32,
    /// Most repetitions of each of the two points around the load line, while its intervals leave it in doubt
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=20))]
    repeat: u32,
    /// The heaviest load, as a multiple of the saturation
    #[arg(long, default_value = "4", value_name = "TIMES", value_parser = multiple)]
    to: f64,
    /// Length of a point
    #[arg(short, long, value_name = "TIME", default_value = "60s", value_parser = show::parse_duration)]
    duration: Duration,
    /// Time before each point in which nothing counts [default: twice a session's thinking, 10s at least]
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration)]
    warmup: Option<Duration>,
    /// What response times must keep to, as p95=200ms [default: p95 at most four times its value at light load]
    #[arg(long, value_name = "PERCENTILE=TIME", value_parser = objective)]
    objective: Option<String>,
    /// How long a visitor waits for a page before leaving [default: the scenario's]
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    timeout: Option<Duration>,
    /// Mean think time between two clicks [default: the scenario's]
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration)]
    think: Option<Duration>,
    /// Length of the recordings below and above the load line; 0 for none
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = loadline_load::parse_duration)]
    trace: Duration,
    /// Same seed, same visitors
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Note the CPU use of another process at each point, a database's for example
    #[arg(long, value_name = "NAME=PID", value_parser = watched)]
    watch: Vec<(String, i32)>,
    /// The report's folder [default: NAME.characterize]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Begin anew in a folder that was made with other parameters
    #[arg(long)]
    restart: bool,
    /// Allow a target that is not this machine: repeat its host's name
    #[arg(long, value_name = "HOST")]
    i_own_this_target: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (think, scenario_text) = read_scenario(&args.scenario)?;
    let think = args.think.unwrap_or(think);
    let parameters = Parameters {
        server: args.start.clone().or(args.url.clone()).unwrap_or_default(),
        cpus: distinct(&args.cpus),
        scenario: args.scenario.clone(),
        scenario_text,
        points: args.points,
        search: args.search,
        repeat: args.repeat,
        to: args.to,
        duration_s: args.duration.as_secs_f64(),
        warmup_s: args.warmup.unwrap_or_else(|| warmup(think)).as_secs_f64(),
        objective: args.objective.clone(),
        timeout_s: args.timeout.map(|t| t.as_secs_f64()),
        think_s: args.think.map(|t| t.as_secs_f64()),
        seed: args.seed,
        trace_s: args.trace.as_secs_f64(),
    };
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| default_out(&parameters.server));
    let options = Options {
        exe: std::env::current_exe().context("cannot tell where the loadline binary lies")?,
        server: match args.start {
            Some(command) => Which::Start {
                command,
                url: args.url,
            },
            None => Which::Running {
                url: args.url.unwrap_or_default(),
                pid: args.pid,
            },
        },
        parameters,
        out,
        restart: args.restart,
        owned: args.i_own_this_target,
        watch: args.watch.into_iter().collect::<BTreeMap<_, _>>(),
    };
    let stop = interrupt::flag()?;
    let mut display = Display::new();
    let outcome = characterize(&options, &stop, &mut |event| display.show(&event));
    display.end();
    let outcome = outcome.map_err(|e| match e.downcast_ref::<Refused>() {
        Some(refused) => Usage(refused.0.clone()).into(),
        None => e,
    })?;
    if args.json {
        show::out(&serde_json::to_string_pretty(&outcome.result)?)?;
    } else {
        show::out(&format!(
            "{}  report: {}",
            summary(&outcome.result),
            outcome.page.display()
        ))?;
    }
    if let Some(why) = &outcome.result.failure {
        eprintln!("error: {why}");
    }
    Ok(ExitCode::from(u8::from(
        outcome.result.failure.is_some() || outcome.stopped,
    )))
}

/// The mean think time of a scenario, and its text if it is a file. A wrong file is refused here,
/// before a server is started.
fn read_scenario(name: &str) -> Result<(Duration, Option<String>)> {
    if let Some(builtin) = Scenario::builtin(name) {
        return Ok((builtin.think_mean, None));
    }
    let text = std::fs::read_to_string(name).with_context(|| {
        let known: Vec<_> = Scenario::builtin_names().collect();
        format!(
            "--scenario {name}: neither a built-in scenario ({}) nor a file that can be read",
            known.join(", ")
        )
    })?;
    let scenario = Scenario::from_toml(&text, name).map_err(|e| Usage(e.to_string()))?;
    Ok((scenario.think_mean, Some(text)))
}

/// Sessions under way reach their steady number after about twice the length of one; most have some
/// eight clicks.
fn warmup(think: Duration) -> Duration {
    const CLICKS: u32 = 8;
    (2 * CLICKS * think).max(Duration::from_secs(10))
}

fn distinct(cpus: &[u32]) -> Vec<u32> {
    let mut out = Vec::new();
    for n in cpus {
        if !out.contains(n) {
            out.push(*n);
        }
    }
    out
}

/// `shop.characterize` for `java -jar target/shop.jar --port 0`; else from the URL's host and port.
fn default_out(server: &str) -> PathBuf {
    let word = server
        .split_whitespace()
        .find_map(|w| w.trim_matches(['"', '\'']).strip_suffix(".jar"))
        .or(server
            .split_once("://")
            .map(|(_, rest)| rest.trim_end_matches('/')))
        .or(server.split_whitespace().next())
        .unwrap_or("server");
    let name = word.rsplit('/').next().unwrap_or(word);
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    PathBuf::from(format!("{name}.characterize"))
}

fn objective(text: &str) -> Result<String, String> {
    Objective::parse(text).map(|_| text.to_owned())
}

fn multiple(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (0.5..=100.0).contains(&x) => Ok(x),
        _ => Err("it must be a number from 0.5 to 100".into()),
    }
}

fn watched(text: &str) -> Result<(String, i32), String> {
    let (name, pid) = text.split_once('=').ok_or("write it as mariadbd=4242")?;
    let pid: i32 = pid
        .parse()
        .map_err(|_| format!("{pid:?} is no process id"))?;
    if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
        return Err(format!("there is no process {pid}"));
    }
    Ok((name.to_owned(), pid))
}

/// What stands on the terminal while it runs: a line per finished point, and below them what is
/// being done and how long it all takes.
struct Display {
    bar: ProgressBar,
    all_s: f64,
    done_s: f64,
    doing_s: f64,
}

impl Display {
    fn new() -> Display {
        let bar = show::bar(1000, "  {bar:25} {elapsed} of {prefix}   {msg}");
        bar.enable_steady_tick(Duration::from_millis(500));
        Display {
            bar,
            all_s: 0.0,
            done_s: 0.0,
            doing_s: 0.0,
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Plan(text, seconds) => {
                self.all_s = *seconds;
                let about = text.split(':').next().unwrap_or_default();
                self.bar.set_prefix(about.to_owned());
                self.say(&format!("  {text}      [Ctrl-C keeps what is done]"));
            }
            Event::Doing(text, seconds) => {
                self.done_s += self.doing_s;
                self.doing_s = *seconds;
                self.bar
                    .set_position((1000.0 * self.done_s / self.all_s.max(1.0)).min(1000.0) as u64);
                self.bar.set_message(text.clone());
            }
            Event::Point(point) => self.say(&line(point)),
            Event::Note(text) => self.say(&format!("  note: {text}")),
        }
    }

    fn say(&self, text: &str) {
        if std::io::stderr().is_terminal() {
            self.bar.println(text);
        } else {
            eprintln!("{text}");
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn line(p: &Point) -> String {
    let limit = match p.load.generator_limit() {
        Some(_) => "   (the generator's limit)",
        None => "",
    };
    let completed = p
        .load
        .completed_share()
        .map_or("-".into(), |s| format!("{:.0}%", 100.0 * s));
    let cpu = p
        .cpu
        .as_ref()
        .map_or("-".into(), |c| format!("{:.2}", c.server));
    format!(
        "  {} CPU{}  {:>8} sessions/s   {:>7.1} replies/s   p95 {:>8.1} ms   sessions completed {completed:>4}   CPU {cpu}{limit}",
        p.cpus,
        if p.cpus == 1 { " " } else { "s" },
        p.rate,
        p.load.replies_per_s,
        p.load.response.p95_ms
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_after_the_server() {
        for (server, folder) in [
            ("java -jar target/shop.jar --port 0", "shop.characterize"),
            ("https://127.0.0.1:8443", "127.0.0.1_8443.characterize"),
            ("./run.sh", "run.sh.characterize"),
        ] {
            assert_eq!(default_out(server), PathBuf::from(folder));
        }
    }

    #[test]
    fn the_warm_up_follows_the_think_time() {
        assert_eq!(warmup(Duration::from_secs(7)), Duration::from_secs(112));
        assert_eq!(warmup(Duration::ZERO), Duration::from_secs(10));
    }
}
