//! Views for Paraver: each answers one question that the trace can answer.
//!
//! They show what Guitart's thesis shows with them (2005, figures 3.12 to 3.20): states over time and their sums per
//! thread; system calls and descriptors while a database connection is held; mean service time per thread; states
//! during services; who holds and who waits for a connection.

use super::types;
use crate::timeline::SPAN_KINDS;

/// A view: name of its file without ending, and what it holds.
pub struct View {
    pub file: &'static str,
    windows: Vec<Window>,
    table: Option<Table>,
}

/// A window over time: one of the trace, or computed from two before it.
enum Window {
    /// `function` of the events of `kinds`; without kinds of the states.
    Plain {
        name: &'static str,
        kinds: Vec<u32>,
        /// Whether only 0 or 1 is of interest: something is open or not.
        sign: bool,
    },
    /// Product of two windows by number, from 1.
    Product { name: &'static str, of: [usize; 2] },
}

/// A table: threads by the values of window `control`, each cell a statistic of window `data`.
struct Table {
    name: &'static str,
    statistic: &'static str,
    control: usize,
    data: usize,
    /// Values of the control window that have a column.
    columns: u32,
}

fn span(kind: &str) -> u32 {
    let code = SPAN_KINDS.iter().position(|k| *k == kind);
    types::SPAN + code.map_or(0, |c| c as u32 + 1)
}

/// All views.
pub fn all() -> Vec<View> {
    let events = |name, kinds: &[u32]| Window::Plain {
        name,
        kinds: kinds.to_vec(),
        sign: false,
    };
    let inside = |name, kind| Window::Plain {
        name,
        kinds: vec![kind],
        sign: true,
    };
    let states = || Window::Plain {
        name: "State",
        kinds: Vec::new(),
        sign: false,
    };
    let view = |file, windows, table| View {
        file,
        windows,
        table,
    };
    let pool = || inside("Holds a connection of the pool", span("pool_use"));
    let service = || inside("In a service", span("service"));
    vec![
        view("states", vec![states()], None),
        view(
            "time-per-state",
            vec![states()],
            Some(Table {
                name: "Time of each thread in each state",
                statistic: "Time",
                control: 1,
                data: 1,
                columns: 6,
            }),
        ),
        view(
            "causes",
            vec![events("Cause of the state", &[types::CAUSE])],
            None,
        ),
        view(
            "time-per-cause",
            vec![events("Cause of the state", &[types::CAUSE])],
            Some(Table {
                name: "Time of each thread by cause",
                statistic: "Time",
                control: 1,
                data: 1,
                columns: 12,
            }),
        ),
        view(
            "requests",
            vec![events("Request", &[span("request")])],
            None,
        ),
        view(
            "services",
            vec![events("Service", &[span("service")])],
            None,
        ),
        view(
            "mean-service-time",
            vec![service()],
            Some(Table {
                name: "Mean time of a service, per thread",
                statistic: "Average Burst Time",
                control: 1,
                data: 1,
                columns: 1,
            }),
        ),
        view(
            "states-in-services",
            vec![
                states(),
                service(),
                Window::Product {
                    name: "State, in services",
                    of: [1, 2],
                },
            ],
            Some(Table {
                name: "Time of each thread in each state, in services",
                statistic: "Time",
                control: 3,
                data: 3,
                columns: 6,
            }),
        ),
        view(
            "handshakes",
            vec![events("TLS handshake", &[span("tls_handshake")])],
            None,
        ),
        view(
            "states-in-handshakes",
            vec![
                states(),
                inside("In a handshake", span("tls_handshake")),
                Window::Product {
                    name: "State, in handshakes",
                    of: [1, 2],
                },
            ],
            Some(Table {
                name: "Time of each thread in each state, in handshakes",
                statistic: "Time",
                control: 3,
                data: 3,
                columns: 6,
            }),
        ),
        view(
            "pool-waits",
            vec![events(
                "Waits for a connection of the pool",
                &[span("pool_wait")],
            )],
            None,
        ),
        view(
            "pool-uses",
            vec![events(
                "Holds a connection of the pool",
                &[span("pool_use")],
            )],
            None,
        ),
        view("sql", vec![events("SQL statement", &[span("sql")])], None),
        view(
            "calls",
            vec![events("Call of a service", &[span("call")])],
            None,
        ),
        view(
            "waits",
            vec![events("Wait for a lock: class", &[types::WAIT_CLASS])],
            None,
        ),
        view(
            "lock-owners",
            vec![events("Row of the owner of the lock", &[types::WAIT_OWNER])],
            None,
        ),
        view(
            "system-calls",
            vec![events("System call", &[types::SYSCALL])],
            None,
        ),
        view(
            "system-calls-with-connection",
            vec![
                events("System call", &[types::SYSCALL]),
                pool(),
                Window::Product {
                    name: "System call, while holding a connection of the pool",
                    of: [1, 2],
                },
            ],
            None,
        ),
        view(
            "descriptors-with-connection",
            vec![
                events("Descriptor", &[types::DESCRIPTOR]),
                pool(),
                Window::Product {
                    name: "Descriptor, while holding a connection of the pool",
                    of: [1, 2],
                },
            ],
            None,
        ),
        view(
            "virtual-threads",
            vec![events(
                "Virtual thread on its carrier",
                &[types::VIRTUAL_THREAD],
            )],
            None,
        ),
    ]
}

impl View {
    /// Types of events that it shows.
    pub fn kinds(&self) -> impl Iterator<Item = u32> + '_ {
        self.windows.iter().flat_map(|w| match w {
            Window::Plain { kinds, .. } => kinds.clone(),
            Window::Product { .. } => Vec::new(),
        })
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: {}\n\n",
            self.windows.len()
        );
        let shown = if self.table.is_some() {
            0
        } else {
            self.windows.len()
        };
        for (i, window) in self.windows.iter().enumerate() {
            text += &window.text(i + 1, i + 1 == shown);
        }
        if let Some(table) = &self.table {
            text += &table.text();
        }
        text
    }
}

