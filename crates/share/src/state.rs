//! What a daemon writes down so that the next one can take over after a crash.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ShareError;
use crate::applications::{App, Origin};
use crate::mechanism::Former;

/// One application, as it has to be found again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub key: String,
    pub name: String,
    pub pid: i32,
    /// With the pid, which process it is.
    pub start_ticks: u64,
    pub uid: u32,
    pub gid: u32,
    pub origin: Origin,
    pub priority: f64,
    /// None: without limit.
    pub most_priority: Option<f64>,
    pub most_cpus_thousandths: u32,
    pub asked_thousandths: Option<u32>,
    pub former: Former,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub version: u32,
    pub pid: i32,
    pub mechanism: String,
    pub cgroup: String,
    pub managed: String,
    pub applications: Vec<Left>,
}

pub(crate) const VERSION: u32 = 1;

impl Left {
    pub(crate) fn of(app: &App) -> Left {
        Left {
            key: app.key.clone(),
            name: app.name.clone(),
            pid: app.pid,
            start_ticks: app.start_ticks,
            uid: app.uid,
            gid: app.gid,
            origin: app.origin,
            priority: app.demand.priority,
            most_priority: Some(app.demand.limits.priority).filter(|p| p.is_finite()),
            most_cpus_thousandths: app.demand.limits.cpus.as_thousandths(),
            asked_thousandths: app.demand.asked.map(|c| c.as_thousandths()),
            former: app.former.clone(),
        }
    }
}

/// Replaces the file in one go.
pub(crate) fn write(path: &Path, state: &State) -> Result<(), ShareError> {
    let text = serde_json::to_vec_pretty(state).map_err(|e| ShareError::failed(e.to_string()))?;
    let new = path.with_extension("new");
    fs::write(&new, text).map_err(ShareError::on(&new))?;
    fs::rename(&new, path).map_err(ShareError::on(path))
}

/// None if there is none. One of another version, or a broken one, is an error that says what to do.
pub(crate) fn read(path: &Path) -> Result<Option<State>, ShareError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(ShareError::on(path)(e)),
    };
    match serde_json::from_slice::<State>(&text) {
        Ok(state) if state.version == VERSION => Ok(Some(state)),
        Ok(state) => Err(ShareError::failed(format!(
            "{} is of version {}, not {VERSION}: `loadline share stop` of that version undoes it",
            path.display(),
            state.version
        ))),
        Err(e) => Err(ShareError::failed(format!(
            "{}: {e}; if nothing is managed any more, remove the file",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_not_ours_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("state.json");
        assert_eq!(read(&path).expect("no file"), None);
        let state = State {
            version: VERSION,
            pid: 1,
            mechanism: "affinity".into(),
            cgroup: "loadline".into(),
            managed: "0-1".into(),
            applications: vec![Left {
                key: "shop-7".into(),
                name: "shop".into(),
                pid: 7,
                start_ticks: 8,
                uid: 0,
                gid: 0,
                origin: Origin::Run,
                priority: 2.0,
                most_priority: None,
                most_cpus_thousandths: 4000,
                asked_thousandths: Some(1500),
                former: Former {
                    cgroups: vec![("cpuset".into(), "/".into())],
                    cpus: "0-1".into(),
                },
            }],
        };
        write(&path, &state).expect("written");
        assert_eq!(read(&path).expect("read"), Some(state.clone()));
        write(
            &path,
            &State {
                version: 2,
                ..state
            },
        )
        .expect("written");
        assert!(
            read(&path)
                .expect_err("another version")
                .to_string()
                .contains("version 2")
        );
        fs::write(&path, "{").expect("written");
        assert!(
            read(&path)
                .expect_err("broken")
                .to_string()
                .contains("remove the file")
        );
    }
}
