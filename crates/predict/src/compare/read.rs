//! Measurements: results of `characterize`, and what `loadline load --json` prints.

use std::path::Path;

use anyhow::{Context, Result, bail};
use loadline_characterize::{Characterization, FORMAT};

use super::Measured;

/// Load lines to be compared: CPUs, objective in seconds, the line, its interval.
pub type MeasuredLine = (u32, f64, Option<f64>, Option<(f64, f64)>);

/// Reads measurements. The error says what the file is not.
pub fn read(path: &Path) -> Result<(Vec<Measured>, Vec<MeasuredLine>)> {
    let file = if path.is_dir() {
        path.join("result.json")
    } else {
        path.to_owned()
    };
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{}: cannot be read", file.display()))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{}: is no JSON", file.display()))?;
    if json.get("counts").is_some() {
        let format = json.get("format").and_then(|f| f.as_u64()).unwrap_or(0);
        if format != u64::from(FORMAT) {
            bail!(
                "{}: is of format {format}, this program reads {}",
                file.display(),
                FORMAT
            );
        }
        let result: Characterization = serde_json::from_value(json)
            .with_context(|| format!("{}: is no result of characterize", file.display()))?;
        return Ok(characterized(&result));
    }
    let number = |names: &[&str]| {
        names
            .iter()
            .try_fold(&json, |at, name| at.get(*name))
            .and_then(|v| v.as_f64())
    };
    let load = || {
        let seconds = number(&["seconds"]).filter(|s| *s > 0.0)?;
        Some(Measured {
            cpus: None,
            load: number(&["sessions", "started"])? / seconds,
            throughput: number(&["replies_per_s"])?,
            utilization: None,
            mean: 1e-3 * number(&["response", "mean_ms"])?,
            p95: 1e-3 * number(&["response", "p95_ms"])?,
        })
    };
    match load() {
        Some(one) => Ok((vec![one], Vec::new())),
        None => bail!(
            "{}: is neither a folder (or result.json) of characterize nor the output of loadline load --json",
            file.display()
        ),
    }
}

fn characterized(result: &Characterization) -> (Vec<Measured>, Vec<MeasuredLine>) {
    let mut points = Vec::new();
    let mut lines = Vec::new();
    for count in &result.counts {
        for p in count
            .points
            .iter()
            .filter(|p| p.load.generator_limit().is_none())
        {
            points.push(Measured {
                cpus: (count.cpus > 0).then_some(count.cpus),
                load: p.rate,
                throughput: p.load.throughput(),
                utilization: p
                    .cpu
                    .as_ref()
                    .filter(|_| count.cpus > 0)
                    .map(|c| c.server / f64::from(count.cpus)),
                mean: 1e-3 * p.load.response.mean_ms,
                p95: 1e-3 * p.load.response.p95_ms,
            });
        }
        let curve = count.curve.as_ref();
        let line = curve.and_then(|c| c.load_line.as_ref());
        // A model's load line is sought over offered rates, and a closed program has none.
        let open = result.parameters.units.is_none();
        if let Some(objective) = curve.and_then(|c| c.objective).filter(|_| open) {
            lines.push((
                count.cpus,
                1e-3 * objective.ms,
                line.map(|l| l.sessions_per_s),
                line.and_then(|l| l.low.zip(l.high)),
            ));
        }
    }
    points.sort_by(|a, b| {
        (a.cpus, a.load)
            .partial_cmp(&(b.cpus, b.load))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    (points, lines)
}
