//! Where recorder and agent meet: the agent's files, by names that each of the two can open.
//!
//! Where the target sees the recorder's files under the same names, that is the raw directory. Where it does not (a
//! container, a chroot, systemd's PrivateTmp) it is a folder in the target's /tmp, which the recorder reaches through
//! /proc/PID/root: *apart*. The agent's two halves are copied there, its spool is written there, and comes to the raw
//! directory when the recording ends. Until then links stand in its stead, so that who reads the raw directory need not know.
//!
//! What always holds: whatever is made in the target's file system is made with its own rights; what lies there is its
//! own to change, so that nothing is opened through a name of which it could make a link; it is removed however the
//! recording ends, but for a recorder that is killed: then `recover` does so.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use loadline_trace::private;
use loadline_trace::spool::RawDir;

use crate::agent::AgentSpool;
use crate::error::{Error, Result, io};
use crate::options::AgentFiles;
use crate::prepare::absolute;
use crate::sys::{self, now_ns};
use crate::target::{Target, open_inside, user_name};

/// A link in the raw directory whose text tells where files are that a killed recorder left.
const APART: &str = "agent.apart";

/// Where the agent's files are.
pub struct Place {
    /// The directory, as the target calls it.
    pub theirs: PathBuf,
    /// The agent's Java half, as the target calls it.
    pub jar: PathBuf,
    /// Its native half.
    pub library: PathBuf,
    apart: Option<Apart>,
}

/// A folder in the target's /tmp.
struct Apart {
    target: Target,
    name: String,
    tmp: File,
    folder: File,
}

impl Place {
    /// Where a recording into `raw` meets a target, or a JVM that we shall start.
    pub fn of(target: Option<&Target>, agent: &AgentFiles, raw: &RawDir) -> Result<Place> {
        let (jar, library) = (absolute(&agent.jar)?, absolute(&agent.library)?);
        let sees_all = |t: &&Target| [raw.path(), &jar, &library].iter().all(|p| t.sees(p));
        match target.filter(|t| !sees_all(t)) {
            None => Ok(Place {
                theirs: raw.path().into(),
                jar,
                library,
                apart: None,
            }),
            Some(target) => Place::apart(target, [&jar, &library], raw),
        }
    }

    fn apart(target: &Target, halves: [&Path; 2], raw: &RawDir) -> Result<Place> {
        let name = format!("loadline-{:x}", now_ns());
        let theirs = Path::new("/tmp").join(&name);
        let failed = |e: io::Error| Error::Unreachable {
            pid: target.pid,
            user: user_name(target.uid),
            path: theirs.clone(),
            why: format!(
                "{e}. It has a file system of its own, in which the agent's files go into its /tmp: that must be there, be \
                 writable, and have room"
            ),
        };
        let tmp = target.tmp().map_err(failed)?;
        let halves = halves.map(|path| fs::read(path).map_err(io(path)));
        let [jar, library] = halves;
        let contents = [(JAR, jar?), (LIBRARY, library?)];
        let under = inside(&tmp).join(&name);
        let made = target.on_its_behalf(|| {
            DirBuilder::new().mode(0o700).create(&under)?;
            let folder = open_inside(&tmp, &name, libc::O_PATH | libc::O_DIRECTORY)?;
            for (half, bytes) in &contents {
                let path = inside(&folder).join(half);
                fs::write(&path, bytes)?;
                fs::set_permissions(&path, Permissions::from_mode(0o500))?;
            }
            Ok(folder)
        });
        let folder = match made {
            Ok(folder) => folder,
            Err(e) => {
                let _ = fs::remove_dir_all(&under); // the error above says what is wrong
                return Err(failed(e));
            }
        };
        let where_from_here = format!("/proc/{}/root/tmp/{name}", target.pid);
        let link = raw.path().join(APART);
        symlink(where_from_here, &link).map_err(io(&link))?;
        Ok(Place {
            jar: theirs.join(JAR),
            library: theirs.join(LIBRARY),
            theirs,
            apart: Some(Apart {
                target: target.clone(),
                name,
                tmp,
                folder,
            }),
        })
    }

    /// Whether the target sees the raw directory itself.
    pub fn is_shared(&self) -> bool {
        self.apart.is_none()
    }

    /// Makes the agent's spool with `make`, which is told the directory and the user and group that must be able to write.
    pub fn spool(
        &self,
        raw: &RawDir,
        owner: (u32, u32),
        make: impl FnOnce(&RawDir, (u32, u32)) -> Result<AgentSpool> + Send,
    ) -> Result<AgentSpool> {
        let Some(apart) = &self.apart else {
            return make(raw, owner);
        };
        let files = RawDir::at(inside(&apart.folder));
        let own = (sys::euid(), 0); // whoever makes it there is the target's user
        let made = apart.target.on_its_behalf(|| Ok(make(&files, own)));
        let spool = made.map_err(io(&self.theirs))??;
        let [events, log] = spool.files();
        for (file, link) in [(events, raw.agent()), (log, raw.vm_log())] {
            symlink(inside(file), &link).map_err(io(&link))?;
        }
        Ok(spool)
    }

