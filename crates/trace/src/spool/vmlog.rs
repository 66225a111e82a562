//! `raw/vm.log`: what the JVM's own log says. Of safepoints a line when each is over, and of what else was asked for
//! (bits of [`super::agent::vm_log`]) as it happens.
//!
//! ```text
//! [5512345678901ns][4711][safepoint      ] Safepoint "G1CollectForAllocation", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 3 ns, Total: 5 ns
//! [5512345678901ns][4711][gc,phases      ] GC(3)   Evacuate Collection Set: 1.2ms
//! [5512345678901ns][4711][gc             ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms
//! [5512345678901ns][4711][jit,compilation]  123   !   4       shop.Cart::add (57 bytes)
//! [5512345678901ns][4711][deoptimization ] cid= 123     level=4 shop.Cart.add(I)V trap_bci=12 unstable_if reinterpret pc=0x1 relative_pc=0x2
//! [5512345678901ns][4711][class,load     ] shop.Cart source: file:/srv/shop.jar
//! ```
//!
//! The time is of the trace's clock, then come the thread's id in the target's pid namespace and the line's tags; early versions had
//! neither. Lines that are none of these, or were torn, are passed over. Phases are told when they are over; those of which only a
//! duration is told (a colon stands before it) are parts of the next pause of their collection, in their order.

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// All threads were stopped.
    Safepoint(Safepoint<'a>),
    /// A phase of a garbage collection is over.
    Phase(Phase<'a>),
    /// A compiler begins with a method.
    Compilation(Compilation<'a>),
    /// Compiled code was left for the interpreter.
    Deoptimization {
        /// When.
        at: i64,
        /// Method that could not go on as it was compiled: `shop.Cart.add`.
        method: &'a str,
        /// Why, and what the JVM did about it: `unstable_if reinterpret`.
        why: &'a str,
    },
    /// C2's code of a method was given up, for whatever reason: all that JDK 17 tells of deoptimizations.
    GivenUp {
        /// When.
        at: i64,
        /// The method: `shop.Cart::add`.
        method: &'a str,
        /// `made not entrant`, and from some JDK on why.
        why: &'a str,
    },
    /// A class was loaded.
    ClassLoad {
        /// When.
        at: i64,
        /// The class, without the address of a hidden one.
        class: &'a str,
        /// Where it came from.
        source: &'a str,
    },
}

/// A time in which the virtual machine had stopped all threads, or was about to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safepoint<'a> {
    /// When it was asked for.
    pub begin: i64,
    /// When the threads went on.
    pub end: i64,
    /// What it was for: the JVM's name of the operation.
    pub operation: &'a str,
}

/// A phase of a garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase<'a> {
    /// When the line was written.
    pub at: i64,
    /// How long it took, in ns.
    pub lasted: i64,
    /// Number of its collection.
    pub collection: u32,
    /// Its name.
    pub name: &'a str,
    /// Whether it is a part of the next pause of its collection, in the order of such lines, and ended before the line was written.
    pub is_part: bool,
}

/// A method begins to be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compilation<'a> {
    /// When.
    pub at: i64,
    /// The compiler's thread, in the target's pid namespace.
    pub tid: u32,
    /// `shop.Cart::add`.
    pub method: &'a str,
    /// 1 to 3 are C1's, 4 is C2's; 0 is a wrapper of a native method.
    pub level: u8,
    /// Whether it replaces the method while it is running.
    pub on_stack: bool,
}

/// The entries of a log, as they stand there.
pub fn entries(log: &str) -> impl Iterator<Item = Entry<'_>> {
    log.lines().filter_map(entry)
}

fn entry(line: &str) -> Option<Entry<'_>> {
    let (time, mut says) = line.strip_prefix('[')?.split_once("ns]")?;
    let at: i64 = time.trim().parse().ok()?;
    let (mut tid, mut tags) = (0, "safepoint");
    while let Some((decoration, rest)) = says.strip_prefix('[').and_then(|s| s.split_once(']')) {
        match decoration.trim().parse() {
            Ok(id) => tid = id,
            Err(_) => tags = decoration.trim(),
        }
        says = rest;
    }
    let says = says.trim();
    match tags {
        "safepoint" => safepoint(at, says).map(Entry::Safepoint),
        "jit,compilation" => compilation(at, tid, says),
        "deoptimization" => deoptimization(at, says),
        "class,load" => class_load(at, says),
        _ if tags == "gc" || tags.starts_with("gc,") => phase(at, says).map(Entry::Phase),
        _ => None,
    }
}

