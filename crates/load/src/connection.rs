//! One connection of a visitor: opening it, asking, reading replies.

use crate::clock::now_ns;
use crate::http::{Progress, Reply};
use crate::http2::Http2;
use crate::scenario::{Abandon, Ask, Http};
use crate::session::Context;
use crate::shake::{Tls, shake_hands};
use crate::stats::{Failure, Stats, lock};
use crate::stream::{Counted, Stream};
use std::cell::RefCell;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// Room for a whole TLS record.
const READ_BYTES: usize = 16 * 1024 + 256;
/// How often a slow reader reads.
const SLOW_READ: Duration = Duration::from_millis(100);

thread_local! {
    /// Bytes are interpreted as they are read, so one buffer a worker is enough.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

enum Wire {
    One(Stream),
    Two(Http2),
}

/// What a connection is to be.
pub(crate) struct Plan {
    /// The address that it comes from; none: the kernel chooses.
    pub(crate) source: Option<Ipv4Addr>,
    /// What it offers, if it speaks TLS.
    pub(crate) tls: Option<Tls>,
    /// Whether it is a slow reader's.
    pub(crate) slow: bool,
}

/// An open connection.
pub(crate) struct Connection {
    wire: Wire,
    /// Requests sent on it.
    pub(crate) requests: u32,
    /// A request being written.
    out: Vec<u8>,
    /// Bytes of the next reply that came with the last.
    rest: Vec<u8>,
    /// Replies of this connection that are still to come.
    outstanding: u32,
    slow_bytes_per_s: Option<u32>,
}

/// Why a request got no reply, and whether asking again on a new connection is right.
pub(crate) struct Broken {
    pub(crate) why: Failure,
    /// The server closed an idle connection before a byte of the reply: not a failure of the server.
    pub(crate) was_idle_close: bool,
}

impl Broken {
    fn bad_reply() -> Broken {
        Broken {
            why: Failure::BadReply,
            was_idle_close: false,
        }
    }
}

impl Connection {
    /// Connects and, with TLS, shakes hands; both are timed into the context's stats.
    pub(crate) async fn open(context: &Context, plan: Plan) -> Result<Connection, Failure> {
        let begin_ns = now_ns();
        let slow_bytes_per_s = plan
            .slow
            .then_some(context.scenario.client.slow_bytes_per_s);
        let stats = &*context.stats;
        let connected = connect(context.address, &plan).await;
        let connected_ns = now_ns();
        let tcp = {
            let mut stats = lock(stats);
            match connected {
                Ok(tcp) => {
                    stats.connected(connected_ns, false);
                    stats.tcp.add(connected_ns - begin_ns);
                    Counted::new(tcp)
                }
                Err(e) => {
                    stats.connected(connected_ns, e.raw_os_error() == Some(libc::ECONNREFUSED));
                    let none_left = matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
                    stats.out_of_descriptors |= none_left;
                    return Err(connect_failure(&e));
                }
            }
        };
        if context.scenario.client.abandon == Abandon::Reset {
            tcp.reset_when_closed(true).map_err(|_| Failure::Connect)?;
        }
        let stream = match plan.tls {
            None => Stream::Plain(tcp),
            Some(tls) => shake_hands(tcp, tls, connected_ns, stats).await?,
        };
        let wire = match context.scenario.http {
            Http::One => Wire::One(stream),
            Http::Two => Wire::Two(Http2::begin(stream).await?),
        };
        Ok(Connection {
            wire,
            requests: 0,
            out: Vec::new(),
            rest: Vec::new(),
            outstanding: 0,
            slow_bytes_per_s,
        })
    }

    /// Another user of the same HTTP/2 connection; none for HTTP/1.1.
    pub(crate) fn share(&self) -> Option<Connection> {
        match &self.wire {
            Wire::One(_) => None,
            Wire::Two(h2) => Some(Connection {
                wire: Wire::Two(h2.clone()),
                requests: self.requests,
                out: Vec::new(),
                rest: Vec::new(),
                outstanding: 0,
                slow_bytes_per_s: self.slow_bytes_per_s,
            }),
        }
    }

    /// Sends a request and reads its reply; wait and transfer are timed into the stats.
    pub(crate) async fn ask(
        &mut self,
        context: &Context,
        request: &Ask,
        cookies: &str,
        reply: &mut Reply,
    ) -> Result<(), Broken> {
        let sent_ns = now_ns();
        self.send(context, request, cookies, reply).await?;
        self.receive(context, request, sent_ns, reply).await
    }

    /// Sends a request; several may be sent before the first [`Connection::receive`] (HTTP/1.1).
    pub(crate) async fn send(
        &mut self,
        context: &Context,
        request: &Ask,
        cookies: &str,
        reply: &mut Reply,
    ) -> Result<(), Broken> {
        let reused = self.requests > 0;
        self.requests += 1;
        match &mut self.wire {
            Wire::One(stream) => {
                self.out.clear();
                write_request(&mut self.out, request, &context.authority, cookies);
                self.outstanding += 1;
                write(stream, &self.out).await.map_err(|_| Broken {
                    why: Failure::Closed,
                    was_idle_close: reused,
                })
            }
            Wire::Two(h2) => {
                reply.reset();
                h2.ask(context, request, cookies, reply, reused).await
            }
        }
    }

    /// Reads the reply to the request that was sent first of those without one.
    pub(crate) async fn receive(
        &mut self,
        context: &Context,
        request: &Ask,
        sent_ns: u64,
        reply: &mut Reply,
    ) -> Result<(), Broken> {
        let Wire::One(stream) = &mut self.wire else {
            // HTTP/2 has it already: its streams need no turns.
            return Ok(());
        };
        reply.reset();
        reply.bodiless = request.method == "HEAD";
        let reused = self.requests > 1;
        let mut received = self.rest.len() as u64;
        let mut first_ns = 0;
        if !self.rest.is_empty() {
            first_ns = now_ns();
            let pushed = reply.push(&self.rest);
            let (progress, used) = pushed.map_err(|_| Broken::bad_reply())?;
            self.rest.drain(..used);
            received = used as u64;
            if progress == Progress::Whole {
                self.outstanding -= 1;
                return self.done(&context.stats, sent_ns, first_ns, received);
            }
        }
        loop {
            if let Some(rate) = self.slow_bytes_per_s
                && first_ns != 0
                && rate > 0
            {
                tokio::time::sleep(SLOW_READ).await;
            }
            let at_most = self
                .slow_bytes_per_s
                .map_or(READ_BYTES, |rate| (rate as usize / 10).clamp(1, READ_BYTES));
            let read = read(stream, at_most, reply, &mut self.rest).await;
            let closed = |reply: &Reply| Broken {
                why: Failure::Closed,
                was_idle_close: reused && reply.is_untouched(),
            };
            let (progress, n) = match read {
                Ok(Some(read)) => read.map_err(|_| Broken::bad_reply())?,
                Ok(None) if !reply.is_untouched() => {
                    reply.end().map_err(|_| Broken {
                        why: Failure::Closed,
                        was_idle_close: false,
                    })?;
                    (Progress::Whole, 0)
                }
                Ok(None) | Err(_) => return Err(closed(reply)),
            };
            if first_ns == 0 {
                first_ns = now_ns();
            }
            received += n as u64;
            if progress == Progress::Whole {
                self.outstanding -= 1;
                return self.done(&context.stats, sent_ns, first_ns, received);
            }
        }
    }

    fn done(
        &self,
        stats: &Mutex<Stats>,
        sent_ns: u64,
        first_ns: u64,
        received: u64,
    ) -> Result<(), Broken> {
        if self.outstanding == 0 && !self.rest.is_empty() {
            // Nothing was asked that these bytes could answer.
            return Err(Broken::bad_reply());
        }
        let mut stats = lock(stats);
        stats.bytes_received += received;
        stats.wait.add(first_ns.saturating_sub(sent_ns));
        stats.transfer.add(now_ns().saturating_sub(first_ns));
        Ok(())
    }

    /// Says goodbye (close_notify, FIN). The server may have gone first; nobody minds.
    pub(crate) async fn close(self) {
        let Wire::One(mut stream) = self.wire else {
            // The last user of an HTTP/2 connection ends it by going away.
            return;
        };
        let _kept_by_the_kernel = stream.tcp().reset_when_closed(false);
        let _gone_first = stream.shutdown().await;
    }
}

async fn connect(address: SocketAddr, plan: &Plan) -> std::io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if let Some(source) = plan.source {
        socket.bind((source, 0).into())?;
    }
    if plan.slow {
        // With the usual buffer the kernel would take a whole page at once for the slow reader.
        socket.set_recv_buffer_size(4096)?;
    }
    let tcp = socket.connect(address).await?;
    // Without this, Nagle's algorithm would hold back the second small write of a handshake.
    tcp.set_nodelay(true)?;
    Ok(tcp)
}

