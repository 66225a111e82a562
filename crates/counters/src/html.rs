//! The page: what a unit of work costs, and what was counted over time; self-contained, light and dark.

use std::collections::BTreeMap;

use loadline_analyze::counters::Role;
use loadline_analyze::report::table::grouped;
use loadline_plot::{Bar, Chart, Part, STYLE, Series, Size, bars, escape};
use loadline_record::counters::software::{
    CPU, INVOLUNTARY, KERNEL, MAJOR, MIGRATIONS, MINOR, SOFTWARE, USER, VOLUNTARY, WAITING,
};

use crate::ratio::{self, Kind};
use crate::summary::{Moment, Summary};
use crate::text::{count, interval, value};
use crate::topdown::{self, Category};

impl Summary {
    /// As a page.
    pub fn html(&self) -> String {
        let title = escape(&format!("Counters of {}", self.target));
        let remarks: String = self
            .remarks()
            .iter()
            .map(|r| format!("<p class=say>{}</p>", escape(&capital(r))))
            .collect();
        let notes: String = self
            .machine
            .missing
            .iter()
            .chain(&self.notes)
            .map(|n| format!("<p class=note>{}</p>", escape(&capital(n))))
            .collect();
        let charts: String = self
            .charts()
            .iter()
            .map(Chart::svg)
            .filter(|svg| !svg.is_empty())
            .map(|svg| format!("<figure>{svg}</figure>"))
            .collect();
        format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}{}</style><main><h1>{title}</h1><p class=about>{}</p>\
             <div class=heads>{}</div>{remarks}<h2>{}</h2><div class=panel>{}</div>{}{}\
             <h2>Over time</h2><div class=charts>{charts}</div><h2>Notes</h2>{notes}\
             <p class=note>± is half of the 95% interval of the mean, over batches of slices; ? where there were too few.</p></main></html>\n",
            include_str!("page.css"),
            escape(&self.about()),
            self.heads(),
            escape(&capital(&format!("what it costs, {}", self.per()))),
            self.figures_table(),
            self.slots(),
            self.ratios_table(),
        )
    }

    fn about(&self) -> String {
        format!(
            "{:.1} s in {} slices · {} ({} CPUs), Linux {}",
            self.seconds,
            self.slices,
            self.machine.processor,
            self.machine.cpus,
            self.machine.kernel
        )
    }

    /// What one wants to know first.
    fn heads(&self) -> String {
        let mut heads = Vec::new();
        if let Some(unit) = self.unit.as_deref().filter(|_| self.units > 0) {
            let rate = self.units as f64 / self.seconds;
            heads.push((
                format!("{}/s", count(rate)),
                format!("{} × {unit}", grouped(self.units)),
            ));
        }
        for (at, what) in [
            (CPU, "CPU time"),
            (VOLUNTARY, "voluntary switches"),
            (MINOR, "minor faults"),
        ] {
            let figure = &self.figures[at];
            let mean = figure.per_unit.unwrap_or(figure.per_second);
            heads.push((value(mean.value, figure), format!("{what} {}", self.per())));
        }
        let busy = self.figures[CPU].total / 1e9 / self.seconds;
        heads.push((
            format!("{busy:.2}"),
            format!("of {} CPUs used", self.machine.cpus),
        ));
        heads
            .iter()
            .map(|(big, small)| {
                format!(
                    "<div class=head><b>{}</b><span>{}</span></div>",
                    escape(big),
                    escape(small)
                )
            })
            .collect()
    }

    fn header(&self, first: &str) -> String {
        let roles: String = self
            .roles()
            .iter()
            .map(|r| format!("<th>{}", r.title()))
            .collect();
        format!("<thead><tr><th><th>{}<th>±{roles}</thead>", escape(first))
    }

    fn figures_table(&self) -> String {
        let rows: String = self
            .shown()
            .map(|figure| {
                let mean = figure.per_unit.unwrap_or(figure.per_second);
                let roles: String = self
                    .roles()
                    .iter()
                    .map(|role| {
                        let part = figure.by_role.get(role).copied().unwrap_or(0.0);
                        match figure.total > 0.0 {
                            true => format!("<td>{:.0}%", 100.0 * part / figure.total),
                            false => "<td>–".into(),
                        }
                    })
                    .collect();
                let title = &figure.counter.title;
                format!(
                    "<tr><th{}>{}<td>{}<td class=ci>{}{roles}",
                    if title.starts_with(' ') {
                        " class=sub"
                    } else {
                        ""
                    },
                    escape(title.trim()),
                    escape(&value(mean.value, figure)),
                    interval(mean),
                )
            })
            .collect();
        format!("<table>{}<tbody>{rows}</table>", self.header(&self.per()))
    }

    fn ratios_table(&self) -> String {
        if self.ratios.is_empty() {
            return String::new();
        }
        let rows: String = self
            .ratios
            .iter()
            .map(|ratio| {
                let roles: String = self
                    .roles()
                    .iter()
                    .map(|role| {
                        ratio
                            .by_role
                            .get(role)
                            .map_or("<td>–".into(), |v| format!("<td>{}", ratio.text(*v)))
                    })
                    .collect();
                format!(
                    "<tr><th>{}<td>{}<td class=ci>{}{roles}",
                    escape(&ratio.title),
                    ratio.text(ratio.value.value),
                    interval(ratio.value)
                )
            })
            .collect();
        format!(
            "<h2>Ratios</h2><div class=panel><table>{}<tbody>{rows}</table></div>",
            self.header("all")
        )
    }

    /// Top-down categories of all threads and of each role, as bars.
    fn slots(&self) -> String {
        let categories: Vec<_> = Category::ALL
            .iter()
            .enumerate()
            .filter_map(|(n, c)| Some((n, c, self.ratios.iter().find(|r| r.name == c.name())?)))
            .collect();
        let bar = |label: &str, of: &dyn Fn(&ratio::Ratio) -> Option<f64>| Bar {
            label: label.into(),
            parts: categories
                .iter()
                .map(|(n, c, r)| Part {
                    name: c.title().into(),
                    class: format!("f{n}"),
                    value: of(r).unwrap_or(0.0),
                })
                .collect(),
        };
        let mut all = vec![bar("all threads", &|r| Some(r.value.value))];
        all.extend(
            self.roles()
                .iter()
                .map(|role| bar(role.title(), &|r| r.by_role.get(role).copied())),
        );
        all.retain(|b| b.parts.iter().any(|p| p.value > 0.0));
        let Some(drawing) = bars(&all, false, crate::text::share) else {
            return String::new();
        };
        let keys: String = categories
            .iter()
            .map(|(n, c, _)| {
                format!(
                    "<span class=key><i style=\"background:var(--s{n})\"></i>{}</span>",
                    c.title()
                )
            })
            .collect();
        format!(
            "<h2>Where the processor's slots went</h2><div class=panel>{}{keys}</div>",
            drawing.inline()
        )
    }

    /// One chart for each thing that is counted.
    fn charts(&self) -> Vec<Chart> {
        let roles = self.roles();
        let mut charts = vec![
            self.by_role(&roles, "CPU time by role", "CPUs", &[CPU], 1e-9),
            self.lines(
                "Where it was",
                "CPUs",
                1e-9,
                &[
                    ("user", USER),
                    ("kernel", KERNEL),
                    ("waiting for a CPU", WAITING),
                ],
            ),
            self.lines(
                "Switches and migrations",
                "per second",
                1.0,
                &[
                    ("voluntary", VOLUNTARY),
                    ("involuntary", INVOLUNTARY),
                    ("migrations", MIGRATIONS),
                ],
            ),
            self.lines(
                "Page faults",
                "per second",
                1.0,
                &[("minor", MINOR), ("major", MAJOR)],
            ),
        ];
        if self.units > 0 {
            charts.insert(1, self.per_unit_chart());
        }
        charts.extend(self.ratio_charts());
        // Events of the processor: user and kernel together, by role.
        let mut events: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, figure) in self.figures.iter().enumerate().skip(SOFTWARE) {
            if topdown::is_part(&figure.counter.name) || figure.total <= 0.0 {
                continue;
            }
            let title = figure.counter.title.as_str();
            let base = title
                .strip_suffix(", user")
                .or_else(|| title.strip_suffix(", kernel"));
            events.entry(base.unwrap_or(title)).or_default().push(at);
        }
        for (title, places) in events {
            charts.push(self.by_role(&roles, title, "millions per second", &places, 1e-6));
        }
        charts
    }

    fn chart(title: &str, unit: &str) -> Chart {
        Chart {
            title: title.into(),
            unit: unit.into(),
            x_label: "seconds".into(),
            x_unit: " s".into(),
            size: Size::Half,
            ..Chart::default()
        }
    }

    /// Points in the middle of their slices.
    fn series(&self, name: &str, of: impl Fn(&Moment) -> f64) -> Series {
        let points = self.over_time.iter();
        Series::line(name, points.map(|m| (m.begin + m.seconds / 2.0, of(m))))
    }

    fn by_role(
        &self,
        roles: &[Role],
        title: &str,
        unit: &str,
        figures: &[usize],
        scale: f64,
    ) -> Chart {
        roles
            .iter()
            .fold(Summary::chart(title, unit), |chart, role| {
                chart.with(self.series(role.title(), |m| {
                    let values = m.by_role.get(role);
                    let sum: f64 = values.map_or(0.0, |v| figures.iter().map(|at| v[*at]).sum());
                    // What ended between two readings may be a little less than nothing in one of them.
                    (sum * scale / m.seconds).max(0.0)
                }))
            })
    }

    fn lines(&self, title: &str, unit: &str, scale: f64, figures: &[(&str, usize)]) -> Chart {
        figures
            .iter()
            .fold(Summary::chart(title, unit), |chart, (name, at)| {
                chart.with(self.series(name, |m| (m.total(*at) * scale / m.seconds).max(0.0)))
            })
    }

    fn per_unit_chart(&self) -> Chart {
        let unit = self.unit.as_deref().unwrap_or("unit");
        let name = if unit.len() > 24 { "unit" } else { unit };
        let per = |at: usize| move |m: &Moment| m.total(at).max(0.0) / 1e3 / m.units as f64;
        // A slice without a unit of work has no cost per unit: its point is not finite and is left out.
        Summary::chart(&format!("Time per {name}"), "µs")
            .with(self.series("on a CPU", per(CPU)))
            .with(self.series("waiting for a CPU", per(WAITING)))
    }

    /// Ratios over time: those that are parts of one in one chart for each kind of them, instructions per cycle in another.
    fn ratio_charts(&self) -> Vec<Chart> {
        let place = |name: &str| self.figures.iter().position(|f| f.counter.name == name);
        let group =
            |title: &str, unit: &str, percent: bool, names: &dyn Fn(&ratio::Ratio) -> bool| {
                let mut chart = Summary::chart(title, unit);
                chart.percent = percent;
                self.ratios
                    .iter()
                    .filter(|r| names(r))
                    .fold(chart, |chart, ratio| {
                        chart.with(self.series(ratio.title.trim_start_matches("slots: "), |m| {
                            let all = ratio::of(&|name| Some(m.total(place(name)?)));
                            all.iter()
                                .find(|r| r.name == ratio.name)
                                .map_or(f64::NAN, |r| r.value)
                        }))
                    })
            };
        vec![
            group("Slots", "share", true, &|r| r.name.starts_with("topdown")),
            group("Instructions per cycle", "", false, &|r| {
                r.unit == Kind::Number
            }),
            group("Mispredicted branches and stalls", "share", true, &|r| {
                r.unit == Kind::Share && !r.name.starts_with("topdown")
            }),
        ]
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().collect::<String>() + chars.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use loadline_record::counters::software::{self, SOFTWARE};
    use loadline_record::counters::{Counted, Counter, Slice, Unit};

    use super::*;
    use crate::{Machine, Names, Units, summarize};

    /// Ten slices of an Ice Lake that does 2 instructions per cycle.
    fn summary(hardware: bool) -> Summary {
        let mut counters = software::all();
        let events = [
            ("cycles_user", "cycles, user", 1000.0),
            ("instructions_user", "instructions, user", 2000.0),
            ("topdown_retiring", "topdown-retiring", 40.0),
            ("topdown_bad_spec", "topdown-bad-spec", 10.0),
            ("topdown_fe_bound", "topdown-fe-bound", 20.0),
            ("topdown_be_bound", "topdown-be-bound", 30.0),
        ];
        let events = if hardware { &events[..] } else { &[] };
        counters.extend(events.iter().map(|(name, title, _)| Counter {
            name: (*name).into(),
            title: (*title).into(),
            unit: Unit::Count,
        }));
        let slices = (0..10i64).map(|at| {
            let mut values = vec![0.0; SOFTWARE];
            values[CPU] = 5e8;
            values.extend(events.iter().map(|e| e.2));
            Slice {
                begin_ns: at * 1_000_000_000,
                end_ns: (at + 1) * 1_000_000_000,
                ended: vec![0.0; counters.len()],
                threads: BTreeMap::from([(7, ("exec-<1>".into(), values))]),
            }
        });
        let counted = Counted {
            slices: slices.collect(),
            counters: counters.clone(),
            notes: vec![],
        };
        let machine = Machine {
            cpus: 2,
            kernel: "6".into(),
            processor: "x".into(),
            missing: vec!["no <PMU>".into()],
        };
        let units = Units {
            name: "request".into(),
            done: vec![100; 10],
        };
        summarize(
            "shop <1>".into(),
            machine,
            &counted,
            &Names::new(),
            Some(&units),
            vec![],
        )
    }

    #[test]
    fn the_page_has_the_figures_and_no_markup_of_others() {
        let page = summary(false).html();
        assert!(page.contains("Counters of shop &lt;1&gt;") && page.contains("No &lt;PMU&gt;"));
        assert!(
            page.contains("<b>5.00 ms</b><span>CPU time per request</span>"),
            "{page}"
        );
        assert!(page.contains("<td>5.00 ms"), "the table");
        assert!(page.contains("CPU time by role") && page.contains("Time per request"));
        assert!(!page.contains("Ratios") && !page.contains("NaN") && !page.contains("<script"));
        assert!(!page.contains("http"), "nothing is fetched");
    }

    #[test]
    fn the_processors_figures_are_plotted_where_there_are_any() {
        let page = summary(true).html();
        for text in [
            "instructions per cycle, user<td>2.00",
            "slots: retiring<td>40.0%",
            "Where the processor&#39;s slots went",
            "Instructions per cycle",
            "cycles",
        ] {
            let text = text.replace("&#39;", "'");
            assert!(page.contains(&text), "{text}\n{page}");
        }
        assert!(
            !page.contains("topdown-retiring"),
            "it is in the categories"
        );
    }
}