fn safepoint(end: i64, says: &str) -> Option<Safepoint<'_>> {
    let (operation, rest) = says.strip_prefix("Safepoint \"")?.split_once('"')?;
    let (total, _) = rest.rsplit_once("Total:")?.1.split_once(" ns")?;
    let total: i64 = total.trim().parse().ok().filter(|&ns| ns >= 0)?;
    Some(Safepoint {
        begin: end.checked_sub(total)?,
        end,
        operation,
    })
}

fn phase(at: i64, says: &str) -> Option<Phase<'_>> {
    let (number, body) = says.strip_prefix("GC(")?.split_once(')')?;
    let (name, took) = body.trim().rsplit_once(' ')?;
    let (number_of, unit_ns) = match took.strip_suffix("ms") {
        Some(ms) => (ms, 1e6),
        None => (took.strip_suffix('s')?, 1e9),
    };
    let took: f64 = number_of.parse().ok().filter(|t| (0.0..1e6).contains(t))?;
    // What the heap was before and after stands behind the name.
    let name = match name.trim().rsplit_once(' ') {
        Some((name, heap)) if heap.contains("->") => name.trim(),
        _ => name.trim(),
    };
    Some(Phase {
        at,
        lasted: (took * unit_ns) as i64,
        collection: number.trim().parse().ok()?,
        name: name.trim_end_matches(':'),
        is_part: name.ends_with(':'),
    })
}

/// `123 % !   4       shop.Cart::add @ 12 (57 bytes)`; what follows the size tells of code that is given up.
fn compilation(at: i64, tid: u32, says: &str) -> Option<Entry<'_>> {
    const C2: u8 = 4;
    let (before, after) = says.split_at(says.find("::")?);
    let (head, class) = before.rsplit_once(' ')?;
    let mut words = head.split_whitespace();
    words.next()?.parse::<u32>().ok()?; // the compilation's number
    let (mut level, mut on_stack) = (0, false);
    for word in words {
        match word.parse::<u8>() {
            Ok(digit) if digit <= C2 => level = digit,
            Ok(_) => return None,
            Err(_) => on_stack |= word.contains('%'),
        }
    }
    let (name, rest) = after.split_once(' ')?;
    let method = &says[head.len() + 1..][..class.len() + name.len()];
    let why = rest.rsplit_once(")   ").map_or("", |(_, why)| why.trim());
    if why.starts_with("made not entrant") {
        return (level == C2).then_some(Entry::GivenUp { at, method, why });
    }
    rest.trim_end()
        .ends_with(')')
        .then_some(Entry::Compilation(Compilation {
            at,
            tid,
            method,
            level,
            on_stack,
        }))
}

fn deoptimization(at: i64, says: &str) -> Option<Entry<'_>> {
    let (head, tail) = says.strip_prefix("cid=")?.split_once(" trap_bci=")?;
    let method = head.rsplit(' ').next()?.split('(').next()?;
    let (_, why) = tail.split_once(' ')?;
    let why = why.split(" pc=").next()?.trim();
    let why = match why.strip_prefix("osr_bci=") {
        Some(rest) => rest.split_once(' ')?.1,
        None => why,
    };
    Some(Entry::Deoptimization { at, method, why })
}

