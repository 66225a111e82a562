//! HTTP/1.1 replies, as a state machine without I/O: bytes in, a whole reply out.
//!
//! Terms: *head* is status line and header fields; *framing* is how the end of the body is known
//! (RFC 9112, 6.3): a length, chunks, the end of the connection, or no body at all.
//!
//! What always holds: the same bytes give the same reply however they are torn; no input panics or
//! makes it keep more than [`MAX_HEAD`] + [`MAX_BODY`] bytes; bytes after the reply's end are left to
//! the caller: they belong to the next reply if one was asked for, and are an error if none was.

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_FIELDS: usize = 100;
const MAX_CHUNK_LINE: usize = 4096;

/// Why bytes are not a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an HTTP/1.1 reply: {0}")]
pub struct BadReply(pub &'static str);

/// How far a reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    Partial,
    /// The reply is whole.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(usize),
    ChunkSize,
    Chunk(usize),
    ChunkEnd,
    Trailer,
    UntilClose,
    Done,
}

/// One reply being received. Reused for the next by [`Reply::reset`].
#[derive(Debug)]
pub struct Reply {
    state: State,
    /// Bytes not yet interpreted: a head or a chunk line that is not whole.
    pending: Vec<u8>,
    /// Status code; 0 until the head is whole.
    pub status: u16,
    /// The body so far, unchunked.
    pub body: Vec<u8>,
    /// Whether the connection can carry another request.
    pub keep_alive: bool,
    /// The value of each Set-Cookie.
    pub cookies: Vec<String>,
    /// Where a redirect leads.
    pub location: Option<String>,
    /// The server says that it must not be cached.
    pub no_store: bool,
    /// The server says when to ask again: with a 503, that it is busy and refuses, which is no error of its.
    pub retry_after: bool,
    /// It answers a HEAD: no body follows, whatever its head says.
    pub bodiless: bool,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply {
            state: State::Head,
            pending: Vec::new(),
            status: 0,
            body: Vec::new(),
            keep_alive: false,
            cookies: Vec::new(),
            location: None,
            no_store: false,
            retry_after: false,
            bodiless: false,
        }
    }
}

