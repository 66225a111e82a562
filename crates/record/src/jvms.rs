//! The JVMs that run on this machine, their names, and finding one by its name.
//!
//! A JVM is a process that has `libjvm.so` mapped: that holds for every launcher, and for programs
//! that embed one. Its name is what `jps` would say: the main class without its package, or the jar
//! without its path.

use std::path::Path;

use crate::error::{Error, Result};

/// A running JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jvm {
    /// Process id.
    pub pid: i32,
    /// Main class without its package, or jar without its path and ending.
    pub name: String,
    /// User that it runs as.
    pub uid: u32,
    /// Main class or jar as it was given.
    main: String,
}

/// All JVMs that we may look into: for root all, for others their own.
pub fn running_jvms() -> Vec<Jvm> {
    let mut found: Vec<Jvm> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_jvm(pid))
        .filter_map(|pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let uid = crate::procfs::parse::effective_id(&status, "Uid")?;
            let command = command_line(pid);
            let main = main_of(&command).unwrap_or_else(|| comm(pid));
            Some(Jvm {
                pid,
                name: instance_of(&command).unwrap_or_else(|| short_name(&main)),
                uid,
                main,
            })
        })
        .collect();
    found.sort_by_key(|j| j.pid);
    found
}

/// The JVM that `text` means: a process id, or a name, or a part of one.
pub fn resolve(text: &str) -> Result<i32> {
    match text.trim().parse::<i32>() {
        Ok(pid) => Ok(pid),
        Err(_) => choose(text, &running_jvms()),
    }
}

/// A sentence's worth of JVMs: `4121 shop, 5170 kafka`.
pub fn list(jvms: &[Jvm]) -> String {
    if jvms.is_empty() {
        return "none".into();
    }
    jvms.iter()
        .map(|j| format!("{} {}", j.pid, j.name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The one JVM with this name; else the one whose main class or jar contains it.
fn choose(text: &str, jvms: &[Jvm]) -> Result<i32> {
    let wanted = text.trim().to_lowercase();
    let exact = |j: &&Jvm| j.name.to_lowercase() == wanted || j.main.to_lowercase() == wanted;
    let partly = |j: &&Jvm| j.main.to_lowercase().contains(&wanted);
    let mut matches: Vec<Jvm> = jvms.iter().filter(exact).cloned().collect();
    if matches.is_empty() && !wanted.is_empty() {
        matches = jvms.iter().filter(partly).cloned().collect();
    }
    match matches.as_slice() {
        [] => Err(Error::NoSuchJvm {
            text: text.into(),
            running: list(jvms),
        }),
        [one] => Ok(one.pid),
        several => Err(Error::Ambiguous {
            text: text.into(),
            matches: list(several),
        }),
    }
}

/// Whether a process has the JVM's library mapped; false too if we may not look.
pub fn is_jvm(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps_jvm(&maps))
}

/// Whether a JVM is no HotSpot but OpenJ9; false too if we may not look.
pub fn is_openj9(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps_openj9(&maps))
}

fn maps_jvm(maps: &str) -> bool {
    libraries(maps).any(|name| name == "libjvm.so")
}

/// Its libjvm.so only leads to this one, which has its release in its name (`libj9vm29.so`).
fn maps_openj9(maps: &str) -> bool {
    libraries(maps).any(|name| name.starts_with("libj9vm"))
}

/// Names of the files that are mapped. An upgrade of the JDK leaves the old library mapped as "libjvm.so (deleted)".
fn libraries(maps: &str) -> impl Iterator<Item = &str> {
    let paths = maps.lines().map(|l| l.trim_end_matches(" (deleted)"));
    paths.filter_map(|l| Some(l.rsplit_once('/')?.1))
}

/// The kernel's name of a process.
pub fn comm(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Command line of a process.
pub fn command_line(pid: i32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words: Vec<String> = bytes
        .split(|&b| b == 0)
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    words.pop(); // what is behind the last NUL
    words
}

/// Name of the program that a java command line runs; of another command, of the command.
pub fn name_of(command: &[String]) -> String {
    let main = main_of(command);
    let main = main.as_deref().or(command.first().map(String::as_str));
    instance_of(command).unwrap_or_else(|| short_name(main.unwrap_or("")))
}

/// Servers whose main class is the same for every installation, and the property that names the
/// directory of the instance, which is what people call it by.
const INSTANCES: [(&str, &str); 2] = [
    ("org.apache.catalina.startup.Bootstrap", "-Dcatalina.base="),
    ("org.eclipse.jetty.start.Main", "-Djetty.base="),
];

fn instance_of(command: &[String]) -> Option<String> {
    let main = main_of(command)?;
    let (_, property) = INSTANCES.iter().find(|(class, _)| main.ends_with(class))?;
    let base = command.iter().find_map(|w| w.strip_prefix(property))?;
    Path::new(base)
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
}

/// Options of the launcher whose value is the next word (java(1)).
const WITH_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--limit-modules",
    "--patch-module",
    "--enable-native-access",
    "--source",
];

/// The main class, module or jar of a java command line, as given.
fn main_of(command: &[String]) -> Option<String> {
    let mut words = command.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-jar" | "-m" | "--module" => return words.next().cloned(),
            w if WITH_VALUE.contains(&w) => {
                words.next();
            }
            w if w.starts_with("--module=") => return w.split_once('=').map(|(_, m)| m.to_owned()),
            w if w.starts_with('-') || w.starts_with('@') => {}
            w => return Some(w.to_owned()),
        }
    }
    None
}

