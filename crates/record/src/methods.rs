//! Which methods are recorded, and which classes' objects: filters as the user writes them, and as the agent's header has them.
//!
//! A *filter* is a pattern of methods, or with a `!` in front of those to leave out; the last that matches a method decides. What
//! a pattern matches is the agent's business (`Filters.java`): here it is seen to that it can match, and that all of them fit.

use loadline_trace::spool::agent::at::METHODS_TEXT;

use crate::options::Methods;

/// In front of a filter of threads.
const OF_THREADS: char = '\t';
/// In front of a class whose objects are wanted.
const OF_CLASSES: char = '+';
/// Behind what such classes begin with.
const ANY: char = '*';
/// Classes that the agent has room for.
const MOST_CLASSES: usize = 32;

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
    fitting(lines.join("\n"))
}

/// Whether it names classes whose objects can be recorded; else why not.
pub fn check_class(class: &str) -> Result<(), String> {
    let name = class.strip_suffix(ANY).unwrap_or(class);
    let own = |c: char| c.is_alphanumeric() || "_$.-".contains(c);
    match name.chars().find(|c| !own(*c)) {
        Some(c) => Err(format!(
            "{c:?} is in no class's name; it is as com.shop.Cart, com.shop.Cart$Line, or com.shop.* for all that begin so"
        )),
        None if name.is_empty() => Err("name a class: of all of them there are too many".into()),
        None => Ok(()),
    }
}

/// The text of the agent's header with these classes behind its filters.
pub fn with_classes(filters: String, classes: &[String]) -> Result<String, String> {
    if classes.len() > MOST_CLASSES {
        return Err(format!(
            "{} classes are more than {MOST_CLASSES}: use com.shop.*",
            classes.len()
        ));
    }
    let classes = classes.iter().map(|c| format!("{OF_CLASSES}{c}"));
    let lines: Vec<String> = Some(filters)
        .filter(|f| !f.is_empty())
        .into_iter()
        .chain(classes)
        .collect();
    fitting(lines.join("\n"))
}

fn fitting(text: String) -> Result<String, String> {
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
        for good in ["com.shop.Cart", "com.shop.Cart$Line", "com.shop.*"] {
            assert_eq!(check_class(good), Ok(()), "{good}");
        }
        for bad in ["", "*", "**", "com.*.Cart", "com/shop/Cart", "byte[]"] {
            assert!(check_class(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn classes_stand_behind_the_filters_of_methods() {
        let classes = ["shop.Cart".to_owned(), "shop.model.*".to_owned()];
        let both = with_classes("shop.**".into(), &classes);
        assert_eq!(both, Ok("shop.**\n+shop.Cart\n+shop.model.*".into()));
        assert_eq!(
            with_classes(String::new(), &classes[..1]),
            Ok("+shop.Cart".into())
        );
        let many = vec!["x".to_owned(); MOST_CLASSES + 1];
        assert!(with_classes(String::new(), &many).is_err());
        assert!(with_classes("x".repeat(METHODS_TEXT), &classes).is_err());
    }
}