impl Reply {
    /// Makes it ready for the next reply; keeps its buffers.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.pending.clear();
        self.status = 0;
        self.body.clear();
        self.keep_alive = false;
        self.cookies.clear();
        self.location = None;
        self.no_store = false;
        self.retry_after = false;
        self.bodiless = false;
    }

    /// Takes the next bytes of the connection; says how many of them belong to this reply.
    pub fn push(&mut self, all: &[u8]) -> Result<(Progress, usize), BadReply> {
        let mut bytes = all;
        loop {
            match self.state {
                State::Head => match self.head(bytes)? {
                    Some(used) => bytes = &bytes[used..],
                    None => return Ok((Progress::Partial, all.len())),
                },
                State::Length(left) => {
                    let n = left.min(bytes.len());
                    self.keep(&bytes[..n])?;
                    bytes = &bytes[n..];
                    self.state = if n == left {
                        State::Done
                    } else {
                        State::Length(left - n)
                    };
                }
                State::Chunk(left) => {
                    let n = left.min(bytes.len());
                    self.keep(&bytes[..n])?;
                    bytes = &bytes[n..];
                    self.state = if n == left {
                        State::ChunkEnd
                    } else {
                        State::Chunk(left - n)
                    };
                }
                State::ChunkSize | State::ChunkEnd | State::Trailer => match self.line(bytes)? {
                    Some(used) => bytes = &bytes[used..],
                    None => return Ok((Progress::Partial, all.len())),
                },
                State::UntilClose => {
                    self.keep(bytes)?;
                    bytes = &[];
                }
                State::Done => return Ok((Progress::Whole, all.len() - bytes.len())),
            }
            if bytes.is_empty() && self.state != State::Done {
                return Ok((Progress::Partial, all.len()));
            }
        }
    }

    /// The connection ended. A reply framed by that is whole now.
    pub fn end(&mut self) -> Result<(), BadReply> {
        match self.state {
            State::UntilClose | State::Done => {
                self.state = State::Done;
                self.keep_alive = false;
                Ok(())
            }
            _ => Err(BadReply("the connection ended inside it")),
        }
    }

    /// Whether no byte of a reply has come.
    pub fn is_untouched(&self) -> bool {
        self.state == State::Head && self.pending.is_empty()
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BadReply> {
        if self.body.len() + bytes.len() > MAX_BODY {
            return Err(BadReply("its body is larger than 64 MiB"));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// Reads the head; the number of `bytes` that it took, or none if it is not whole.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadReply> {
        let had = self.pending.len();
        let room = MAX_HEAD - had;
        self.pending
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut head = httparse::Response::new(&mut fields);
        let parsed = head
            .parse(&self.pending)
            .map_err(|_| BadReply("its head cannot be read"))?;
        let httparse::Status::Complete(length) = parsed else {
            return if self.pending.len() == MAX_HEAD {
                Err(BadReply("its head is larger than 64 KiB"))
            } else {
                Ok(None)
            };
        };
        let status = head.code.ok_or(BadReply("it has no status"))?;
        let facts = Facts::of(head.version == Some(1), head.headers)?;
        self.status = status;
        self.cookies.extend(facts.cookies);
        self.location = facts.location;
        self.no_store = facts.no_store;
        self.retry_after = facts.retry_after;
        self.keep_alive = facts.keep_alive;
        self.state = match status {
            // An interim reply: the real one follows.
            100 | 102..=199 => State::Head,
            101 => return Err(BadReply("it switches to another protocol")),
            204 | 304 => State::Done,
            _ if self.bodiless => State::Done,
            _ if facts.chunked => State::ChunkSize,
            _ => match facts.length {
                Some(0) => State::Done,
                Some(n) if n > MAX_BODY => return Err(BadReply("its body is larger than 64 MiB")),
                Some(n) => State::Length(n),
                None => {
                    self.keep_alive = false;
                    State::UntilClose
                }
            },
        };
        self.pending.clear();
        // The head was not whole with `had` bytes, so it ends inside these.
        Ok(Some(length - had))
    }

    /// Reads one line of the chunked framing.
    fn line(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadReply> {
        let Some(end) = bytes.iter().position(|&b| b == b'\n') else {
            if self.pending.len() + bytes.len() > MAX_CHUNK_LINE {
                return Err(BadReply("a line between its chunks is too long"));
            }
            self.pending.extend_from_slice(bytes);
            return Ok(None);
        };
        if self.pending.len() + end > MAX_CHUNK_LINE {
            return Err(BadReply("a line between its chunks is too long"));
        }
        self.pending.extend_from_slice(&bytes[..end]);
        let line = self.pending.strip_suffix(b"\r").unwrap_or(&self.pending);
        self.state = match self.state {
            State::ChunkEnd if line.is_empty() => State::ChunkSize,
            State::ChunkEnd => return Err(BadReply("a chunk does not end where its size says")),
            State::ChunkSize => match chunk_size(line)? {
                0 => State::Trailer,
                n => State::Chunk(n),
            },
            _ if line.is_empty() => State::Done,
            _ => State::Trailer,
        };
        self.pending.clear();
        Ok(Some(end + 1))
    }
}

/// The size before a chunk; what follows a semicolon is an extension and means nothing to us.
fn chunk_size(line: &[u8]) -> Result<usize, BadReply> {
    let digits = line
        .split(|&b| b == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let bad = BadReply("the size of a chunk is not a hexadecimal number");
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(bad);
    }
    let text = std::str::from_utf8(digits).map_err(|_| bad)?;
    usize::from_str_radix(text, 16).map_err(|_| bad)
}

/// What the header fields say about framing, connection and session.
struct Facts {
    length: Option<usize>,
    chunked: bool,
    keep_alive: bool,
    cookies: Vec<String>,
    location: Option<String>,
    no_store: bool,
    retry_after: bool,
}

impl Facts {
    fn of(http_1_1: bool, fields: &[httparse::Header<'_>]) -> Result<Facts, BadReply> {
        let mut facts = Facts {
            length: None,
            chunked: false,
            keep_alive: http_1_1,
            cookies: Vec::new(),
            location: None,
            no_store: false,
            retry_after: false,
        };
        for field in fields {
            let value = field.value.trim_ascii();
            if field.name.eq_ignore_ascii_case("content-length") {
                let n = std::str::from_utf8(value)
                    .ok()
                    .filter(|v| v.bytes().all(|b| b.is_ascii_digit()));
                let n = n
                    .and_then(|v| v.parse().ok())
                    .ok_or(BadReply("its Content-Length is not a number"))?;
                if facts.length.is_some_and(|known| known != n) {
                    return Err(BadReply("it has two lengths"));
                }
                facts.length = Some(n);
            } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(BadReply("its transfer encoding is not chunked"));
                }
                facts.chunked = true;
            } else if field.name.eq_ignore_ascii_case("connection") {
                for token in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
                    if token.eq_ignore_ascii_case(b"close") {
                        facts.keep_alive = false;
                    } else if token.eq_ignore_ascii_case(b"keep-alive") {
                        facts.keep_alive = true;
                    }
                }
            } else if field.name.eq_ignore_ascii_case("set-cookie") {
                if let Ok(cookie) = std::str::from_utf8(value)
                    && cookie.contains('=')
                {
                    facts.cookies.push(cookie.to_owned());
                }
            } else if field.name.eq_ignore_ascii_case("location") {
                facts.location = std::str::from_utf8(value).ok().map(str::to_owned);
            } else if field.name.eq_ignore_ascii_case("retry-after") {
                facts.retry_after = true;
            } else if field.name.eq_ignore_ascii_case("cache-control") {
                let value = value.to_ascii_lowercase();
                facts.no_store |= [&b"no-store"[..], b"no-cache"]
                    .iter()
                    .any(|word| value.windows(word.len()).any(|w| w == *word));
            }
        }
        Ok(facts)
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
