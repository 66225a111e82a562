//! Which methods are recorded: filters as the user writes them, and as the agent's header has them.
//!
//! A *filter* is a pattern of methods, or with a `!` in front of those to leave out; the last that matches a method decides. What
//! a pattern matches is the agent's business (`Filters.java`): here it is seen to that it can match, and that all of them fit.

use loadline_trace::spool::agent::at::METHODS_TEXT;

use crate::options::Methods;

/// In front of a filter of threads.
const OF_THREADS: char = '\t';

/// Whether it is a filter of methods; else why not.
pub fn check(filter: &str) -> Result<(), String> {
    let pattern = filter.strip_prefix('!').unwrap_or(filter);
    let own = |c: char| c.is_alphanumeric() || "_$.*<>(),[]-".contains(c);
    match pattern.chars().find(|c| !own(*c)) {
        Some(c) => Err(format!(
            "{c:?} is in no method's name; it is as com.shop.**, com.shop.Cart.add, com.shop.Cart.add(int,**) or !**.get*"
        )),
        None if pattern.is_empty() => Err("it is empty".into()),
        None => Ok(()),
    }
}

/// Whether it is a filter of threads; else why not.
pub fn check_thread(filter: &str) -> Result<(), String> {
    let pattern = filter.strip_prefix('!').unwrap_or(filter);
    match pattern.contains(char::is_control) || pattern.is_empty() {
        true => Err("it is empty, or has a character that no thread's name has".into()),
        false => Ok(()),
    }
}

/// The text of these filters in the agent's header; else why there is none.
pub fn text(methods: &Methods) -> Result<String, String> {
    if methods.filters.iter().all(|f| f.starts_with('!')) {
        return Err("all filters leave methods out, so that none is recorded: begin with one that takes some, as --methods 'com.shop.**'".into());
    }
    let threads = methods.threads.iter().map(|t| format!("{OF_THREADS}{t}"));
    let lines: Vec<String> = methods.filters.iter().cloned().chain(threads).collect();
    let text = lines.join("\n");
    match text.len() <= METHODS_TEXT {
        true => Ok(text),
        false => Err(format!(
            "the filters are {} bytes together, and {METHODS_TEXT} is the most: use wildcards",
            text.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_lines_and_those_of_threads_come_last() {
        let methods = Methods {
            filters: ["com.shop.**", "!**.get*"].map(String::from).to_vec(),
            threads: vec!["http-*".into()],
            ..Methods::default()
        };
        assert_eq!(text(&methods), Ok("com.shop.**\n!**.get*\n\thttp-*".into()));
    }

    #[test]
    fn what_can_match_nothing_is_refused() {
        for good in ["com.shop.**", "!**.<init>", "a.B$C.d(int[],**)"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "!", "com.shop.Cart add", "com/shop/**", "a:b"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check_thread("http\n").is_err() && check_thread("http nio-*").is_ok());
        let only = |filter: &str| Methods {
            filters: vec![filter.into()],
            ..Methods::default()
        };
        assert!(text(&only("!**")).is_err());
        assert!(text(&only(&"x".repeat(METHODS_TEXT + 1))).is_err());
    }
}
