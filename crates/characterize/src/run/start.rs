//! The command that starts the server, with the agent in it.
//!
//! The first agent that comes to a JVM makes HotSpot throw all compiled code away (JDK-8324241); one that is there from the
//! start does not, and sleeps until it is recorded.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Options for every JVM that a script starts.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// A command and what its environment gains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    program: String,
    arguments: Vec<OsString>,
    tool_options: Option<OsString>,
}

impl Words {
    /// `words` (at least one), with the agent as the first option of `java`, or, of anything else, in its environment.
    pub fn of(words: &[String], agent: Option<&Path>) -> Words {
        let (program, rest) = words
            .split_first()
            .map_or(("", &[][..]), |(p, r)| (p.as_str(), r));
        let mut made = Words {
            program: program.to_owned(),
            arguments: rest.iter().map(OsString::from).collect(),
            tool_options: None,
        };
        let Some(jar) = agent else {
            return made;
        };
        let mut option = OsString::from("-javaagent:");
        option.push(jar);
        if Path::new(program)
            .file_name()
            .is_some_and(|name| name == "java")
        {
            made.arguments.insert(0, option);
        } else if !jar.to_string_lossy().contains(char::is_whitespace) {
            // The variable is split at blanks.
            made.tool_options = Some(option);
        }
        made
    }

    /// What is run.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Ready to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(option) = &self.tool_options {
            let mut all = std::env::var_os(TOOL_OPTIONS).unwrap_or_default();
            if !all.is_empty() {
                all.push(" ");
            }
            all.push(option);
            command.env(TOOL_OPTIONS, all);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, agent: Option<&str>) -> Words {
        let words: Vec<String> = text.split(' ').map(String::from).collect();
        Words::of(&words, agent.map(Path::new))
    }

    fn arguments(w: &Words) -> Vec<String> {
        let command = w.command();
        command
            .get_args()
            .map(|a| a.to_string_lossy().into_owned())
            .collect()
    }

    fn variable(w: &Words) -> Option<String> {
        let command = w.command();
        let found = command.get_envs().find(|(k, _)| *k == TOOL_OPTIONS)?.1?;
        Some(found.to_string_lossy().into_owned())
    }

    #[test]
    fn java_gets_the_agent_as_its_first_option() {
        let w = words("/opt/jdk/bin/java -jar shop.jar", Some("/l/a.jar"));
        assert_eq!(arguments(&w), ["-javaagent:/l/a.jar", "-jar", "shop.jar"]);
        assert_eq!(variable(&w), None);
    }

    #[test]
    fn a_script_passes_it_on_to_its_jvm() {
        let w = words("./run.sh --port 0", Some("/l/a.jar"));
        assert_eq!(
            (w.program(), arguments(&w)),
            ("./run.sh", vec!["--port".into(), "0".into()])
        );
        assert!(variable(&w).is_some_and(|v| v.ends_with("-javaagent:/l/a.jar")));
        assert_eq!(variable(&words("./run.sh", Some("/l l/a.jar"))), None);
    }

    #[test]
    fn without_recordings_the_command_is_as_it_was_given() {
        let w = words("java -jar shop.jar", None);
        assert_eq!(
            (arguments(&w), variable(&w)),
            (vec!["-jar".into(), "shop.jar".into()], None)
        );
    }
}
