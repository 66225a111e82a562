//! Expressions: numbers with units, parameters, arithmetic, comparisons, and distributions.
//!
//! `5ms + 0.2 * base` is a number, `exp(5ms)` a distribution; a sum of a distribution and a number is the distribution
//! shifted, a product scaled. Times are in seconds, sizes in bytes.

use super::functions::{add, call, multiply};
use loadline_stats::random::Dist;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What an expression can be.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// A distribution.
    Dist(Dist),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Text(t) => write!(f, "{t}"),
            Value::Dist(d) => write!(f, "{d:?}"),
        }
    }
}

/// Names that stand for numbers.
const UNITS: [(&str, f64); 18] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
    ("unlimited", f64::INFINITY),
];

pub(super) struct Scope<'a> {
    pub parameters: &'a BTreeMap<String, Value>,
    /// Where relative paths of `empirical` begin.
    pub folder: PathBuf,
}

impl Scope<'_> {
    pub(super) fn evaluate(&self, text: &str) -> Result<Value, String> {
        let mut parser = Parser {
            scope: self,
            text: text.as_bytes(),
            at: 0,
        };
        let value = parser.comparison()?;
        parser.space();
        if parser.at < text.len() {
            return Err(format!(
                "`{}` is not expected here in `{text}`",
                &text[parser.at..]
            ));
        }
        Ok(value)
    }
}

struct Parser<'a> {
    scope: &'a Scope<'a>,
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn comparison(&mut self) -> Result<Value, String> {
        let left = self.sum()?;
        for op in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.take(op) {
                let right = self.sum()?;
                if let (Value::Text(a), Value::Text(b)) = (&left, &right) {
                    let truth = if op == "!=" {
                        a != b
                    } else {
                        op == "==" && a == b
                    };
                    return Ok(Value::Number(f64::from(u8::from(truth))));
                }
                let (a, b) = (number(&left)?, number(&right)?);
                let truth = match op {
                    "==" => a == b,
                    "!=" => a != b,
                    "<=" => a <= b,
                    ">=" => a >= b,
                    "<" => a < b,
                    _ => a > b,
                };
                return Ok(Value::Number(f64::from(u8::from(truth))));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut left = self.product()?;
        loop {
            if self.take("+") {
                left = add(left, self.product()?)?;
            } else if self.take("-") {
                let right = number(&self.product()?)?;
                left = Value::Number(number(&left)? - right);
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut left = self.power()?;
        loop {
            if self.take("*") {
                left = multiply(left, self.power()?)?;
            } else if self.take("/") {
                let right = number(&self.power()?)?;
                if right == 0.0 {
                    return Err("division by zero".into());
                }
                left = multiply(left, Value::Number(1.0 / right))?;
            } else {
                return Ok(left);
            }
        }
    }

    fn power(&mut self) -> Result<Value, String> {
        let base = self.atom()?;
        if self.take("^") {
            let exponent = number(&self.power()?)?;
            return Ok(Value::Number(number(&base)?.powf(exponent)));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Value, String> {
        match self.peek() {
            None => Err("the expression ends too early".into()),
            Some(b'(') => {
                self.at += 1;
                let value = self.comparison()?;
                if self.take(")") {
                    Ok(value)
                } else {
                    Err("a `)` is missing".into())
                }
            }
            Some(b'-') => {
                self.at += 1;
                Ok(Value::Number(-number(&self.atom()?)?))
            }
            Some(quote @ (b'\'' | b'"')) => {
                let start = self.at + 1;
                let end = (start..self.text.len())
                    .find(|&i| self.text[i] == quote)
                    .ok_or("a quote is missing")?;
                self.at = end + 1;
                Ok(Value::Text(
                    String::from_utf8_lossy(&self.text[start..end]).into_owned(),
                ))
            }
            Some(c) if c.is_ascii_digit() || c == b'.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => self.name(),
            Some(c) => Err(format!("`{}` is not expected here", c as char)),
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        let digit =
            |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_digit() || *c == b'.' || *c == b'_');
        while digit(self.text.get(self.at)) {
            self.at += 1;
        }
        // An exponent, but not the beginning of a name.
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.text.get(self.at + 1), Some(b'+' | b'-')));
            if self
                .text
                .get(self.at + 1 + sign)
                .is_some_and(u8::is_ascii_digit)
            {
                self.at += 1 + sign;
                while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                    self.at += 1;
                }
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).replace('_', "");
        let value: f64 = text
            .parse()
            .map_err(|_| format!("`{text}` is not a number"))?;
        // A unit right after or after a space: 5ms, 5 ms.
        let before = self.at;
        if let Some(unit) = self.word() {
            if let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) {
                return Ok(Value::Number(value * factor));
            }
            if !self.scope.parameters.contains_key(&unit) && self.text.get(before) != Some(&b' ') {
                return Err(format!(
                    "`{unit}` is not a unit; there are {}",
                    names(UNITS.iter().map(|u| u.0))
                ));
            }
            self.at = before;
        }
        Ok(Value::Number(value))
    }

    fn word(&mut self) -> Option<String> {
        self.space();
        let start = self.at;
        while self
            .text
            .get(self.at)
            .is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_')
        {
            self.at += 1;
        }
        let starts_well = self
            .text
            .get(start)
            .is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_');
        if !starts_well {
            self.at = start;
            return None;
        }
        Some(String::from_utf8_lossy(&self.text[start..self.at]).into_owned())
    }

    fn name(&mut self) -> Result<Value, String> {
        let Some(name) = self.word() else {
            return Err("a name is missing".into());
        };
        if self.take("(") {
            let mut arguments = Vec::new();
            if !self.take(")") {
                loop {
                    arguments.push(self.comparison()?);
                    if self.take(")") {
                        break;
                    }
                    if !self.take(",") {
                        return Err(format!(
                            "a `,` or `)` is missing in the arguments of {name}"
                        ));
                    }
                }
            }
            return call(&name, arguments, &self.scope.folder);
        }
        if let Some(value) = self.scope.parameters.get(&name) {
            return Ok(value.clone());
        }
        if let Some((_, factor)) = UNITS.iter().find(|(unit, _)| *unit == name) {
            return Ok(Value::Number(*factor));
        }
        let hint = super::nearest(&name, self.scope.parameters.keys().map(String::as_str))
            .map_or_else(
                || "; declare it under [parameters]".to_string(),
                |near| format!("; did you mean `{near}`?"),
            );
        Err(format!("`{name}` is not a parameter{hint}"))
    }
}