impl Window {
    fn text(&self, id: usize, open: bool) -> String {
        let (name, kind) = match self {
            Window::Plain { name, .. } => (name, "single"),
            Window::Product { name, .. } => (name, "composed"),
        };
        let rule = "#".repeat(80);
        let mut text = format!(
            "{rule}\n< NEW DISPLAYING WINDOW {name} >\n{rule}\nwindow_name {name}\nwindow_type {kind}\nwindow_id {id}\n"
        );
        if let Window::Product { of: [a, b], .. } = self {
            text += &format!(
                "window_factors 1.000000000000 1.000000000000\nwindow_operation product\nwindow_identifiers {a} {b}\n"
            );
        }
        text += "window_position_x 60\nwindow_position_y 60\nwindow_width 1000\nwindow_height 400\n\
            window_comm_lines_enabled false\nwindow_flags_enabled false\nwindow_noncolor_mode true\n";
        if matches!(self, Window::Plain { .. }) {
            text += "window_logical_filtered true\nwindow_physical_filtered false\nwindow_comm_fromto true\n\
                window_comm_tagsize true\nwindow_comm_typeval true\n";
        }
        text += &format!(
            "window_units Microseconds\nwindow_maximum_y 20.000000000000\nwindow_minimum_y 0.000000000000\n\
             window_compute_y_max true\nwindow_level thread\nwindow_scale_relative 1.000000000000\n\
             window_end_time_relative 1.000000000000\nwindow_object appl {{ 1, {{ All }} }}\n\
             window_begin_time_relative 0.000000000000\nwindow_open {open}\nwindow_drawmode 1\nwindow_drawmode_rows 1\n\
             window_pixel_size 1\nwindow_labels_to_draw 1\n"
        );
        let compose = |thread: &str| {
            format!(
                "window_compose_functions {{ 9, {{ {{compose_cpu, As Is}}, {{compose_appl, As Is}}, {{compose_task, As Is}}, {{compose_thread, {thread}}}, {{compose_node, As Is}}, {{compose_system, As Is}}, {{compose_workload, As Is}}, {{topcompose1, As Is}}, {{topcompose2, As Is}} }} }}\n"
            )
        };
        match self {
            Window::Plain { kinds, sign, .. } => {
                let (function, filter) = if kinds.is_empty() {
                    ("State As Is", "All")
                } else {
                    ("Last Evt Val", "=")
                };
                text += &format!(
                    "window_selected_functions {{ 14, {{ {{cpu, Active Thd}}, {{appl, Adding}}, {{task, Adding}}, {{thread, {function}}}, {{node, Adding}}, {{system, Adding}}, {{workload, Adding}}, {{from_obj, All}}, {{to_obj, All}}, {{tag_msg, All}}, {{size_msg, All}}, {{bw_msg, All}}, {{evt_type, {filter}}}, {{evt_value, All}} }} }}\n"
                );
                text += &compose(if *sign { "Sign" } else { "As Is" });
                if !kinds.is_empty() {
                    let list: Vec<String> = kinds.iter().map(u32::to_string).collect();
                    text += &format!(
                        "window_filter_module evt_type {} {}\n",
                        kinds.len(),
                        list.join(" ")
                    );
                }
            }
            Window::Product { .. } => {
                text += "window_selected_functions { 7, { {cpu, Active Thd}, {appl, Adding}, {task, Adding}, {thread, As Is}, {node, Adding}, {system, Adding}, {workload, Adding} } }\n";
                text += &compose("As Is");
            }
        }
        text + "\n"
    }
}

impl Table {
    fn text(&self) -> String {
        format!(
            "< NEW ANALYZER2D >\nAnalyzer2D.Name: {}\nAnalyzer2D.X: 60\nAnalyzer2D.Y: 60\nAnalyzer2D.Width: 800\n\
             Analyzer2D.Height: 400\nAnalyzer2D.ControlWindow: {}\nAnalyzer2D.DataWindow: {}\nAnalyzer2D.Accumulator: Semantic\n\
             Analyzer2D.Statistic: {}\nAnalyzer2D.CalculateAll: True\nAnalyzer2D.HideCols: False\nAnalyzer2D.HorizVert: Horizontal\n\
             Analyzer2D.Color: True\nAnalyzer2D.SemanticColor: False\nAnalyzer2D.Zoom: Enabled\n\
             Analyzer2D.AccumulateByControlWindow: True\nAnalyzer2D.SortCols: False\nAnalyzer2D.SortCriteria: Average\n\
             Analyzer2D.AnalysisLimits: Alltrace\nAnalyzer2D.ComputeYScale: False\nAnalyzer2D.Minimum: 1.000000000000\n\
             Analyzer2D.Maximum: {}.000000000000\nAnalyzer2D.Delta: 1.000000000000\nAnalyzer2D.ComputeGradient: True\n\
             Analyzer2D.MinimumGradient: 0.000000000000\nAnalyzer2D.MaximumGradient: 1.000000000000\n\
             Analyzer2D.PixelSize: 1\nAnalyzer2D.ColorMode: window_in_null_gradient_mode\nAnalyzer2D.ShowOnlyTotals: False\n\
             Analyzer2D.ShortHeaderLabels: False\n",
            self.name, self.control, self.data, self.statistic, self.columns
        )
    }
}
