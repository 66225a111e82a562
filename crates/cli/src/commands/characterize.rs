use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use loadline_characterize::{
    Event, Objective, Options, Parameters, Point, Refused, Units, Which, characterize, summary,
};
use loadline_load::Scenario;

use crate::{Usage, interrupt, show};

/// Find the load line of a server: sweep the load, record on both sides, say what limits
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline characterize --start \"java -jar shop.jar\" --scenario browsing --cpus 1,2\n  \
    sudo loadline characterize --url https://127.0.0.1:8443 --pid 4121 --objective p95=200ms\n  \
    loadline characterize --url http://127.0.0.1:8080 --think 500ms --points 6 --duration 20s --trace 0\n  \
    sudo loadline characterize --units \"java -jar wholesale.jar --warehouses {load} --measure 3600\" --loads 1..8\n  \
    sudo loadline characterize --start \"java -jar chat.jar server\" --loads 1,2,5,10,20,40 --unit broadcast \\\n      \
      --units \"java -jar chat.jar client --port {port} --rooms {load} --messages 1000000\"\n\n\
    The same command goes on where it was stopped. Recording needs what `loadline record` needs;\n\
    without it the report has no traces and says so.")]
pub struct Args {
    /// The command that starts the server, as in a shell; it is ended when this ends
    #[arg(long, value_name = "COMMAND", required_unless_present_any = ["url", "units"])]
    start: Option<String>,
    /// Where the server answers [default with --start: the port that it listens on]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The server's process, if it runs already: its CPU use is measured, and it is recorded
    #[arg(long, value_name = "PID", conflicts_with = "start")]
    pid: Option<i32>,
    /// CPU counts to measure, one after the other: the server runs on so many, the generator on the others
    /// [default: as it is]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    cpus: Vec<u32>,
    /// A program that speaks no HTTP: the command that drives it, run with {load} replaced by each of --loads until it was
    /// measured; {port} is the port that --start's server listens on. Without --start and --pid it is itself the program
    #[arg(long, value_name = "COMMAND", requires = "loads",
          conflicts_with_all = ["url", "scenario", "points", "to", "think", "timeout", "i_own_this_target"])]
    units: Option<String>,
    /// With --units: whole numbers, as 1,2,5 or 1..8 or 20..200:20
    #[arg(long, value_name = "LIST", requires = "units", value_parser = loads)]
    loads: Option<Loads>,
    /// With --units: names of spans that are units of work (any counts) [default: request, else the most frequent span]
    #[arg(long, value_name = "NAME,…", requires = "units", value_delimiter = ',')]
    unit: Vec<String>,
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
    /// A command that prints what the server's guard says, as JSON: of a server on another machine
    /// "ssh shop loadline guard shop --json", or curl and its actuator [default: the server's process is asked]
    #[arg(long, value_name = "COMMAND", conflicts_with = "units")]
    guard: Option<String>,
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
    if args.pid.is_some() && args.url.is_none() && args.units.is_none() {
        return Err(Usage("--pid needs --url, or --units to drive it".into()).into());
    }
    let units = closed(&args)?;
    let server = [&args.start, &args.url, &args.units];
    let parameters = Parameters {
        server: server
            .into_iter()
            .flatten()
            .next()
            .cloned()
            .unwrap_or_default(),
        cpus: distinct(&args.cpus),
        scenario: args.scenario.clone(),
        scenario_text,
        points: units.as_ref().map_or(args.points, |u| u.loads.len() as u32),
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
        units,
    };
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| default_out(&parameters.server));
    let options = Options {
        exe: std::env::current_exe().context("cannot tell where the loadline binary lies")?,
        server: match (args.start, args.url, args.pid) {
            (Some(command), url, _) => Which::Start { command, url },
            (None, Some(url), pid) => Which::Running { url, pid },
            (None, None, Some(pid)) => Which::Process { pid },
            (None, None, None) => Which::Driver,
        },
        parameters,
        out,
        restart: args.restart,
        owned: args.i_own_this_target,
        watch: args.watch.into_iter().collect::<BTreeMap<_, _>>(),
        guard: args.guard,
    };
    let stop = interrupt::flag()?;
    let mut display = Display::new(&options.parameters);
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

