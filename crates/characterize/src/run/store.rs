//! The report's folder: what was asked for, one file per finished piece, and the report.
//!
//! What always holds: a file is there whole or not at all (written beside and renamed); a folder
//! that holds something else is never touched.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::plan::Parameters;

const PARAMETERS: &str = "parameters.json";

/// The folder.
pub struct Store {
    dir: PathBuf,
}

/// What cannot be done as it was asked for; the message says what the user can do instead.
#[derive(Debug)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl Store {
    /// Opens or makes it. One that was made with other parameters is refused, or emptied if `restart`.
    pub fn open(dir: &Path, parameters: &Parameters, restart: bool) -> Result<Store> {
        let store = Store { dir: dir.into() };
        let old: Option<serde_json::Value> = store.read(PARAMETERS)?;
        let empty = fs::read_dir(dir).map_or(true, |mut d| d.next().is_none());
        match old {
            None if !empty => bail!(Refused(format!(
                "{} exists and is no characterization: move it away, or name another with --out",
                dir.display()
            ))),
            Some(_) if restart => store.clear()?,
            // Nothing was measured with the old ones.
            Some(_) if !store.has_pieces() => {}
            Some(old) => {
                let differing = differing(&old, &serde_json::to_value(parameters)?);
                if !differing.is_empty() {
                    bail!(Refused(format!(
                        "{} was made with other parameters ({}): give the same ones to go on, --restart to begin anew, or another --out",
                        dir.display(),
                        differing.join("; ")
                    )));
                }
            }
            None => {}
        }
        for folder in [
            store.dir.clone(),
            store.path("points"),
            store.path("traces"),
        ] {
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        store.write(PARAMETERS, parameters)?;
        Ok(store)
    }

    fn has_pieces(&self) -> bool {
        fs::read_dir(self.path("points")).is_ok_and(|mut d| d.next().is_some())
    }

    /// Removes what a characterization writes, and nothing else.
    fn clear(&self) -> Result<()> {
        for name in ["points", "traces"] {
            let path = self.path(name);
            if path.is_dir() {
                fs::remove_dir_all(&path)
                    .with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(|n| {
                n.ends_with(".json")
                    || n.ends_with(".log")
                    || n == "index.html"
                    || n == "scenario.toml"
            });
            if ours {
                fs::remove_file(entry.path())
                    .with_context(|| format!("cannot remove {}", entry.path().display()))?;
            }
        }
        Ok(())
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Reads a piece; none if it is not there.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.path(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).with_context(|| {
                format!(
                    "{} is damaged: remove it, and the same command measures it again",
                    path.display()
                )
            })?)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// All pieces of a folder whose names begin so.
    pub fn read_all<T: DeserializeOwned>(&self, folder: &str, begin: &str) -> Result<Vec<T>> {
        let mut names: Vec<String> = fs::read_dir(self.path(folder))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|n| n.starts_with(begin) && n.ends_with(".json"))
            .collect();
        names.sort();
        let mut out = Vec::new();
        for name in names {
            out.extend(self.read(&format!("{folder}/{name}"))?);
        }
        Ok(out)
    }

    /// Writes a piece.
    pub fn write(&self, name: &str, piece: &impl Serialize) -> Result<()> {
        self.write_text(name, &serde_json::to_string_pretty(piece)?)
    }

    /// Writes a text.
    pub fn write_text(&self, name: &str, text: &str) -> Result<()> {
        let (path, part) = (self.path(name), self.path(&format!("{name}.part")));
        let write = || {
            fs::write(&part, text)?;
            fs::rename(&part, &path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

/// `duration_s: 60.0, now 20.0` for each parameter that is not the same.
fn differing(old: &serde_json::Value, new: &serde_json::Value) -> Vec<String> {
    let none = serde_json::Map::new();
    let (old, new) = (
        old.as_object().unwrap_or(&none),
        new.as_object().unwrap_or(&none),
    );
    let null = serde_json::Value::Null;
    new.iter()
        .map(|(key, now)| (key, old.get(key).unwrap_or(&null), now))
        .filter(|(_, then, now)| then != now)
        .map(|(key, then, now)| {
            if key == "scenario_text" {
                "the scenario's file has changed".to_owned()
            } else {
                format!("{}: {then}, now {now}", key.trim_end_matches("_s"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::parameters;

    #[test]
    fn a_folder_of_the_same_parameters_is_continued() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = dir.path().join("shop.characterize");
        let store = Store::open(&at, &parameters(), false).expect("new");
        store.write("points/1cpu-10.json", &7).expect("written");
        let again = Store::open(&at, &parameters(), false).expect("continued");
        assert_eq!(
            again.read_all::<i32>("points", "1cpu-").expect("read"),
            vec![7]
        );
        assert_eq!(
            again.read_all::<i32>("points", "2cpu-").expect("read"),
            Vec::<i32>::new()
        );
    }

    #[test]
    fn other_parameters_are_refused_by_name_unless_restarted() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(dir.path(), &parameters(), false).expect("an empty folder will do");
        store.write("points/1cpu-10.json", &7).expect("written");
        let other = Parameters {
            duration_s: 20.0,
            ..parameters()
        };
        let error = Store::open(dir.path(), &other, false)
            .err()
            .expect("refused")
            .to_string();
        assert!(
            error.contains("duration: 60.0, now 20.0") && error.contains("--restart"),
            "{error}"
        );
        let fresh = Store::open(dir.path(), &other, true).expect("restarted");
        assert!(
            fresh
                .read_all::<i32>("points", "")
                .expect("read")
                .is_empty()
        );
    }

    #[test]
    fn parameters_with_which_nothing_was_measured_bind_nobody() {
        let dir = tempfile::tempdir().expect("a directory");
        Store::open(dir.path(), &parameters(), false).expect("new");
        let other = Parameters {
            duration_s: 20.0,
            ..parameters()
        };
        Store::open(dir.path(), &other, false).expect("nothing was lost");
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone_even_by_restart() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("thesis.txt"), "precious").expect("written");
        for restart in [false, true] {
            assert!(Store::open(dir.path(), &parameters(), restart).is_err());
        }
        assert!(dir.path().join("thesis.txt").exists());
    }

    #[test]
    fn a_damaged_piece_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(dir.path(), &parameters(), false).expect("new");
        fs::write(dir.path().join("points/1cpu-10.json"), "{").expect("written");
        let error = store
            .read_all::<i32>("points", "")
            .expect_err("damaged")
            .to_string();
        assert!(error.contains("1cpu-10.json is damaged"), "{error}");
    }
}
