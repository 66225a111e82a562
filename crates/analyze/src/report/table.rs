//! Columns that line up, and numbers as people read them.

/// On which side the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table of text.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Table {
        let columns = columns
            .into_iter()
            .map(|(n, a)| (n.to_owned(), a))
            .collect();
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, each line behind `indent` and without trailing space.
    pub fn render(&self, indent: &str) -> String {
        let width = |c: usize| {
            let cells = self
                .rows
                .iter()
                .filter_map(|r| r.get(c))
                .map(|t| t.chars().count());
            cells
                .max()
                .unwrap_or(0)
                .max(self.columns[c].0.chars().count())
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let header: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        let mut out = String::new();
        for row in std::iter::once(&header).chain(&self.rows) {
            let cells =
                row.iter()
                    .zip(&self.columns)
                    .zip(&widths)
                    .map(|((text, (_, align)), &width)| match align {
                        Align::Left => format!("{text:<width$}"),
                        Align::Right => format!("{text:>width$}"),
                    });
            let line = cells.collect::<Vec<_>>().join("  ");
            out += indent;
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// Milliseconds with as many digits as matter; `-` for nothing.
pub fn ms(ms: f64) -> String {
    match ms {
        m if m < 0.0005 => "-".into(),
        m if m < 0.0995 => format!("{m:.3}"),
        m if m < 9.95 => format!("{m:.2}"),
        m if m < 99.5 => format!("{m:.1}"),
        m => grouped(m.round() as u64),
    }
}

/// A duration with its unit.
pub fn duration(ms: f64) -> String {
    match ms {
        m if m < 0.9995 => format!("{:.0} µs", m * 1e3),
        m if m < 9.95 => format!("{m:.1} ms"),
        m if m < 999.5 => format!("{m:.0} ms"),
        m => format!("{:.1} s", m / 1e3),
    }
}

/// A share as per cent; `-` for nothing.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p < 0.05 => "-".into(),
        p if p < 0.95 => format!("{p:.1}%"),
        p => format!("{p:.0}%"),
    }
}

/// An amount of bytes with its unit: 1 kB is 1,000 of them.
pub fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 999.5 => return format!("{b:.0} B"),
        b if b < 999.5e3 => (b / 1e3, "kB"),
        b if b < 999.5e6 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {unit}")
}

/// Thousands apart.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// At most `width` characters.
pub fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}

/// A text in at most `width` characters: what has no space and dots is taken for a class and abbreviated, the rest is cut.
pub fn fit(text: &str, width: usize) -> String {
    if text.contains('.') && !text.contains(char::is_whitespace) {
        class(text, width)
    } else {
        clip(text, width)
    }
}

/// A class's name in at most `width` characters, as loggers abbreviate it: packages become their first letter from the
/// left on, as few as needed, and so does a method's. Only a name that is too long even so is cut, at its front. The viewer's page has the same rule
/// (`web/src/abbreviate.ts`), tested on the same names.
pub fn class(name: &str, width: usize) -> String {
    let count = |parts: &[&str]| {
        parts.iter().map(|p| p.chars().count()).sum::<usize>() + parts.len().saturating_sub(1)
    };
    let mut parts: Vec<&str> = name.split('.').collect();
    for i in 0..parts.len() - 1 {
        if count(&parts) <= width || parts[i].starts_with(char::is_uppercase) {
            break; // a class, of a method
        }
        let first = parts[i].chars().next().map_or(0, char::len_utf8);
        parts[i] = &parts[i][..first];
    }
    let short = parts.join(".");
    let count = short.chars().count();
    if count <= width {
        return short;
    }
    std::iter::once('…')
        .chain(short.chars().skip(count + 1 - width))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!(
            [0.0, 0.0123, 1.234, 12.34, 1234.5].map(ms),
            ["-", "0.012", "1.23", "12.3", "1,235"]
        );
        assert_eq!(
            [0.5, 3.12, 1_930.0, 12_345.0].map(duration),
            ["500 µs", "3.1 ms", "1.9 s", "12.3 s"]
        );
        assert_eq!([0.0, 0.004, 0.41].map(percent), ["-", "0.4%", "41%"]);
        assert_eq!(
            [0.0, 999.0, 1_234.0, 45_600.0, 999_700.0, 2.5e9].map(bytes),
            ["0 B", "999 B", "1.2 kB", "46 kB", "1.0 MB", "2.5 GB"]
        );
        assert_eq!(
            [7, 1000, 2_413_882].map(grouped),
            ["7", "1,000", "2,413,882"]
        );
    }

    #[test]
    fn texts_are_cut_at_the_side_that_tells_less() {
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(fit("SELECT a.b FROM c", 9), "SELECT a…");
    }

    #[test]
    fn classes_are_abbreviated_from_the_left_and_keep_their_own_name() {
        let names: Vec<(String, usize, String)> =
            serde_json::from_str(include_str!("../../tests/data/abbreviated.json")).expect("names");
        for (name, width, short) in names {
            assert_eq!(class(&name, width), short, "{name} in {width}");
        }
        let name = "org.example.protocol.jar.UrlJarFiles$Cache";
        assert_eq!(fit(name, 30), "o.e.p.jar.UrlJarFiles$Cache");
    }
}
