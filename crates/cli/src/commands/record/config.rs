//! `loadline record --config FILE`: a TOML file whose keys are the options, by the names of their flags.
//!
//! The file becomes words of the command line, before those that were given there; so an option is explained, checked
//! and has its default in one place. What the command line says itself goes before the file.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Args as _, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Usage;

/// Every key, with its default and what it means.
pub const EXAMPLE: &str = include_str!("example.toml");

/// The key of the command that is started and recorded, which is no flag.
const COMMAND: &str = "command";
/// Flags that make no sense in a file.
const NO_KEYS: [&str; 2] = ["config", "example-config"];

/// The command line with the options of its `--config` file, if it is one of `record` and has one.
pub fn with_config(given: Vec<OsString>) -> Result<Vec<OsString>> {
    if given.get(1).is_none_or(|word| word != "record") {
        return Ok(given);
    }
    let command = command();
    let lenient = command.clone().ignore_errors(true);
    let Ok(told) = lenient.try_get_matches_from(&given[1..]) else {
        return Ok(given); // --help
    };
    let Some(path) = told.get_one::<PathBuf>("config") else {
        return Ok(given);
    };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let is_told = |id: &str| told.value_source(id) == Some(ValueSource::CommandLine);
    let words = words(&text, &path.display().to_string(), &command, &is_told)?;
    let mut all = given[1..].to_vec();
    all.splice(1..1, words.options);
    if !words.command.is_empty() {
        all.push("--".into());
        all.extend(words.command);
    }
    if let Err(e) = command.try_get_matches_from(&all)
        && !matches!(e.kind(), ErrorKind::DisplayHelp)
    {
        let says = format!("{} with the command line: {}", path.display(), said(&e));
        return Err(Usage(says).into());
    }
    all.insert(0, given[0].clone());
    Ok(all)
}

fn command() -> Command {
    super::Args::augment_args(Command::new("record"))
}

/// What a file says, as words of a command line.
#[derive(Debug, Default, PartialEq)]
struct Words {
    options: Vec<OsString>,
    command: Vec<OsString>,
}

/// Those of a file's text, but for options that are told already; `path` is for errors.
fn words(
    text: &str,
    path: &str,
    command: &Command,
    is_told: &dyn Fn(&str) -> bool,
) -> Result<Words> {
    let wrong = |at: usize, says: &str| {
        let line = text[..at.min(text.len())].matches('\n').count() + 1;
        anyhow::Error::from(Usage(format!("{path}:{line}: {says}")))
    };
    let table = DeTable::parse(text)
        .map_err(|e| wrong(e.span().map_or(0, |span| span.start), e.message()))?;
    let target_is_told = is_told("pid") || is_told(COMMAND);
    let mut found = Words::default();
    for (key, value) in table.get_ref() {
        let name: &str = key.get_ref();
        let says = |says: &str| wrong(value.span().start, &format!("{name} {says}"));
        if name == COMMAND {
            let words = command_of(value).map_err(says)?;
            if !target_is_told {
                found.command = words;
            }
            continue;
        }
        let arg = command
            .get_arguments()
            .find(|a| a.get_long() == Some(name) && !NO_KEYS.contains(&name))
            .ok_or_else(|| {
                let names: Vec<&str> = keys(command).collect();
                wrong(
                    key.span().start,
                    &format!("there is no key {name:?}; keys are {}", names.join(", ")),
                )
            })?;
        let own = options(arg, name, value.get_ref()).map_err(says)?;
        check(command, name, &own).map_err(|e| wrong(value.span().start, &e))?;
        if !(is_told(arg.get_id().as_str()) || (name == "pid" && target_is_told)) {
            found.options.extend(own);
        }
    }
    Ok(found)
}

/// The keys of a file, but for the command.
fn keys(command: &Command) -> impl Iterator<Item = &str> {
    command
        .get_arguments()
        .filter_map(|a| a.get_long())
        .filter(|name| !NO_KEYS.contains(name))
}

fn command_of(value: &Spanned<DeValue>) -> Result<Vec<OsString>, &'static str> {
    const WANTED: &str = r#"must be a list of words, as ["java", "-jar", "shop.jar"]"#;
    let list = value.get_ref().as_array().ok_or(WANTED)?;
    let words = list
        .iter()
        .map(|w| w.get_ref().as_str().map(OsString::from));
    words.collect::<Option<Vec<_>>>().ok_or(WANTED)
}

/// An option and its value as words of a command line.
fn options(arg: &Arg, name: &str, value: &DeValue) -> Result<Vec<OsString>, &'static str> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let may_be_bare = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    let word = |text: &str| OsString::from(format!("--{name}={text}"));
    if let Some(on) = value.as_bool() {
        return match (is_flag || may_be_bare, on) {
            (false, _) => Err("needs a value, and is not just true or false"),
            (true, true) => Ok(vec![format!("--{name}").into()]),
            (true, false) => Ok(Vec::new()),
        };
    }
    if is_flag {
        return Err("must be true or false");
    }
    let Some(list) = value.as_array() else {
        return scalar(value).map(|text| vec![word(text)]);
    };
    let texts = list.iter().map(|v| scalar(v.get_ref()));
    let texts: Vec<&str> = texts.collect::<Result<_, _>>()?;
    match (arg.get_value_delimiter(), arg.get_action()) {
        (Some(delimiter), _) => Ok(vec![word(&texts.join(&delimiter.to_string()))]),
        (None, ArgAction::Append) => Ok(texts.into_iter().map(word).collect()),
        _ => Err("takes one value, and not a list"),
    }
}

