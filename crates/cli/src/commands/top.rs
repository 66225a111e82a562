use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use loadline_analyze::report::{Report, report};
use loadline_record::{Flight, Levels, Options, Redefinition, Stage, Target};
use loadline_trace::Trace;

use super::record::introduction;
use crate::scratch::Scratch;
use crate::{companions, interrupt, show};

/// How much of the past each picture shows, and how often there is one.
const WINDOW: Duration = Duration::from_secs(1);
/// Room for what the recorder keeps, in the directory for temporary files.
const ROOM: u64 = 256 << 20;

/// What a JVM does now: requests, percentiles, phases, locks, pools, GC, CPU, a second at a time
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline top shop                  (q or Ctrl-C ends it)\n  \
    loadline top shop                       (without root: no thread states; what is missing is said)\n  \
    sudo loadline top shop --once           (one second, as text)\n  \
    sudo loadline top shop --json           (an object a second, a line each)\n\n\
    It records as `loadline record` does, keeps a second, and leaves nothing behind.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(value_name = "PID|NAME")]
    pid: String,
    /// Print one second and end
    #[arg(long)]
    once: bool,
    /// Print JSON: the report's object, a line for each second
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let pid = loadline_record::resolve(&args.pid)?;
    let scratch = Scratch::create("top")?;
    let options = options(pid, &scratch)?;
    let asked = interrupt::flag()?;
    // Ours as well: the recorder ends when we do, for whatever reason.
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let recorder = {
        let stop = Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut told = false;
            loadline_record::record(&options, &stop, &mut |p| {
                if p.stage == Stage::Recording && !told {
                    told = true;
                    // Nobody listens any more if the screen could not be had.
                    let _ = tell.send(introduction(p));
                }
            })
        })
    };
    let shown = wait(&told, &asked, || recorder.is_finished()).map_or(Ok(()), |text| {
        watch(&args, pid, &text, &scratch, &asked, || {
            recorder.is_finished()
        })
    });
    stop.store(true, Ordering::Relaxed);
    let recorded = recorder
        .join()
        .map_err(|_| anyhow::anyhow!("the recorder failed"))?;
    shown?;
    let session = recorded?;
    if session.ended == "target-exited" {
        eprintln!("  process {pid} has ended");
    }
    Ok(ExitCode::SUCCESS)
}

fn options(pid: i32, scratch: &Scratch) -> Result<Options> {
    Ok(Options {
        target: Target::Pid(pid),
        out: scratch.trace(),
        levels: Levels::default(),
        duration: None,
        agent: companions::agent()?,
        redact: false,
        redefinition: Redefinition::Never,
        stacks: None, // a second is too little for them, and shows none
        samples: None,
        allocations: None,
        objects: Vec::new(),
        vm_log: 0,
        methods: None,
        ring_bytes: Options::RING_BYTES,
        agent_capacity: Options::AGENT_CAPACITY,
        counters: None,
        max_size: None,
        flight: Some(Flight {
            keep: Some(WINDOW),
            max_size: ROOM,
            when: Vec::new(),
            apart: WINDOW,
            most: 0,
            signal: Arc::default(),
        }),
    })
}

/// What the recorder says when it has begun; nothing if it ends before that, or we are to.
fn wait(
    told: &mpsc::Receiver<String>,
    asked: &AtomicBool,
    ended: impl Fn() -> bool,
) -> Option<String> {
    loop {
        match told.recv_timeout(Duration::from_millis(50)) {
            Ok(text) => return Some(text),
            Err(_) if ended() || interrupt_requested(asked) => return None,
            Err(_) => {}
        }
    }
}

fn interrupt_requested(asked: &AtomicBool) -> bool {
    asked.load(Ordering::Relaxed)
}