/// `/opt/shop.jar` is shop; `org.x.Main` is Main; `app/org.x.Main` (a module's) is Main.
fn short_name(main: &str) -> String {
    let file = main.rsplit('/').next().unwrap_or(main);
    for ending in [".jar", ".war", ".java"] {
        if let Some(stem) = file.strip_suffix(ending) {
            return stem.to_owned();
        }
    }
    if main.starts_with('/') {
        return file.to_owned();
    }
    file.rsplit('.').next().unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_name_is_the_main_class_or_jar_without_its_path() {
        for (line, name) in [
            ("java -Xmx1g -jar /opt/shop.jar --port 1", "shop"),
            (
                "/usr/bin/java -cp a:b -Dx=y org.apache.catalina.startup.Bootstrap start",
                "Bootstrap",
            ),
            (
                "java -Dcatalina.base=/srv/shop -cp a:b org.apache.catalina.startup.Bootstrap start",
                "shop",
            ),
            (
                "java --add-opens java.base/java.lang=ALL-UNNAMED --class-path x kafka.Kafka",
                "Kafka",
            ),
            ("java -p mods -m app/org.example.Main", "Main"),
            ("java --module=app/org.example.Main", "Main"),
            ("java @options Main", "Main"),
            ("java /tmp/Hello.java", "Hello"),
            ("java", "java"),
            ("/usr/sbin/server.bin", "server.bin"),
        ] {
            assert_eq!(name_of(&words(line)), name, "{line}");
        }
        assert_eq!(name_of(&[]), "");
    }

    fn jvm(pid: i32, main: &str) -> Jvm {
        Jvm {
            pid,
            name: short_name(main),
            uid: 0,
            main: main.into(),
        }
    }

    #[test]
    fn a_name_means_the_jvm_that_has_it_before_those_that_contain_it() {
        let jvms = [
            jvm(1, "/opt/shop.jar"),
            jvm(2, "/opt/shop-admin.jar"),
            jvm(3, "kafka.Kafka"),
        ];
        assert_eq!(choose("shop", &jvms).expect("exact"), 1);
        assert_eq!(choose("SHOP", &jvms).expect("case does not matter"), 1);
        assert_eq!(choose("admin", &jvms).expect("a part"), 2);
        assert_eq!(choose("kafka.Kafka", &jvms).expect("the whole class"), 3);
    }

    #[test]
    fn no_or_several_matches_are_errors_that_list_jvms() {
        let jvms = [jvm(1, "/opt/shop-a.jar"), jvm(2, "/opt/shop-b.jar")];
        let several = choose("shop", &jvms).expect_err("two match").to_string();
        assert!(several.contains("1 shop-a, 2 shop-b"), "{several}");
        let none = choose("kafka", &jvms)
            .expect_err("none matches")
            .to_string();
        assert!(none.contains("running JVMs: 1 shop-a, 2 shop-b"), "{none}");
        assert!(choose("", &jvms).is_err());
        let empty = choose("x", &[]).expect_err("none runs").to_string();
        assert!(empty.contains("running JVMs: none"), "{empty}");
    }

    #[test]
    fn a_number_is_a_process_id() {
        assert_eq!(resolve(" 4121 ").expect("a pid"), 4121);
    }

    #[test]
    fn a_jvm_is_known_by_its_library_even_if_that_was_replaced() {
        assert!(maps_jvm(
            "7f00-7f01 r-xp 0 08:01 5  /usr/lib/jvm/x/lib/server/libjvm.so\n"
        ));
        assert!(maps_jvm(
            "7f00-7f01 r-xp 0 08:01 5  /usr/lib/jvm/x/lib/server/libjvm.so (deleted)\n"
        ));
        assert!(!maps_jvm(
            "7f00-7f01 r-xp 0 08:01 5  /usr/lib/libjvm.so.conf\n"
        ));
        assert!(!is_jvm(std::process::id() as i32));
    }

    #[test]
    fn openj9_is_known_by_the_library_that_its_libjvm_loads() {
        let redirector = "7f00-7f01 r-xp 0 08:01 5  /opt/semeru/lib/j9vm/libjvm.so\n";
        let machine = "7f02-7f03 r-xp 0 08:01 6  /opt/semeru/lib/default/libj9vm29.so\n";
        assert!(maps_jvm(redirector) && !maps_openj9(redirector));
        assert!(maps_openj9(&format!("{redirector}{machine}")));
    }
}