fn scalar<'a>(value: &'a DeValue) -> Result<&'a str, &'static str> {
    value
        .as_str()
        .or_else(|| value.as_integer().map(|n| n.as_str()))
        .or_else(|| value.as_float().map(|n| n.as_str()))
        .ok_or("must be a text or a number")
}

/// Whether the value is one that the option takes. What it needs beside it is seen later, with the whole line.
fn check(command: &Command, name: &str, own: &[OsString]) -> Result<(), String> {
    let line = [OsString::from("record")].into_iter().chain(own.to_vec());
    match command.clone().try_get_matches_from(line) {
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::InvalidValue | ErrorKind::ValueValidation
            ) =>
        {
            Err(format!("{name}: {}", said(&e)))
        }
        _ => Ok(()),
    }
}

/// What clap says in its first line.
fn said(e: &clap::Error) -> String {
    let text = e.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        read_with(text, &[])
    }

    fn read_with(text: &str, told: &[&str]) -> Result<Vec<String>, String> {
        let found = words(text, "shop.toml", &command(), &|id| told.contains(&id));
        let found = found.map_err(|e| e.to_string())?;
        let all = found.options.into_iter().chain(found.command);
        Ok(all.map(|w| w.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn a_key_is_the_flag_of_its_name() {
        for (text, want) in [
            ("pid = 4121", vec!["--pid=4121"]),
            ("redact = true", vec!["--redact"]),
            ("redact = false", vec![]),
            ("counters = true", vec!["--counters"]),
            ("counters = \"1s\"", vec!["--counters=1s"]),
            ("levels = [\"jvm\", \"app\"]", vec!["--levels=jvm,app"]),
            (
                "when = [\"gc>200ms\", \"cpu>90% for 10s\"]",
                vec!["--when=gc>200ms", "--when=cpu>90% for 10s"],
            ),
            ("agent-max = \"8G\"", vec!["--agent-max=8G"]),
            ("command = [\"java\", \"-jar\"]", vec!["java", "-jar"]),
        ] {
            assert_eq!(read(text).expect(text), want, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        for (text, says) in [
            (
                "\nstack = \"1ms\"",
                "shop.toml:2: there is no key \"stack\"; keys are pid, out,",
            ),
            ("config = \"x\"", "shop.toml:1: there is no key"),
            (
                "\n\nstacks = \"5 parsecs\"",
                "shop.toml:3: stacks: invalid value",
            ),
            ("redact = 1", "shop.toml:1: redact must be true or false"),
            ("keep = [\"1s\"]", "shop.toml:1: keep takes one value"),
            ("keep = true", "shop.toml:1: keep needs a value"),
            (
                "command = \"java\"",
                "shop.toml:1: command must be a list of words",
            ),
            ("pid = ", "shop.toml:1: "),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(says), "{text}: {error}");
        }
    }

    #[test]
    fn the_command_line_goes_before_the_file() {
        let text = "pid = \"shop\"\nkeep = \"60s\"\nstacks = \"1ms\"";
        let left = read_with(text, &["stacks", COMMAND]).expect("valid");
        assert_eq!(left, ["--keep=60s"], "another target was told");
        assert!(
            read_with("stacks = \"x\"", &["stacks"]).is_err(),
            "it is checked all the same"
        );
    }

    #[test]
    fn what_does_not_go_together_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("shop.toml");
        let line = |more: &[&str]| {
            let own = ["loadline", "record", "--config"].map(OsString::from);
            let mut all = own.to_vec();
            all.push(file.clone().into());
            all.extend(more.iter().map(OsString::from));
            all
        };
        std::fs::write(&file, "pid = \"shop\"\nmax-size = \"1G\"").expect("written");
        let all = with_config(line(&["-d", "5s"])).expect("valid");
        assert_eq!(
            all[2..4],
            ["--max-size=1G", "--pid=shop"].map(OsString::from)
        );
        let error = with_config(line(&["--flight", "64M"])).expect_err("it is one or the other");
        let says = error.to_string();
        assert!(
            error.is::<Usage>() && says.contains("shop.toml with the command line: "),
            "{says}"
        );
    }

    /// The example with every key that it has commented out.
    fn uncommented() -> String {
        let lines = EXAMPLE.lines().map(|l| match l.strip_prefix("# ") {
            Some(key) if key.split_once(" = ").is_some_and(|(k, _)| !k.contains(' ')) => key,
            _ => l,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_example_has_every_key_and_each_is_valid() {
        let text = uncommented();
        let table = DeTable::parse(&text).expect("TOML");
        let has: Vec<&str> = table
            .get_ref()
            .keys()
            .map(|k| k.get_ref().as_ref())
            .collect();
        for key in keys(&command()).chain([COMMAND]) {
            assert!(has.contains(&key), "the example lacks {key}");
        }
        read(&text).expect("each value is one that its option takes");
    }

    #[test]
    fn the_example_is_the_default() {
        let matches = |words: Vec<OsString>| {
            let own = ["record", "--pid", "1"].map(OsString::from);
            let line = own.into_iter().chain(words);
            command().try_get_matches_from(line).expect("valid")
        };
        let found = words(EXAMPLE, "example", &command(), &|_| false).expect("valid");
        assert!(found.command.is_empty());
        let (example, default) = (matches(found.options), matches(Vec::new()));
        for arg in command().get_arguments() {
            let of = |m: &clap::ArgMatches| {
                let values = m.get_raw(arg.get_id().as_str());
                values.map(|v| {
                    v.map(OsString::from)
                        .collect::<Vec<_>>()
                        .join(&OsString::from(","))
                })
            };
            assert_eq!(of(&example), of(&default), "{}", arg.get_id());
        }
    }
}
