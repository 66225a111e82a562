//! The directory of a trace that is being recorded.
//!
//! What always holds: only a new or empty directory is taken; while we live `raw/` is locked; until
//! the recording has begun, going away removes all that was made here, and nothing else.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use loadline_trace::private;
use loadline_trace::spool::RawDir;
use loadline_trace::spool::session::Session;

use crate::error::{Error, Result, io};
use crate::sys;

/// Kept so that the session can still be completed on a full disk.
const RESERVE_BYTES: u64 = 256 << 10;

/// The trace's directory and its spools.
pub struct TraceDir {
    dir: PathBuf,
    raw: RawDir,
    made_dir: bool,
    keep: bool,
    _lock: File,
}

impl TraceDir {
    /// Makes `out` and `out/raw`.
    pub fn create(out: &Path) -> Result<TraceDir> {
        let made_dir = match fs::read_dir(out).map(|mut entries| entries.next().is_none()) {
            Ok(true) => false,
            Ok(false) => return Err(Error::OutputInUse(out.into())),
            Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(Error::OutputInUse(out.into()));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                private::create_dir_all(out).map_err(io(out))?;
                true
            }
            Err(e) => return Err(io(out)(e)),
        };
        let dir = fs::canonicalize(out).map_err(io(out))?;
        let raw = RawDir::of(&dir);
        fs::create_dir(raw.path()).map_err(io(raw.path()))?;
        // Whoever the target runs as must be able to come through to its own two files.
        let made = [made_dir.then_some(dir.as_path()), Some(raw.path())];
        for path in made.into_iter().flatten() {
            let mode = fs::metadata(path).map_err(io(path))?.permissions().mode();
            fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o111))
                .map_err(io(path))?;
        }
        let lock = File::open(raw.path()).map_err(io(raw.path()))?;
        if !sys::try_lock(&lock).map_err(io(raw.path()))? {
            return Err(Error::OutputInUse(out.into()));
        }
        let new = TraceDir {
            dir,
            raw,
            made_dir,
            keep: false,
            _lock: lock,
        };
        let reserve = new.reserve();
        let file = private::create_new(&reserve).map_err(io(&reserve))?;
        sys::allocate(&file, 0, RESERVE_BYTES).map_err(io(&reserve))?;
        Ok(new)
    }

    fn reserve(&self) -> PathBuf {
        self.raw.path().join("reserve")
    }

    /// The directory, absolute.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Its spools.
    pub fn raw(&self) -> &RawDir {
        &self.raw
    }

    /// From now on what is here stays.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Stores the session for the last time, with room kept for it.
    pub fn store_last(&self, session: &Session) -> Result<()> {
        let reserve = self.reserve();
        fs::remove_file(&reserve).map_err(io(&reserve))?;
        Ok(session.store(&self.raw.session())?)
    }
}

impl Drop for TraceDir {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        // On the way out of the error that matters: what cannot be removed is left.
        let _ = fs::remove_dir_all(self.raw.path());
        if self.made_dir {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_something_in_it_or_a_file_is_refused_and_untouched() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("x");
        fs::write(&file, "mine").expect("written");
        for out in [dir.path(), &file] {
            let error = TraceDir::create(out).err().expect("refused").to_string();
            assert!(error.starts_with("output directory in use: "), "{error}");
        }
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn what_was_made_for_a_recording_that_never_began_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let new = dir.path().join("a/b");
        drop(TraceDir::create(&new).expect("made"));
        assert!(!new.exists());
        drop(TraceDir::create(dir.path().join("a").as_path()).expect("an empty one is taken"));
        assert!(dir.path().join("a").exists(), "it was there before");
    }

    #[test]
    fn a_recording_that_began_stays_with_its_session() {
        let dir = tempfile::tempdir().expect("a directory");
        let out = dir.path().join("t");
        let mut trace = TraceDir::create(&out).expect("made");
        trace.keep();
        trace
            .store_last(&Session {
                end_ns: 5,
                ..Session::default()
            })
            .expect("stored");
        drop(trace);
        let raw = RawDir::of(&out);
        assert_eq!(Session::load(&raw.session()).expect("readable").end_ns, 5);
        assert_eq!(
            fs::read_dir(raw.path()).expect("there").count(),
            1,
            "the reserve is gone"
        );
    }
}
