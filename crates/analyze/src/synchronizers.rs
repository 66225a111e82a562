//! Words for what threads wait for that no thread owns.

use crate::report::table::class;

/// What ends a wait of this kind for something of this class, in words of at most so many letters.
pub fn what(kind: &str, of: &str, width: usize) -> String {
    if kind == "monitor_wait" {
        return match of {
            "" => NOTIFY.into(),
            _ => format!(
                "{NOTIFY} of {}",
                class(of, width.saturating_sub(NOTIFY.len() + 4))
            ),
        };
    }
    let known = KNOWN.iter().find(|(part, _)| of.contains(part));
    match known {
        Some((_, words)) => (*words).to_owned(),
        None if of.is_empty() => "being unparked".into(),
        None => class(of, width),
    }
}

const NOTIFY: &str = "a notify";
/// A part of the class's name, and what a thread that is parked on it waits for.
const KNOWN: [(&str, &str); 10] = [
    ("java.util.concurrent.Semaphore$", "permits of a semaphore"),
    ("Synchronizer$ConditionObject", "a condition"),
    ("java.util.concurrent.CountDownLatch", "a latch"),
    (
        "java.util.concurrent.CompletableFuture",
        "a future's result",
    ),
    ("java.util.concurrent.FutureTask", "a future's result"),
    ("java.util.concurrent.ForkJoin", "a fork-join task"),
    ("java.util.concurrent.SynchronousQueue", "a hand-over"),
    ("java.util.concurrent.LinkedTransferQueue", "a hand-over"),
    ("java.util.concurrent.CyclicBarrier", "a barrier"),
    ("java.util.concurrent.Phaser", "a barrier"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jdks_synchronizers_have_words_and_others_their_class() {
        let park = |of| what("park", of, 30);
        assert_eq!(
            park("java.util.concurrent.Semaphore$NonfairSync"),
            "permits of a semaphore"
        );
        assert_eq!(
            park("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"),
            "a condition"
        );
        assert_eq!(park(""), "being unparked");
        assert_eq!(park("org.acme.Gate"), "org.acme.Gate");
        assert_eq!(
            what("monitor_wait", "org.acme.Gate", 30),
            "a notify of org.acme.Gate"
        );
    }
}
