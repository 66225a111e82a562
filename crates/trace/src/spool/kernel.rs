//! `raw/kernel.N`: the records of one CPU's BPF ring, as the ring held them.
//!
//! The file is a plain copy of the ring's bytes: each record behind the ring's own 8-byte header
//! `{u32 length (top bits: busy, discarded); u32 page offset}`, padded to 8 bytes. Records begin
//! with a common head, little-endian:
//!
//! ```text
//! {u64 ts; u8 type; u8 flags; u16 cpu; u32 tid; u32 a; u32 b; u64 c}          32 bytes
//! ```
//!
//! | type | tid | a | b | c |
//! | --- | --- | --- | --- | --- |
//! | 1 SWITCH | leaving thread | arriving thread | system call it blocks in + 1, 0 = none | fd, or -1, in the low half; CPU time in the high one |
//! | 2 WAKING | woken thread | waking thread | its process | |
//! | 3 WAKEUP | woken thread (now in a run queue) | | target cpu | |
//! | 4 NEW | new thread, runnable | its id in its own pid namespace | parent thread | |
//! | 5 EXIT | dying thread | | | |
//! | 6 SYSCALL | caller | number | low 32 bits of the first argument | + 3 × u64: begin, third argument, result |
//!
//! A SYSCALL record is 56 bytes: `ts` is the return, and after `c` (second argument) follow
//! `u64 begin_ns; u64 arg2; i64 result`.
//!
//! Flags of WAKING: bit 0 [`BY_INTERRUPT`] (`a` and `b` are who was interrupted), bit 1
//! [`BY_THREAD`]; neither if the kernel does not tell.
//! Flags of SWITCH: bits 0-3 the state that the leaving thread is left in ([`LEFT_RUNNABLE`], …),
//! bit 4 [`PREV_TRACED`], bit 5 [`NEXT_TRACED`], bit 6 [`CPU_TIME_TOLD`].

/// Size of the head, and of every record but SYSCALL.
pub const HEAD: usize = 32;
/// Size of a SYSCALL record.
pub const SYSCALL_SIZE: usize = 56;

/// Record types.
pub const SWITCH: u8 = 1;
/// See the table.
pub const WAKING: u8 = 2;
/// See the table.
pub const WAKEUP: u8 = 3;
/// See the table.
pub const NEW: u8 = 4;
/// See the table.
pub const EXIT: u8 = 5;
/// See the table.
pub const SYSCALL: u8 = 6;

/// SWITCH: the leaving thread still wants to run (preempted, or yielded).
pub const LEFT_RUNNABLE: u8 = 0;
/// SWITCH: it blocked interruptibly.
pub const LEFT_BLOCKED: u8 = 1;
/// SWITCH: it blocked uninterruptibly.
pub const LEFT_UNINTERRUPTIBLE: u8 = 2;
/// SWITCH: it is dying.
pub const LEFT_DEAD: u8 = 3;
/// SWITCH: it is stopped or traced.
pub const LEFT_STOPPED: u8 = 4;
/// SWITCH: the leaving thread belongs to the target.
pub const PREV_TRACED: u8 = 1 << 4;
/// SWITCH: the arriving thread belongs to the target.
pub const NEXT_TRACED: u8 = 1 << 5;
/// SWITCH: `c` has the CPU time of the leaving thread; recorders of before did not tell it.
pub const CPU_TIME_TOLD: u8 = 1 << 6;
/// SWITCH: the unit of that time, ns. It wraps after 275 s.
pub const CPU_TIME_NS: i64 = 64;

/// WAKING: an interrupt woke it, or what the kernel does on the way out of one.
pub const BY_INTERRUPT: u8 = 1 << 0;
/// WAKING: the waking thread did so itself.
pub const BY_THREAD: u8 = 1 << 1;

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When, CLOCK_MONOTONIC.
    pub ts: i64,
    /// Which of the types above.
    pub kind: u8,
    /// Flags of the type.
    pub flags: u8,
    /// CPU on which it happened.
    pub cpu: u16,
    /// Thread that it is about.
    pub tid: u32,
    /// See the table.
    pub a: u32,
    /// See the table.
    pub b: u32,
    /// See the table.
    pub c: u64,
    /// SYSCALL only: entry.
    pub begin: i64,
    /// SYSCALL only: third argument.
    pub arg2: u64,
    /// SYSCALL only: result.
    pub result: i64,
}

