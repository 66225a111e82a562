//! Asking a recorder for a dump: a line to the socket by which it claims its target, and a line back.

use std::io::{BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sys;
use crate::target::claim_name;

/// How long somebody who asks may take to say what for; the recorder's own thread waits for it.
const SAY: Duration = Duration::from_millis(100);
/// How long a recorder may take for a dump.
const ANSWER: Duration = Duration::from_secs(60);

/// Has the recorder of `pid` dump what it keeps into `dir`, which then lacks its tables only.
pub fn dump(pid: i32, dir: &Path) -> Result<()> {
    let failed = |why: String| Error::Dump { pid, why };
    let connected = SocketAddr::from_abstract_name(claim_name(pid))
        .and_then(|address| UnixStream::connect_addr(&address));
    let mut socket = match connected {
        Ok(socket) => socket,
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
            return Err(failed(format!(
                "nobody records it; begin with: loadline record --pid {pid} --keep 60s"
            )));
        }
        Err(e) => return Err(failed(e.to_string())),
    };
    let asked = std::path::absolute(dir).and_then(|dir| {
        socket.set_read_timeout(Some(ANSWER))?;
        writeln!(socket, "dump {}", dir.display())?;
        let mut line = String::new();
        BufReader::new(&socket).read_line(&mut line)?;
        Ok(line)
    });
    match asked {
        Ok(line) if line.trim_end() == "done" => Ok(()),
        Ok(line) if line.is_empty() => Err(failed(
            "its recorder ended, or does not answer (is it of this version?)".into(),
        )),
        Ok(line) => Err(failed(line.trim_end().into())),
        Err(e) => Err(failed(e.to_string())),
    }
}

/// Answers who asks at the moment, if somebody does, with what `dump` says.
pub(crate) fn serve_one(
    listener: &UnixListener,
    dump: &mut dyn FnMut(PathBuf) -> std::result::Result<(), String>,
) {
    let Ok((mut socket, _)) = listener.accept() else {
        return; // nobody does
    };
    // Only who could have made this recording may have it written somewhere.
    let allowed = sys::peer(&socket).is_ok_and(|p| p.uid == sys::euid() || p.uid == 0);
    let mut line = String::new();
    let said = socket
        .set_nonblocking(false)
        .and_then(|()| socket.set_read_timeout(Some(SAY)))
        .and_then(|()| BufReader::new(&socket).read_line(&mut line));
    let Some(dir) = line
        .trim_end()
        .strip_prefix("dump ")
        .filter(|_| said.is_ok())
    else {
        return; // who only wants to know who holds the claim says nothing
    };
    let answer = match allowed {
        true => dump(dir.into()).map_or_else(|why| why, |()| "done".into()),
        false => "it is recorded by another user".into(),
    };
    // Who has gone meanwhile finds the dump all the same.
    let _ = writeln!(socket, "{}", answer.replace('\n', " "));
}
