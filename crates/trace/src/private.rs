//! Files of a trace are their owner's only: who may see what a program does is for its owner to say.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// A new file, or an emptied one, that its owner alone can read and write.
pub fn create(path: &Path) -> io::Result<File> {
    options().truncate(true).create(true).open(path)
}

/// A file that is not there yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Writes a whole file.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    create(path)?.write_all(text.as_bytes())
}

/// A directory, with those above it, which others can go through, to files whose names they know and that are theirs
/// (the recorded process to its spool), but not list.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o711).create(path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_can_read_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        let file = dir.path().join("x");
        write(&file, "1").expect("written");
        assert_eq!(mode(&file), 0o600);
        assert!(create_new(&file).is_err(), "it is there");
        let deep = dir.path().join("a/b");
        create_dir_all(&deep).expect("made");
        assert_eq!(mode(&deep), 0o711);
    }
}