fn class_load(at: i64, says: &str) -> Option<Entry<'_>> {
    let (class, source) = says.split_once(" source: ")?;
    let class = class.split(['/', '+']).next()?;
    Some(Entry::ClassLoad { at, class, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_jdk_17_and_25_is_a_safepoint_and_a_torn_one_is_none() {
        let log = "[5000ns] Safepoint \"G1CollectForAllocation\", Time since last: 100 ns, Reaching safepoint: 20 ns, At safepoint: 30 ns, Total: 50 ns\n\
                   [  9000ns][77][safepoint   ] Safepoint \"ICBufferFull\", Time since last: 100 ns, Reaching safepoint: 20 ns, Cleanup: 1 ns, At safepoint: 30 ns, Leaving safepoint: 7 ns, Total: 58 ns, Threads: 0 runnable, 16 total\n\
                   [9500ns] Entering safepoint region\n\
                   [9900ns] Safepoint \"G1Coll";
        let found: Vec<_> = entries(log)
            .map(|e| match e {
                Entry::Safepoint(s) => (s.begin, s.end, s.operation),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            found,
            [
                (4950, 5000, "G1CollectForAllocation"),
                (8942, 9000, "ICBufferFull")
            ]
        );
    }

    fn phases(says: &[&str]) -> Vec<(u32, String, i64, bool)> {
        let log: String = says
            .iter()
            .map(|s| format!("[7ns][1][gc,phases] {s}\n"))
            .collect();
        let of = |e| match e {
            Entry::Phase(p) => (p.collection, p.name.to_owned(), p.lasted, p.is_part),
            other => panic!("{other:?}"),
        };
        entries(&log).map(of).collect()
    }

    #[test]
    fn phases_of_every_collector_have_their_name_and_how_long_they_took() {
        let found = phases(&[
            "GC(3)   Evacuate Collection Set: 1.2ms",
            "GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms",
            "GC(4) Concurrent Mark From Roots",
            "GC(4) Concurrent Mark From Roots 0.250ms",
            "GC(5) Phase 1: Mark live objects 2.000ms",
            "GC(6) y: Concurrent Relocate 1.500ms",
            "GC(6) Minor Collection (Allocation Rate) 100M(39%)->20M(8%) 0.012s",
            "Using G1",
        ]);
        let want = [
            (3, "Evacuate Collection Set", 1_200_000, true),
            (
                3,
                "Pause Young (Normal) (G1 Evacuation Pause)",
                3_456_000,
                false,
            ),
            (4, "Concurrent Mark From Roots", 250_000, false),
            (5, "Phase 1: Mark live objects", 2_000_000, false),
            (6, "y: Concurrent Relocate", 1_500_000, false),
            (6, "Minor Collection (Allocation Rate)", 12_000_000, false),
        ];
        assert_eq!(
            found,
            want.map(|(n, name, ns, part)| (n, name.to_owned(), ns, part))
        );
    }

    #[test]
    fn compilations_are_told_apart_from_code_that_is_given_up() {
        let log = "[5ns][42][jit,compilation]  123   !   4       shop.Cart::add (57 bytes)\n\
                   [6ns][42][jit,compilation]    9 %     3       shop.Cart::<init> @ 12 (5 bytes)\n\
                   [7ns][42][jit,compilation]   10     n 0       java.lang.Object::hashCode (native)   (static)\n\
                   [7ns][42][jit,compilation]   11       3       shop.Cart::get (7 bytes)   made not entrant\n";
        let found: Vec<_> = entries(log)
            .map(|e| match e {
                Entry::Compilation(c) => (c.at, c.tid, c.method, c.level, c.on_stack),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            found,
            [
                (5, 42, "shop.Cart::add", 4, false),
                (6, 42, "shop.Cart::<init>", 3, true),
                (7, 42, "java.lang.Object::hashCode", 0, false),
            ]
        );
        let given_up = "[8ns][42][jit,compilation]  123   !   4       shop.Cart::add (57 bytes)   made not entrant: uncommon trap\n";
        let (at, method, why) = (8, "shop.Cart::add", "made not entrant: uncommon trap");
        assert_eq!(
            entries(given_up).collect::<Vec<_>>(),
            [Entry::GivenUp { at, method, why }]
        );
    }

    #[test]
    fn deoptimizations_have_method_and_reason_and_classes_no_address() {
        let log = "[5ns][42][deoptimization] cid= 123     level=4 shop.Cart.add(ILjava/lang/String;)V trap_bci=12 unstable_if reinterpret pc=0x01 relative_pc=0x02\n\
                   [6ns][42][deoptimization] cid=  12 osr level=4 shop.Cart.sum()J trap_bci=3 osr_bci=4 class_check maybe_recompile pc=0x01 relative_pc=0x02\n\
                   [7ns][42][deoptimization] DEOPT PACKING thread=0x01\n\
                   [8ns][43][class,load] shop.Cart source: file:/srv/shop.jar\n\
                   [9ns][43][class,load] shop.Cart$$Lambda/0x00000008 source: shop.Cart\n";
        let found: Vec<_> = entries(log).collect();
        let deoptimization = |at, method, why| Entry::Deoptimization { at, method, why };
        let class_load = |at, class, source| Entry::ClassLoad { at, class, source };
        assert_eq!(
            found,
            [
                deoptimization(5, "shop.Cart.add", "unstable_if reinterpret"),
                deoptimization(6, "shop.Cart.sum", "class_check maybe_recompile"),
                class_load(8, "shop.Cart", "file:/srv/shop.jar"),
                class_load(9, "shop.Cart$$Lambda", "shop.Cart"),
            ]
        );
    }
}
