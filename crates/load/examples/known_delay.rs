//! A server whose delays are known, to check what load generators report of them.
//!
//! `known_delay --delay constant:40 | exponential:30 [--stall-at 2 --stall 1] [--seed 1]`
//!
//! Prints `port N`, then serves plain HTTP on 127.0.0.1. Before each reply it sleeps a time of the
//! distribution, in milliseconds. At `--stall-at` seconds after the first request it stops for
//! `--stall` seconds: reads nothing, writes nothing, as a server in a long collection does. When its
//! standard input ends, it prints, as one line of JSON, how long it took for every request, by its
//! own clock from the last byte read to the reply written (the stall excepted, which it cannot see
//! from inside), and ends.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[derive(Clone, Copy)]
enum Delay {
    Constant(f64),
    Exponential(f64),
}

struct Server {
    delay: Delay,
    random: u64,
    stall: Option<(Duration, Duration)>,
    first: Option<Instant>,
    took_us: Vec<u64>,
}

impl Server {
    fn next_delay(&mut self) -> Duration {
        let ms = match self.delay {
            Delay::Constant(ms) => ms,
            Delay::Exponential(mean) => {
                // xorshift64 (Marsaglia 2003): another generator than the one under test.
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let unit = (self.random >> 11) as f64 / (1u64 << 53) as f64;
                -mean * (1.0 - unit).ln()
            }
        };
        Duration::from_secs_f64(ms / 1e3)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = Server {
        delay: Delay::Constant(40.0),
        random: 0x2545_F491_4F6C_DD1D,
        stall: None,
        first: None,
        took_us: Vec::new(),
    };
    let (mut at, mut length) = (0.0, 0.0);
    let mut args = std::env::args().skip(1);
    while let Some(key) = args.next() {
        let value = args.next().ok_or(format!("{key} has no value"))?;
        match key.as_str() {
            "--delay" => {
                server.delay = match value.split_once(':') {
                    Some(("constant", ms)) => Delay::Constant(ms.parse()?),
                    Some(("exponential", ms)) => Delay::Exponential(ms.parse()?),
                    _ => return Err("--delay is constant:MS or exponential:MS".into()),
                }
            }
            "--stall-at" => at = value.parse()?,
            "--stall" => length = value.parse()?,
            "--seed" => server.random ^= value.parse::<u64>()? << 8,
            _ => return Err(format!("{key} is not known").into()),
        }
    }
    if length > 0.0 {
        server.stall = Some((Duration::from_secs_f64(at), Duration::from_secs_f64(length)));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let server = Rc::new(RefCell::new(server));
    tokio::task::LocalSet::new().block_on(&runtime, serve(server.clone()))?;
    let server = server.borrow();
    let times: Vec<String> = server.took_us.iter().map(u64::to_string).collect();
    println!("{{\"took_us\": [{}]}}", times.join(","));
    // The thread that waits for the end of the input has told us; nothing else is left.
    Ok(())
}

async fn serve(server: Rc<RefCell<Server>>) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("port {}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let (ended, mut end) = tokio::sync::mpsc::channel::<()>(1);
    std::thread::spawn(move || {
        let _ended = std::io::Read::read_to_end(&mut std::io::stdin(), &mut Vec::new());
        drop(ended);
    });
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let server = server.clone();
            // A client that goes away ends its connection; that is no error of the server.
            tokio::task::spawn_local(async move {
                let _gone = talk(stream, server).await;
            });
        }
    });
    // Nothing is ever sent: the end is the message.
    let _ended = end.recv().await;
    Ok(())
}

async fn talk(mut stream: TcpStream, server: Rc<RefCell<Server>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        // A request of a load generator has no body and ends with an empty line.
        while !buffer.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        buffer.clear();
        let begin = Instant::now();
        let (delay, stall) = {
            let mut server = server.borrow_mut();
            let first = *server.first.get_or_insert(begin);
            let due = server.stall.filter(|(at, _)| begin - first >= *at);
            if due.is_some() {
                server.stall = None;
            }
            (server.next_delay(), due)
        };
        if let Some((_, length)) = stall {
            // The whole server stands still, this request included.
            std::thread::sleep(length);
        }
        let rest = delay.saturating_sub(begin.elapsed());
        tokio::time::sleep(rest).await;
        stream.write_all(REPLY).await?;
        let took_us = begin.elapsed().as_micros() as u64;
        server.borrow_mut().took_us.push(took_us);
    }
}
