//! The recorder without the rest of Loadline: for its tests, and for whoever works on it.
//!
//! `recorder --out DIR [--pid N | --name TEXT] [--levels kernel,syscalls,jvm,server,app]
//! [--seconds S] [--jar FILE --library FILE] [-- COMMAND…]`; also `recorder --recover DIR` and
//! `recorder --list`. Prints the last progress and the session as JSON lines; errors on stderr.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_record::{
    AgentFiles, Levels, Options, Progress, Redefinition, Stage, Target, record, recover, resolve,
};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

fn main() -> ExitCode {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores into an atomic.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut options = Options {
        target: Target::Pid(0),
        out: PathBuf::new(),
        levels: Levels::default(),
        duration: None,
        agent: AgentFiles {
            jar: "none".into(),
            library: "none".into(),
        },
        redefinition: Redefinition::Never,
        stacks: None,
        samples: None,
        allocations: None,
        objects: Vec::new(),
        vm_log: 0,
        methods: None,
        ring_bytes: Options::RING_BYTES,
        redact: false,
        agent_capacity: Options::AGENT_CAPACITY,
        max_size: None,
        flight: None,
        counters: None,
    };
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_string_lossy().into_owned();
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let text = |v: OsString| v.to_string_lossy().into_owned();
        match word.as_str() {
            "--out" => options.out = value()?.into(),
            "--pid" | "--name" => {
                let pid = resolve(&text(value()?)).map_err(|e| e.to_string())?;
                options.target = Target::Pid(pid);
            }
            "--levels" => options.levels = levels(&text(value()?)),
            "--seconds" => {
                let seconds: f64 = text(value()?)
                    .parse()
                    .map_err(|e| format!("--seconds: {e}"))?;
                options.duration = Some(Duration::from_secs_f64(seconds));
            }
            "--jar" => options.agent.jar = value()?.into(),
            "--library" => options.agent.library = value()?.into(),
            "--ring-bytes" => {
                options.ring_bytes = text(value()?)
                    .parse()
                    .map_err(|e| format!("--ring-bytes: {e}"))?;
            }
            "--recover" => return recover(&PathBuf::from(value()?)).map_err(|e| e.to_string()),
            "--list" => {
                for jvm in loadline_record::running_jvms() {
                    println!("{} {} {}", jvm.pid, jvm.name, jvm.uid);
                }
                return Ok(());
            }
            "--" => {
                options.target = Target::Command(words.collect());
                break;
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    let mut last = serde_json::Value::Null;
    let mut tell = |p: &Progress| {
        debug_assert!(p.stage != Stage::Attaching || p.elapsed.is_zero());
        last = serde_json::json!({
            "stage": format!("{:?}", p.stage), "seconds": p.elapsed.as_secs_f64(),
            "kernel_events": p.kernel_events, "agent_bytes": p.agent_bytes, "bytes": p.bytes,
            "lost": p.lost, "levels": p.levels, "target": p.target,
        });
    };
    let session = record(&options, &STOP, &mut tell).map_err(|e| e.to_string())?;
    println!("{last}");
    println!(
        "{}",
        serde_json::to_string(&session).map_err(|e| e.to_string())?
    );
    Ok(())
}

fn levels(text: &str) -> Levels {
    let has = |name| text.split(',').any(|l| l == name);
    Levels {
        kernel: has("kernel"),
        syscalls: has("syscalls"),
        jvm: has("jvm"),
        server: has("server"),
        app: has("app"),
    }
}
