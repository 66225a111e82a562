//! Reading the JVM's thread dump: the head line of each thread.
//!
//! ```text
//! "http-exec-1" #31 daemon prio=5 os_prio=0 cpu=1ms elapsed=9s tid=0x7f0c nid=0x1a2b waiting …   17
//! "http-exec-1" #31 [6699] daemon prio=5 os_prio=0 cpu=1ms elapsed=9s tid=0x7f0c nid=6699 …      25
//! "GC Thread#0" os_prio=0 cpu=1ms elapsed=9s tid=0x7f0c nid=0x1a2c runnable                    both
//! ```

/// A thread of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dumped {
    /// Java's name, whole.
    pub name: String,
    /// `#N`; threads of the virtual machine have none.
    pub java_id: Option<u64>,
    /// Kernel id in the target's namespace.
    pub nid: u32,
}

/// The threads of a dump; lines of any other shape are passed over.
pub fn threads(dump: &str) -> impl Iterator<Item = Dumped> + '_ {
    dump.lines().filter_map(head)
}

fn head(line: &str) -> Option<Dumped> {
    let rest = line.strip_prefix('"')?;
    let nid_at = rest.rfind(" nid=")?;
    // A name may hold quotes itself: it ends at the last quote before the fields.
    let (name, fields) = rest[..nid_at].rsplit_once('"')?;
    let nid = rest[nid_at + 5..].split_whitespace().next()?;
    let nid = match nid.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => nid.parse().ok()?,
    };
    let java_id = fields
        .split_whitespace()
        .find_map(|f| f.strip_prefix('#')?.parse().ok());
    Some(Dumped {
        name: name.into(),
        java_id,
        nid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Dumped {
        threads(line).next().expect("a thread")
    }

    #[test]
    fn seventeen_writes_the_kernel_id_in_hex_and_twenty_five_in_decimal() {
        let old = one(
            r#""main" #1 prio=5 os_prio=0 cpu=51.5ms elapsed=3s tid=0x00007f nid=0x1f3 runnable  [0x00]"#,
        );
        assert_eq!(
            old,
            Dumped {
                name: "main".into(),
                java_id: Some(1),
                nid: 0x1f3
            }
        );
        let new = one(
            r#""main" #3 [499] prio=5 os_prio=0 cpu=51.5ms elapsed=3s tid=0x00007f nid=499 waiting on"#,
        );
        assert_eq!(
            new,
            Dumped {
                name: "main".into(),
                java_id: Some(3),
                nid: 499
            }
        );
    }

    #[test]
    fn a_thread_of_the_machine_has_no_java_id_even_if_its_name_has_a_hash() {
        let gc =
            one(r#""G1 Conc#0" os_prio=0 cpu=0.05ms elapsed=3s tid=0x00007f nid=500 runnable"#);
        assert_eq!(
            gc,
            Dumped {
                name: "G1 Conc#0".into(),
                java_id: None,
                nid: 500
            }
        );
    }

    #[test]
    fn a_name_with_quotes_is_kept_whole() {
        let t = one(r#""he said "hi" #7 nid=2" #9 prio=5 tid=0x1 nid=0x2 runnable"#);
        assert_eq!(
            (t.name.as_str(), t.java_id),
            (r#"he said "hi" #7 nid=2"#, Some(9))
        );
    }

    #[test]
    fn other_lines_are_passed_over() {
        assert_eq!(
            threads("Full thread dump\n\tat x.Y(\"z\")\n\"broken\n").count(),
            0
        );
    }
}
