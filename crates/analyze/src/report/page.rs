//! A page of text for a terminal: lines, wrapped paragraphs, titles and tables; coloured if asked.

use super::table::Table;

/// Columns of a line within the margins: the page is a hundred wide.
pub const ROOM: usize = 98;

/// Wraps text into lines of at most `width` characters.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

/// What is written so far.
pub struct Page {
    text: String,
    color: bool,
}

impl Page {
    /// An empty page.
    pub fn new(color: bool) -> Page {
        Page {
            text: String::new(),
            color,
        }
    }

    /// What was written.
    pub fn text(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Text in lines that fit the page.
    pub fn wrapped(text: &str) -> Vec<String> {
        wrap(text, ROOM)
    }

    /// Text in an ANSI style, if the page is coloured.
    pub fn paint(&self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// A line as it is.
    pub fn line(&mut self, text: &str) {
        self.text += "  ";
        self.text += text;
        self.text.push('\n');
    }

    /// Text that goes on under itself behind a word of the margin.
    pub fn paragraph(&mut self, label: &str, code: &str, text: &str) {
        let margin = label.chars().count() + 2;
        for (i, line) in wrap(text, ROOM - margin).into_iter().enumerate() {
            let head = if i == 0 {
                format!("{}  ", self.paint(code, label))
            } else {
                " ".repeat(margin)
            };
            self.line(&format!("{head}{line}"));
        }
    }

    /// A heading, with a note at the right margin.
    pub fn title(&mut self, text: &str, note: &str) {
        self.gap();
        let title = self.paint("1", text);
        let room = ROOM.saturating_sub(text.chars().count());
        let note = if note.is_empty() {
            String::new()
        } else {
            format!("{note:>room$}")
        };
        self.line(&format!("{title}{note}"));
    }

    /// A table, within the margin.
    pub fn table(&mut self, table: &Table) {
        self.text += &table.render("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrap("aa bb cc dd", 5), ["aa bb", "cc dd"]);
        assert_eq!(wrap("a_very_long_word x", 5), ["a_very_long_word", "x"]);
    }
}
