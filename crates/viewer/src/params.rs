//! Parameters of a request, checked: each error names the parameter and what it must be.

use std::collections::HashMap;
use std::str::FromStr;

use crate::failure::Failure;
use crate::lane::Window;

/// Pixels of a window at most; wider than any screen.
const MAX_PX: u32 = 16_384;

/// Parameters by name.
pub struct Params(HashMap<String, String>);

impl Params {
    /// Reads what stands behind the `?` of an address.
    pub fn parse(query: &str) -> Params {
        Params(
            form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// A text that must be given.
    pub fn text(&self, name: &str) -> Result<&str, Failure> {
        self.0
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| Failure::bad(format!("parameter {name} is missing")))
    }

    /// A text, or nothing.
    pub fn text_or_none(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A number that must be given.
    pub fn number<T: FromStr>(&self, name: &str) -> Result<T, Failure> {
        let text = self.text(name)?;
        text.parse().map_err(|_| {
            Failure::bad(format!(
                "parameter {name} is {text:?}; it must be a whole number"
            ))
        })
    }

    /// A number within a range, or a default.
    pub fn number_within(
        &self,
        name: &str,
        default: usize,
        least: usize,
        most: usize,
    ) -> Result<usize, Failure> {
        if !self.0.contains_key(name) {
            return Ok(default);
        }
        let n: usize = self.number(name)?;
        if (least..=most).contains(&n) {
            Ok(n)
        } else {
            Err(Failure::bad(format!(
                "parameter {name} is {n}; it must be from {least} to {most}"
            )))
        }
    }

    /// `begin` and `end`, ns since the recording began; without them, all of `duration`.
    pub fn range(&self, duration: i64) -> Result<(i64, i64), Failure> {
        if !self.0.contains_key("begin") && !self.0.contains_key("end") {
            return Ok((0, duration));
        }
        let (begin, end): (i64, i64) = (self.number("begin")?, self.number("end")?);
        // Within a century, so that no sum of two times can overflow.
        const LIMIT: i64 = 1 << 61;
        if begin < end && (-LIMIT..LIMIT).contains(&begin) && end < LIMIT {
            Ok((begin, end))
        } else {
            Err(Failure::bad(format!(
                "begin is {begin} and end is {end}; begin must be before end, both within 2^61 ns"
            )))
        }
    }

    /// The window that `begin`, `end` and `px` describe.
    pub fn window(&self, duration: i64) -> Result<Window, Failure> {
        let (begin, end) = self.range(duration)?;
        let px: u32 = self.number("px")?;
        if px == 0 || px > MAX_PX {
            return Err(Failure::bad(format!(
                "parameter px is {px}; it must be from 1 to {MAX_PX}"
            )));
        }
        Ok(Window { begin, end, px })
    }

    /// A list of numbers, separated by commas.
    pub fn list(&self, name: &str) -> Result<Vec<i64>, Failure> {
        let number = |t: &str| {
            t.parse().map_err(|_| {
                Failure::bad(format!(
                    "parameter {name} holds {t:?}; it must be whole numbers and commas"
                ))
            })
        };
        self.text(name)?
            .split(',')
            .filter(|t| !t.is_empty())
            .map(number)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T>(result: Result<T, Failure>) -> String {
        result.err().expect("it must be refused").message
    }

    #[test]
    fn parameters_are_decoded() {
        let params = Params::parse("sql=SELECT+%27%C3%A9%26%27&n=7&like=50%&empty=");
        assert_eq!(params.text("like").ok(), Some("50%"));
        assert_eq!(params.text("sql").ok(), Some("SELECT 'é&'"));
        assert_eq!(params.number::<i64>("n").ok(), Some(7));
        assert_eq!(params.list("empty").ok(), Some(vec![]));
    }

    #[test]
    fn an_error_names_the_parameter_and_what_it_must_be() {
        let params = Params::parse;
        assert_eq!(
            message(params("").number::<i64>("t")),
            "parameter t is missing"
        );
        assert_eq!(
            message(params("t=x").number::<i64>("t")),
            "parameter t is \"x\"; it must be a whole number"
        );
        assert!(
            message(params("begin=5&end=5&px=3").window(9)).contains("begin must be before end")
        );
        assert!(message(params("begin=0&end=5&px=0").window(9)).contains("px is 0"));
        assert!(message(params("begin=0&end=9223372036854775807&px=9").window(9)).contains("2^61"));
        assert!(message(params("threads=1,b").list("threads")).contains("\"b\""));
        assert!(message(params("limit=0").number_within("limit", 5, 1, 9)).contains("from 1 to 9"));
    }
}