fn names<'a>(list: impl Iterator<Item = &'a str>) -> String {
    list.collect::<Vec<_>>().join(", ")
}

/// A value as a number.
pub(super) fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(x) => Ok(*x),
        Value::Text(t) => Err(format!("'{t}' is text where a number is needed")),
        Value::Dist(_) => Err("a distribution stands where a number is needed".into()),
    }
}

/// A value as a distribution: a number is constant.
pub(super) fn dist(value: Value) -> Result<Dist, String> {
    match value {
        Value::Dist(d) => Ok(d),
        Value::Number(x) => Ok(Dist::Constant(x)),
        Value::Text(t) => Err(format!("'{t}' is text where a distribution is needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(text: &str) -> Result<Value, String> {
        let parameters = BTreeMap::from([
            ("clients".to_string(), Value::Number(64.0)),
            ("database".to_string(), Value::Text("A".into())),
        ]);
        Scope {
            parameters: &parameters,
            folder: PathBuf::new(),
        }
        .evaluate(text)
    }

    #[test]
    fn numbers_units_parameters_and_precedence() {
        for (text, x) in [
            ("5ms", 0.005),
            ("2 + 3 * 2 ^ 2", 14.0),
            ("clients / 2 - 1", 31.0),
            ("-(1 + 1) * 2", -4.0),
            ("1e-3 * 2", 0.002),
            ("1.5 min", 90.0),
            ("0.5*ms", 0.0005),
            ("if(database == 'A', 1, 2)", 1.0),
            ("if(clients < 10, 1, max(2, 3))", 3.0),
            ("10 Mbit", 1.25e6),
        ] {
            match evaluate(text) {
                Ok(Value::Number(y)) => assert!((x - y).abs() < 1e-12, "{text}: {y}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn distributions_have_the_mean_that_was_asked_for() {
        for (text, mean) in [
            ("exp(5ms)", 0.005),
            ("2 * exp(1) + 3", 5.0),
            ("erlang(4, 2)", 2.0),
            ("gamma(0.5, 2)", 2.0),
            ("weibull(0.7, 2)", 2.0),
            ("lognormal(2, 3)", 2.0),
            ("hyper(2, 4)", 2.0),
            ("mix(1, 2, 3, exp(4))", 3.5),
            ("uniform(1ms, 3ms)", 0.002),
        ] {
            let got = dist(evaluate(text).unwrap()).unwrap().mean();
            assert!((got - mean).abs() < 1e-12, "{text}: {got}");
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (text, part) in [
            ("5 + clinets", "did you mean `clients`?"),
            ("5parsec", "is not a unit"),
            ("expp(3)", "did you mean `exp`?"),
            ("exp(1, 2)", "takes (mean)"),
            ("exp(-1)", "must be 0 or more"),
            ("1 +", "ends too early"),
            ("(1", "`)` is missing"),
            ("1 2", "not expected"),
            ("1 / 0", "division by zero"),
            ("exp(1) * exp(2)", "cannot be multiplied"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
