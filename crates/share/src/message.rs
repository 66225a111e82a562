//! What goes over the socket: one line a message, `verb key=value …`. Values have no spaces; an answer is `ok key=value …`,
//! `error TEXT` (the rest of the line), or one line of JSON; what the daemon tells unasked begins with `cpus`.

/// A line longer than this is nobody's.
pub(crate) const LONGEST: usize = 4096;

/// A message taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub verb: &'a str,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Message<'a> {
    /// Of one line.
    pub(crate) fn parse(line: &'a str) -> Result<Message<'a>, String> {
        let mut words = line.split_ascii_whitespace();
        let verb = words.next().ok_or("an empty message")?;
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| format!("{word:?} is not KEY=VALUE"))?;
            if fields.iter().any(|(k, _)| *k == key) {
                return Err(format!("{key} is said twice"));
            }
            fields.push((key, value));
        }
        Ok(Message { verb, fields })
    }

    /// Refuses what is not among `keys`: a misspelt key must not be ignored.
    pub(crate) fn only(&self, keys: &[&str]) -> Result<(), String> {
        match self.fields.iter().find(|(k, _)| !keys.contains(k)) {
            Some((key, _)) => Err(format!(
                "{} knows no {key}; it knows {}",
                self.verb,
                keys.join(", ")
            )),
            None => Ok(()),
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    /// A number of at least `least`, if it is there.
    pub(crate) fn number(&self, key: &str, least: f64) -> Result<Option<f64>, String> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let wrong = || format!("{key} is {text:?}; it must be a number of at least {least}");
        let value: f64 = text.parse().map_err(|_| wrong())?;
        if value.is_finite() && value >= least {
            Ok(Some(value))
        } else {
            Err(wrong())
        }
    }

    pub(crate) fn pid(&self) -> Result<Option<i32>, String> {
        let Some(text) = self.text("pid") else {
            return Ok(None);
        };
        let pid = text.parse().ok().filter(|p| *p > 0);
        Ok(Some(pid.ok_or_else(|| {
            format!("pid is {text:?}; it must be a process id")
        })?))
    }

    /// A request: CPUs, or `auto` for an estimate. None if it is not there.
    pub(crate) fn request(&self) -> Result<Option<Option<f64>>, String> {
        match self.text("request") {
            Some("auto") => Ok(Some(None)),
            Some(_) => Ok(Some(self.number("request", 0.0)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn name(&self) -> Result<Option<&'a str>, String> {
        self.text("name").map(check_name).transpose()
    }
}

/// A name that can be a directory, a label and a word of a message.
pub(crate) fn check_name(name: &str) -> Result<&str, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let whole = (1..=64).contains(&name.len()) && name.chars().all(good) && !name.starts_with('.');
    if whole {
        return Ok(name);
    }
    Err(format!(
        "{name:?} is no name for an application: 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_taken_apart() {
        let m = Message::parse("register name=shop priority=2 request=auto").expect("a message");
        assert_eq!(
            (m.verb, m.name(), m.request()),
            ("register", Ok(Some("shop")), Ok(Some(None)))
        );
        assert_eq!(m.number("priority", 0.0), Ok(Some(2.0)));
        assert_eq!(m.only(&["name", "priority", "request"]), Ok(()));
    }

    #[test]
    fn what_is_no_message_says_why() {
        for (line, says) in [("", "empty"), ("a b", "KEY=VALUE"), ("a b=1 b=2", "twice")] {
            let e = Message::parse(line).expect_err(line);
            assert!(e.contains(says), "{e}");
        }
        let m =
            Message::parse("register naem=x priority=-1 pid=0 request=lots").expect("a message");
        assert!(m.only(&["name"]).is_err());
        assert!(m.number("priority", 0.0).is_err());
        assert!(m.pid().is_err());
        assert!(m.request().is_err());
        for name in ["", "../x", "a b", ".hidden", "a/b", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "\\PC{0,200}") {
            if let Ok(m) = Message::parse(&line) {
                let _ = (m.name(), m.pid(), m.request(), m.number("priority", 0.0));
            }
        }
    }
}