/// What --loads says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Loads(Vec<u32>);

/// `1,2,5`, `1..8`, `20..200:20`; ascending, each once.
fn loads(text: &str) -> Result<Loads, String> {
    const MOST: usize = 200;
    let number = |word: &str| match word.trim().parse::<u32>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!(
            "{word:?} is no load: write whole numbers from 1 on, as 1,2,5 or 20..200:20"
        )),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let Some((from, rest)) = part.split_once("..") else {
            all.push(number(part)?);
            continue;
        };
        let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
        let (from, to, step) = (number(from)?, number(to)?, number(step)?);
        if to < from {
            return Err(format!("{part}: it ends before it begins"));
        }
        all.extend((from..=to).step_by(step as usize).take(MOST + 1));
    }
    all.sort_unstable();
    all.dedup();
    if all.len() > MOST {
        return Err(format!(
            "more than {MOST} loads: give a step, as in 20..2000:20"
        ));
    }
    Ok(Loads(all))
}

/// The closed program, if one is to be characterized.
fn closed(args: &Args) -> Result<Option<Units>> {
    let (Some(command), Some(loads)) = (&args.units, &args.loads) else {
        return Ok(None);
    };
    if !command.contains(Units::LOAD) {
        let how = "write {load} where it takes its connections, rooms or warehouses";
        return Err(Usage(format!(
            "--units {command:?}: there is no {{load}} in it: {how}"
        ))
        .into());
    }
    if command.contains(Units::PORT) && args.start.is_none() {
        let how =
            "with no --start there is no server whose port could be known: write the port out";
        return Err(Usage(format!("--units {command:?}: {{port}}: {how}")).into());
    }
    Ok(Some(Units {
        command: command.clone(),
        loads: loads.0.clone(),
        names: args.unit.clone(),
    }))
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
    /// What the load is counted in, and what is done.
    units: (String, &'static str),
}

impl Display {
    fn new(parameters: &Parameters) -> Display {
        let bar = show::bar(1000, "  {bar:25} {elapsed} of {prefix}   {msg}");
        bar.enable_steady_tick(Duration::from_millis(500));
        Display {
            bar,
            all_s: 0.0,
            done_s: 0.0,
            doing_s: 0.0,
            units: (parameters.load_unit(), parameters.work_unit()),
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
            Event::Point(point) => self.say(&line(point, &self.units)),
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

fn line(p: &Point, (load, work): &(String, &str)) -> String {
    let limit = match p.load.generator_limit() {
        Some(_) => "   (the generator's limit)",
        None => "",
    };
    let refused = match p.load.refused_share() {
        Some(share) if p.load.sessions.refused > 0 => {
            format!("refused {:>3.0}%   ", 100.0 * share)
        }
        _ => String::new(),
    };
    let completed = p.load.completed_share().map_or(String::new(), |s| {
        format!("sessions completed {:>3.0}%   ", 100.0 * s)
    });
    let cpu = p
        .cpu
        .as_ref()
        .map_or("-".into(), |c| format!("{:.2}", c.server));
    format!(
        "  {} CPU{}  {:>8} {load}   {:>7.1} {work}   p95 {:>8} ms   {completed}{refused}CPU {cpu}{limit}",
        p.cpus,
        if p.cpus == 1 { " " } else { "s" },
        p.rate,
        p.load.replies_per_s,
        milliseconds(p.load.response.p95_ms)
    )
}

/// With as many digits as a short time needs.
fn milliseconds(ms: f64) -> String {
    format!("{ms:.*}", if ms < 1.0 { 3 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_a_list_or_a_range_of_whole_numbers() {
        let of = |text: &str| loads(text).map(|l| l.0);
        assert_eq!(of("5,1,2,2"), Ok(vec![1, 2, 5]));
        assert_eq!(of("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(of("20..60:20,100"), Ok(vec![20, 40, 60, 100]));
        for wrong in ["", "0", "1.5", "8..1", "1..", "1..9:0", "x", "1..1000"] {
            assert!(of(wrong).is_err(), "{wrong} was accepted");
        }
    }

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