/// Shows second after second until it is told to end.
fn watch(
    args: &Args,
    pid: i32,
    introduction: &str,
    scratch: &Scratch,
    asked: &AtomicBool,
    ended: impl Fn() -> bool,
) -> Result<()> {
    let on_screen = !args.once && !args.json && std::io::stdout().is_terminal();
    if !on_screen {
        eprintln!("{introduction}");
    }
    let screen = if on_screen {
        Some(Screen::open()?)
    } else {
        None
    };
    let mut next = Instant::now() + WINDOW;
    for n in 0u64.. {
        while Instant::now() < next {
            let left = next.saturating_duration_since(Instant::now());
            let key = match &screen {
                Some(_) => Screen::key(left.min(Duration::from_millis(50)))?,
                None => {
                    std::thread::sleep(left.min(Duration::from_millis(50)));
                    None
                }
            };
            if key == Some(b'q') || interrupt_requested(asked) || ended() {
                return Ok(());
            }
        }
        next = Instant::now() + WINDOW;
        let dir = scratch.path().join(format!("{n}.trace"));
        let second = match second(pid, &dir) {
            Ok(second) => second,
            Err(_) if ended() => return Ok(()), // it went away while we asked
            Err(e) => return Err(e),
        };
        match &screen {
            Some(screen) => screen.show(&format!(
                "{}\n{}\n  q ends",
                second.render_live(show::color()).trim_end(),
                missing(introduction)
            ))?,
            None if args.json => show::out(&serde_json::to_string(&second)?)?,
            None => show::out(&second.render_live(show::color()))?,
        }
        if args.once {
            return Ok(());
        }
    }
    Ok(())
}

/// What is not seen, as it was said at the begin.
fn missing(introduction: &str) -> String {
    let lines: Vec<&str> = introduction.lines().skip(1).collect();
    lines.join("\n")
}

/// The last second, and no trace of it.
fn second(pid: i32, dir: &Path) -> Result<Report> {
    loadline_record::dump(pid, dir)?;
    let read = loadline_analyze::build(dir, false, &mut |_, _| {})
        .and_then(|_| report(&Trace::open(dir)?));
    std::fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
    read
}

/// The terminal's other screen, keys as they are typed; as it was when this goes away.
struct Screen {
    before: libc::termios,
}

impl Screen {
    fn open() -> Result<Screen> {
        // SAFETY: tcgetattr and tcsetattr touch only the structures given to them.
        let before = unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(0, &mut before) != 0 {
                return Err(std::io::Error::last_os_error())
                    .context("stdin is no terminal: use --once or --json");
            }
            let mut raw = before;
            raw.c_lflag &= !(libc::ICANON | libc::ECHO);
            libc::tcsetattr(0, libc::TCSANOW, &raw);
            before
        };
        let screen = Screen { before };
        print!("\x1b[?1049h\x1b[?25l\x1b[2J");
        std::io::stdout().flush()?;
        Ok(screen)
    }

    /// A key, if one is typed in that time.
    fn key(within: Duration) -> Result<Option<u8>> {
        let mut stdin = libc::pollfd {
            fd: 0,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut key = 0u8;
        // SAFETY: one pollfd and one byte, both ours.
        let read = unsafe {
            if libc::poll(&mut stdin, 1, within.as_millis() as libc::c_int) <= 0 {
                return Ok(None); // nothing, or a signal
            }
            libc::read(0, (&raw mut key).cast(), 1)
        };
        match read {
            1 => Ok(Some(key)),
            0 => Ok(Some(b'q')), // the terminal is gone
            _ => Ok(None),
        }
    }

    /// Replaces what is shown, as much of it as there is room for.
    fn show(&self, text: &str) -> Result<()> {
        // SAFETY: ioctl writes only into `size`.
        let size = unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            libc::ioctl(1, libc::TIOCGWINSZ, &mut size);
            size
        };
        let room = usize::from(size.ws_row).max(10) - 1;
        let mut out = String::from("\x1b[H");
        for line in text.lines().take(room) {
            out += line;
            out += "\x1b[K\r\n";
        }
        out += "\x1b[J";
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(out.as_bytes())?;
        Ok(stdout.flush()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        print!("\x1b[?25h\x1b[?1049l");
        // On the way out: what cannot be set back stays.
        let _ = std::io::stdout().flush();
        // SAFETY: a structure that tcgetattr filled.
        unsafe { libc::tcsetattr(0, libc::TCSANOW, &self.before) };
    }
}