    /// Brings what was written apart into the raw directory, and removes it there; what cannot be brought stays, for `recover`.
    pub fn bring_home(&mut self, spool: &AgentSpool, raw: &RawDir) -> Result<()> {
        let Some(apart) = self.apart.take() else {
            return Ok(());
        };
        let [events, log] = spool.files();
        for (from, to) in [(events, raw.agent()), (log, raw.vm_log())] {
            // By a descriptor of its own, which begins at the begin.
            let from = File::open(inside(from)).map_err(io(&to))?;
            replace(from, &to)?;
        }
        let link = raw.path().join(APART);
        fs::remove_file(&link).map_err(io(&link))?;
        apart.remove();
        Ok(())
    }
}

impl Apart {
    fn remove(&self) {
        // The mount may be gone with the target; else what cannot be removed is in a /tmp.
        let _ = fs::remove_dir_all(inside(&self.tmp).join(&self.name));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(apart) = &self.apart {
            apart.remove(); // the recording did not come about
        }
    }
}

const JAR: &str = "loadline-agent.jar";
const LIBRARY: &str = "libloadline-agent.so";

/// Brings home what a killed recorder left apart; false if it is gone with the target.
pub fn recover(raw: &RawDir) -> Result<bool> {
    let link = raw.path().join(APART);
    let Ok(folder) = fs::read_link(&link) else {
        return Ok(true); // it was not apart, or is home already
    };
    let files = [raw.agent(), raw.vm_log()];
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Ok(false);
    };
    let opened = File::open(parent).and_then(|tmp| {
        let opened = open_inside(&tmp, name, libc::O_PATH | libc::O_DIRECTORY)?;
        Ok((tmp, opened))
    });
    let Ok((tmp, opened)) = opened else {
        for path in files.iter().chain([&link]) {
            if path.is_symlink() {
                fs::remove_file(path).map_err(io(path))?;
            }
        }
        return Ok(false);
    };
    for to in &files {
        let name = to.file_name().unwrap_or_default();
        let from = open_inside(&opened, name, libc::O_RDONLY).map_err(io(to))?;
        if !from.metadata().map_err(io(to))?.is_file() {
            return Err(io(to)(io::ErrorKind::InvalidData.into()));
        }
        replace(from, to)?;
    }
    fs::remove_file(&link).map_err(io(&link))?;
    let left = inside(&tmp).join(name);
    fs::remove_dir_all(&left).map_err(io(&left))?;
    Ok(true)
}

/// Puts a copy of a file where its link is.
fn replace(mut from: File, link: &Path) -> Result<()> {
    let new = link.with_extension("home");
    let mut to = private::create_new(&new).map_err(io(&new))?;
    io::copy(&mut from, &mut to).map_err(io(&new))?;
    fs::rename(&new, link).map_err(io(link))
}

/// A name of what is open, good in this process: of a directory, its files are below it.
fn inside(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        file.as_raw_fd()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_trace::spool::agent::Asked;

    fn agent(dir: &Path) -> AgentFiles {
        let agent = AgentFiles {
            jar: dir.join("a.jar"),
            library: dir.join("a.so"),
        };
        for half in [&agent.jar, &agent.library] {
            fs::write(half, "half").expect("written");
        }
        agent
    }

    /// This process as a target that sees nothing of ours, so that its /tmp is ours.
    fn met(dir: &Path, raw: &RawDir) -> (Place, AgentSpool) {
        fs::create_dir(raw.path()).expect("raw");
        let target = Target::look(std::process::id() as i32).expect("us");
        let halves = agent(dir);
        let place = Place::apart(&target, [&halves.jar, &halves.library], raw).expect("a place");
        let make = |files: &RawDir, owner| AgentSpool::create(files, 0, &Asked::default(), owner);
        let spool = place.spool(raw, (0, 0), make).expect("a spool");
        (place, spool)
    }

    #[test]
    fn what_was_written_apart_comes_home_and_nothing_stays_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        let (mut place, spool) = met(dir.path(), &raw);
        assert_eq!(fs::read(&place.jar).expect("a copy"), b"half");
        fs::write(place.theirs.join("vm.log"), "a line\n").expect("as the JVM does");
        assert_eq!(
            fs::read(raw.vm_log()).expect("through its link"),
            b"a line\n"
        );
        spool.close().expect("closed");
        place.bring_home(&spool, &raw).expect("home");
        let there = place.theirs.clone();
        drop((place, spool));
        assert!(!there.exists());
        assert_eq!(fs::read(raw.vm_log()).expect("a copy"), b"a line\n");
        let spool = fs::symlink_metadata(raw.agent()).expect("it");
        assert!(spool.is_file() && spool.len() > 0);
    }

    #[test]
    fn what_a_killed_recorder_left_is_brought_home_unless_it_is_a_link() {
        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        let (place, spool) = met(dir.path(), &raw);
        let there = place.theirs.clone();
        fs::write(there.join("vm.log"), "a line\n").expect("as the JVM does");
        std::mem::forget((place, spool));
        assert!(recover(&raw).expect("recovered"));
        assert_eq!(fs::read(raw.vm_log()).expect("a copy"), b"a line\n");
        assert!(!there.exists());
        assert!(recover(&raw).expect("nothing to do"));

        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        let (place, spool) = met(dir.path(), &raw);
        let log = place.theirs.join("vm.log");
        fs::remove_file(&log).expect("removed");
        symlink("/etc/passwd", &log).expect("as a hostile target does");
        let there = place.theirs.clone();
        std::mem::forget((place, spool));
        recover(&raw).expect_err("a link");
        fs::remove_dir_all(there).expect("removed");
        assert!(recover(&raw).is_ok_and(|all| !all), "it is gone");
    }
}
