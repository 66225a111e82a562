//! Whose a trace is.

use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;

use crate::sys;

/// Gives a directory and all in it to whoever called `sudo`: traces are readable by their owner only, and it is he who will
/// read this one. Nothing without sudo.
pub fn give_to_caller(dir: &Path) -> io::Result<()> {
    let id = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    match (id("SUDO_UID"), id("SUDO_GID")) {
        (Some(user), Some(group)) if sys::euid() == 0 => give(dir, user, group),
        _ => Ok(()),
    }
}

fn give(path: &Path, user: u32, group: u32) -> io::Result<()> {
    // Contents first: once the directory is his, he could put links in it.
    if path.symlink_metadata()?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give(&entry?.path(), user, group)?;
        }
    }
    lchown(path, Some(user), Some(group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn all_of_a_directory_is_given_and_nothing_that_a_link_names() {
        if sys::euid() != 0 {
            // Past the test runner's capture, where skipped tests are counted.
            let _ = writeln!(
                std::io::stderr(),
                "SKIP all_of_a_directory_is_given: needs root"
            );
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (outside, inside) = (dir.path().join("outside"), dir.path().join("t.trace"));
        std::fs::create_dir_all(inside.join("raw")).expect("made");
        std::fs::write(&outside, "").expect("written");
        std::fs::write(inside.join("raw/x"), "").expect("written");
        std::os::unix::fs::symlink(&outside, inside.join("link")).expect("linked");
        give(&inside, 12345, 12346).expect("given");
        let owner = |p: &Path| {
            p.symlink_metadata()
                .map(|m| (m.uid(), m.gid()))
                .expect("there")
        };
        for path in ["", "raw", "raw/x", "link"] {
            assert_eq!(owner(&inside.join(path)), (12345, 12346), "{path}");
        }
        assert_eq!(owner(&outside), (0, 0));
    }
}