impl Record {
    /// SWITCH: the descriptor that the leaving thread blocks on; -1 for none.
    pub fn fd(&self) -> i32 {
        self.c as u32 as i32
    }

    /// SWITCH: the CPU time that the leaving thread has had so far, in [`CPU_TIME_NS`].
    pub fn cpu_time(&self) -> Option<u32> {
        (self.flags & CPU_TIME_TOLD != 0).then_some((self.c >> 32) as u32)
    }
}

/// Records of one spool, in the order of the ring, which is that of time on one CPU
/// but for interrupts: sort before use.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record> + '_ {
    const BUSY: u32 = 1 << 31;
    const DISCARD: u32 = 1 << 30;
    let mut at = 0usize;
    std::iter::from_fn(move || {
        loop {
            let head = bytes.get(at..at + 8)?;
            let raw = u32::from_le_bytes(head[..4].try_into().ok()?);
            let len = (raw & !(BUSY | DISCARD)) as usize;
            if raw & BUSY != 0 || len == 0 {
                return None; // never completed: the end of a spool that was cut off
            }
            let record = bytes.get(at + 8..at + 8 + len)?;
            at += 8 + len.next_multiple_of(8);
            if raw & DISCARD == 0 && len >= HEAD {
                return Some(decode(record));
            }
        }
    })
}

fn decode(r: &[u8]) -> Record {
    let u64_at = |o: usize| u64::from_le_bytes(r[o..o + 8].try_into().expect("8 bytes"));
    let u32_at = |o: usize| u32::from_le_bytes(r[o..o + 4].try_into().expect("4 bytes"));
    let long = r.len() >= SYSCALL_SIZE;
    Record {
        ts: u64_at(0) as i64,
        kind: r[8],
        flags: r[9],
        cpu: u16::from_le_bytes([r[10], r[11]]),
        tid: u32_at(12),
        a: u32_at(16),
        b: u32_at(20),
        c: u64_at(24),
        begin: if long { u64_at(32) as i64 } else { 0 },
        arg2: if long { u64_at(40) } else { 0 },
        result: if long { u64_at(48) as i64 } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(len: u32, body: &[u8]) -> Vec<u8> {
        let mut v = len.to_le_bytes().to_vec();
        v.extend([0; 4]);
        v.extend(body);
        v.resize(v.len().next_multiple_of(8), 0);
        v
    }

    fn switch(ts: u64) -> Vec<u8> {
        let mut r = ts.to_le_bytes().to_vec();
        r.extend([SWITCH, PREV_TRACED, 1, 0]);
        r.extend(7u32.to_le_bytes());
        r.extend(8u32.to_le_bytes());
        r.extend(0u32.to_le_bytes());
        r.extend(u64::MAX.to_le_bytes());
        r
    }

    #[test]
    fn discarded_records_are_passed_over_and_a_torn_end_ends_the_spool() {
        let mut spool = framed(32, &switch(1));
        spool.extend(framed(32 | 1 << 30, &switch(2)));
        spool.extend(framed(32, &switch(3)));
        spool.extend(&framed(32, &switch(4))[..20]);
        let ts: Vec<i64> = records(&spool).map(|r| r.ts).collect();
        assert_eq!(ts, [1, 3]);
    }

    #[test]
    fn a_busy_record_ends_the_spool() {
        let mut spool = framed(32, &switch(1));
        spool.extend(framed(32 | 1 << 31, &switch(2)));
        assert_eq!(records(&spool).count(), 1);
    }

    #[test]
    fn fields_are_where_the_table_says() {
        let spool = framed(32, &switch(9));
        let r = records(&spool).next().expect("one record");
        assert_eq!(
            (r.ts, r.kind, r.cpu, r.tid, r.a, r.c),
            (9, SWITCH, 1, 7, 8, u64::MAX)
        );
    }
}