/// Reads once and interprets. None is the connection's end.
async fn read(
    stream: &mut Stream,
    at_most: usize,
    reply: &mut Reply,
    rest: &mut Vec<u8>,
) -> std::io::Result<Option<Result<(Progress, usize), crate::http::BadReply>>> {
    poll_fn(|cx| {
        BUFFER.with_borrow_mut(|buffer| {
            let mut buf = ReadBuf::new(&mut buffer[..at_most]);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buf))?;
            let bytes = buf.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(None));
            }
            Poll::Ready(Ok(Some(reply.push(bytes).map(|(progress, used)| {
                rest.extend_from_slice(&bytes[used..]);
                (progress, used)
            }))))
        })
    })
    .await
}

async fn write(stream: &mut Stream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    if let Stream::Tls(tls) = stream {
        tls.flush().await?;
    }
    Ok(())
}

fn write_request(out: &mut Vec<u8>, request: &Ask, authority: &str, cookies: &str) {
    for part in [
        &*request.method,
        " ",
        &request.path,
        " HTTP/1.1\r\nHost: ",
        authority,
        "\r\nUser-Agent: loadline\r\nAccept: */*\r\n",
    ] {
        out.extend_from_slice(part.as_bytes());
    }
    if !cookies.is_empty() {
        out.extend_from_slice(b"Cookie: ");
        out.extend_from_slice(cookies.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    let Some(body) = &request.body else {
        out.extend_from_slice(b"\r\n");
        return;
    };
    let head = format!(
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
}

fn connect_failure(error: &std::io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::EADDRNOTAVAIL | libc::ENOBUFS | libc::ENOMEM) => {
            Failure::NoResource
        }
        _ => Failure::Connect,
    }
}
