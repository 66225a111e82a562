//! `crates/trace/src/spool/agent/layout.rs` has the numbers of the agent's spool. The agent's Java and C halves repeat
//! those that they need: here each of them is held to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RUST: &str = "crates/trace/src/spool/agent/layout.rs";
const HALVES: [&str; 8] = [
    "java/agent/src/main/java/dev/loadline/agent/SpoolHeader.java",
    "java/agent/src/main/java/dev/loadline/agent/boot/Type.java",
    "java/agent/src/main/java/dev/loadline/agent/boot/Session.java",
    "java/agent/src/main/java/dev/loadline/agent/boot/Emit.java",
    "java/agent/src/main/java/dev/loadline/agent/boot/Resumption.java",
    "java/agent/src/main/java/dev/loadline/agent/VmLog.java",
    "java/agent/src/main/c/spool.h",
    "java/agent/src/main/c/spool.c",
];
const TYPES: &str = HALVES[1];
/// What a half calls something otherwise than by the name of its module.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("METHODS_TEXT", "at::METHODS_TEXT"),
    ("METHOD_", "method::"),
    ("CHUNK_HEADER", "EVENT"), // as long as an event
    ("CHUNK_LEFT", "chunk_at::LEFT"),
    ("CHUNK_PLACE", "chunk_at::PLACE"),
    ("LEFT_", "left::"),
    ("LEVEL_", "level::"),
    ("LOG_", "vm_log::"),
];
/// Numbers that are a half's own business.
const OWN: [&str; 3] = ["MAX_STRINGS", "MAX_STRING_BYTES", "STRING_SLOTS"];

fn source(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// `64 * 1024`, `15_360`: a number, or numbers to be multiplied.
fn number(text: &str) -> Option<u64> {
    let factors = text.split('*').map(|f| f.trim().replace('_', ""));
    factors.map(|f| f.parse::<u64>().ok()).product()
}

/// What is defined in Rust, by `module::NAME`; of the file itself `NAME`.
fn told() -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut module = String::new();
    for line in source(RUST).lines() {
        if let Some(name) = line.strip_prefix("pub mod ") {
            module = name.trim_end_matches(" {").to_owned() + "::";
        } else if line == "}" {
            module.clear();
        } else if let Some(rest) = line.trim_start().strip_prefix("pub const ")
            && let Some((name, rest)) = rest.split_once(": ")
            && let Some((_, value)) = rest.trim_end_matches(';').split_once(" = ")
            && let Some(value) = number(value)
        {
            found.insert(format!("{module}{name}"), value);
        }
    }
    found
}

/// The numbers that a file in Java or C names: `static final int NAME = …;`, or `NAME = …,` in an enum.
fn repeated(path: &str) -> Vec<(String, u64)> {
    let definition = |line: &str| -> Option<(String, u64)> {
        let line = line.split("/*").next()?.trim();
        let line = if path.ends_with(".java") {
            let int = line.split_once("static final int ")?.1;
            int.strip_suffix(';')?
        } else {
            line.strip_suffix(',')?
        };
        let (name, value) = line.split_once(" = ")?;
        Some((name.to_owned(), number(value)?))
    };
    source(path).lines().filter_map(definition).collect()
}

/// The name that Rust has for it.
fn rust_name(name: &str, told: &BTreeMap<String, u64>) -> Option<String> {
    let other = |(theirs, ours): &(&str, &str)| Some(ours.to_string() + name.strip_prefix(theirs)?);
    let at = name.strip_prefix("AT_").map(|n| format!("at::{n}"));
    let kind = name
        .strip_prefix("KIND_")
        .map(|n| format!("chunk_kind::{n}"));
    let modules =
        ["", "kind::", "state::", "mode::", "at::", "resumption::"].map(|m| format!("{m}{name}"));
    let candidates = at
        .into_iter()
        .chain(kind)
        .chain(OTHER_NAMES.iter().filter_map(other));
    candidates.chain(modules).find(|n| told.contains_key(n))
}

#[test]
fn both_halves_of_the_agent_have_the_numbers_of_the_layout() {
    let told = told();
    let mut wrong = Vec::new();
    for path in HALVES {
        let repeated = repeated(path);
        assert!(repeated.len() > 1, "nothing was found in {path}");
        for (name, value) in repeated {
            match rust_name(&name, &told) {
                _ if OWN.contains(&name.as_str()) => {}
                None => wrong.push(format!("{path}: {name} is not in {RUST}")),
                Some(rust) if told[&rust] == value => {}
                Some(rust) => wrong.push(format!(
                    "{path}: {name} is {value}, and {rust} of {RUST} is {}",
                    told[&rust]
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_java_half_knows_every_type_of_event() {
    let java: BTreeMap<String, u64> = repeated(TYPES).into_iter().collect();
    let told = told();
    let types = told
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("kind::")?.to_owned(), *value)));
    assert_eq!(java, types.collect());
}
