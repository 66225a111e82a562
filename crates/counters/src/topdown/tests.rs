//! Trees as the kernel exports them: names and terms are those of the sources named at each; values are made up so that
//! the answer is known.

use std::collections::BTreeMap;

use super::*;

fn pmus(files: &[(&str, &str)]) -> (tempfile::TempDir, Pmus) {
    let dir = tempfile::tempdir().expect("a directory");
    for (path, content) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        std::fs::write(path, format!("{content}\n")).expect("a file");
    }
    let pmus = Pmus::read(dir.path());
    (dir, pmus)
}

fn names(groups: &[Group]) -> Vec<Vec<&str>> {
    let of = |g: &'_ Group| g.events.len();
    assert!(groups.iter().all(|g| g.whole && of(g) <= 6));
    groups
        .iter()
        .map(|g| g.events.iter().map(|e| e.name.as_str()).collect())
        .collect()
}

/// The shares of counts, which are given by the columns that the groups make.
fn answer(groups: &[Group], counts: &[&[f64]]) -> Vec<(Category, f64)> {
    let mut values = BTreeMap::new();
    for (group, counts) in groups.iter().zip(counts) {
        for (event, count) in group.events.iter().zip(*counts) {
            values.insert(event.name.clone(), event.scale * count);
        }
    }
    let shares = shares(&|name| values.get(name).copied());
    assert!(values.keys().all(|name| is_part(name)), "{values:?}");
    shares
}

fn is(shares: &[(Category, f64)], wanted: &[(Category, f64)]) {
    assert_eq!(shares.len(), wanted.len(), "{shares:?}");
    for (a, b) in shares.iter().zip(wanted) {
        assert!(
            a.0 == b.0 && (a.1 - b.1).abs() < 1e-9,
            "{shares:?} {wanted:?}"
        );
    }
    let sum: f64 = shares.iter().map(|s| s.1).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{shares:?}");
}

use Category::*;

/// arch/x86/events/intel/core.c: icl_td_events_attrs.
#[test]
fn intels_metrics_are_led_by_slots() {
    let (_dir, pmus) = pmus(&[
        ("cpu/type", "4"),
        ("cpu/format/event", "config:0-7"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/events/slots", "event=0x00,umask=0x4"),
        ("cpu/events/topdown-retiring", "event=0x00,umask=0x80"),
        ("cpu/events/topdown-bad-spec", "event=0x00,umask=0x81"),
        ("cpu/events/topdown-fe-bound", "event=0x00,umask=0x82"),
        ("cpu/events/topdown-be-bound", "event=0x00,umask=0x83"),
    ]);
    let groups = groups(&pmus, &Processor::default()).unwrap();
    assert_eq!(names(&groups)[0][0], "slots");
    assert_eq!(groups[0].events[0].config, 0x400);
    assert_eq!(groups[0].events[4].config, 0x8300);
    let shares = answer(&groups, &[&[1000.0, 400.0, 100.0, 200.0, 300.0]]);
    is(
        &shares,
        &[
            (Retiring, 0.4),
            (BadSpeculation, 0.1),
            (FrontendBound, 0.2),
            (BackendBound, 0.3),
        ],
    );
}

/// The same file: tnt_events_attrs; cpu_atom of a hybrid processor is not the PMU that is counted on.
#[test]
fn an_efficient_core_counts_its_slots_itself() {
    let (_dir, pmus) = pmus(&[
        ("cpu/type", "4"),
        ("cpu/format/event", "config:0-7"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/events/topdown-fe-bound", "event=0x71,umask=0x0"),
        ("cpu/events/topdown-retiring", "event=0xc2,umask=0x0"),
        ("cpu/events/topdown-bad-spec", "event=0x73,umask=0x6"),
        ("cpu/events/topdown-be-bound", "event=0x74,umask=0x0"),
    ]);
    let groups = groups(&pmus, &Processor::default()).unwrap();
    assert_eq!(groups[0].events.len(), 4);
    let shares = answer(&groups, &[&[50.0, 10.0, 15.0, 25.0]]);
    is(
        &shares,
        &[
            (Retiring, 0.5),
            (BadSpeculation, 0.1),
            (FrontendBound, 0.15),
            (BackendBound, 0.25),
        ],
    );
}

/// The same file: snb_events_attrs, as a core with hyper-threading has them.
#[test]
fn the_classic_events_have_scales() {
    let (_dir, pmus) = pmus(&[
        ("cpu/type", "4"),
        ("cpu/format/event", "config:0-7"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/format/any", "config:21"),
        ("cpu/format/cmask", "config:24-31"),
        (
            "cpu/events/topdown-total-slots",
            "event=0x3c,umask=0x0,any=1",
        ),
        ("cpu/events/topdown-total-slots.scale", "2"),
        ("cpu/events/topdown-slots-issued", "event=0xe,umask=0x1"),
        ("cpu/events/topdown-slots-retired", "event=0xc2,umask=0x2"),
        ("cpu/events/topdown-fetch-bubbles", "event=0x9c,umask=0x1"),
        (
            "cpu/events/topdown-recovery-bubbles",
            "event=0xd,umask=0x3,cmask=1,any=1",
        ),
        ("cpu/events/topdown-recovery-bubbles.scale", "2"),
    ]);
    let groups = groups(&pmus, &Processor::default()).unwrap();
    assert_eq!(groups[0].events[4].config, 0x120_030d);
    // 1000 slots: 450 issued, of which 400 retired; 100 bubbles of recovery, 150 of fetching.
    let shares = answer(&groups, &[&[500.0, 450.0, 400.0, 150.0, 50.0]]);
    is(
        &shares,
        &[
            (Retiring, 0.4),
            (BadSpeculation, 0.15),
            (FrontendBound, 0.15),
            (BackendBound, 0.3),
        ],
    );
}

/// arch/x86/events/amd/core.c names generic events only; the format of `event` is its own.
#[test]
fn amds_events_are_perfs_in_the_kernels_format() {
    let files = [
        ("cpu/type", "4"),
        ("cpu/format/event", "config:0-7,32-35"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/events/cpu-cycles", "event=0x76"),
    ];
    let (_dir, pmus) = pmus(&files);
    let zen4 =
        "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
    let groups_of = |cpuinfo: &str| groups(&pmus, &Processor::of(cpuinfo));
    let groups = groups_of(zen4).unwrap();
    assert_eq!(
        names(&groups),
        [
            vec![
                "dispatch_slots",
                "de_no_dispatch_per_slot_no_ops_from_frontend",
                "de_no_dispatch_per_slot_backend_stalls",
                "de_no_dispatch_per_slot_smt_contention"
            ],
            vec!["dispatch_slots_of_ops", "de_src_op_disp_all", "ex_ret_ops"],
        ]
    );
    assert_eq!(groups[0].events[1].config, 0x1_0000_01a0);
    assert_eq!(groups[0].events[0].scale, 6.0);
    // The second group was on for half as long, and its slots say so.
    let shares = answer(
        &groups,
        &[&[100.0, 60.0, 180.0, 120.0], &[50.0, 120.0, 90.0]],
    );
    is(
        &shares,
        &[
            (Retiring, 0.3),
            (BadSpeculation, 0.1),
            (FrontendBound, 0.1),
            (BackendBound, 0.3),
            (SmtContention, 0.2),
        ],
    );
    let zen5 = zen4.replace(": 25", ": 26");
    assert_eq!(groups_of(&zen5).unwrap()[0].events[0].scale, 8.0);
    let zen3 = zen4.replace(": 17", ": 33");
    let why = groups_of(&zen3).unwrap_err();
    assert!(
        why.contains("names no events for them") && why.contains("cpu-cycles"),
        "{why}"
    );
}

/// drivers/perf/arm_pmuv3.c: armv8_pmuv3_event_attrs, and caps/slots.
#[test]
fn arms_slots_per_cycle_are_the_kernels() {
    let mut files = vec![
        ("armv8_pmuv3_0/type", "8"),
        ("armv8_pmuv3_0/cpus", "0-63"),
        ("armv8_pmuv3_0/format/event", "config:0-15"),
        ("armv8_pmuv3_0/events/cpu_cycles", "event=0x0011"),
        ("armv8_pmuv3_0/events/stall_slot", "event=0x003f"),
        ("armv8_pmuv3_0/events/stall_slot_frontend", "event=0x003e"),
        ("armv8_pmuv3_0/events/stall_slot_backend", "event=0x003d"),
        ("armv8_pmuv3_0/events/op_spec", "event=0x003b"),
        ("armv8_pmuv3_0/events/op_retired", "event=0x003a"),
    ];
    let (_without, lacking) = pmus(&files);
    let why = groups(&lacking, &Processor::default()).unwrap_err();
    assert!(why.contains("caps/slots"), "{why}");
    files.push(("armv8_pmuv3_0/caps/slots", "0x00000008"));
    let (_dir, pmus) = pmus(&files);
    let groups = groups(&pmus, &Processor::default()).unwrap();
    // 800 slots, 480 of them stalled: 160 by the front end, 320 by the back end; of 100 operations 75 retired.
    let shares = answer(&groups, &[&[100.0, 480.0, 160.0, 320.0, 100.0, 75.0]]);
    is(
        &shares,
        &[
            (Retiring, 0.3),
            (BadSpeculation, 0.1),
            (FrontendBound, 0.2),
            (BackendBound, 0.4),
        ],
    );
}

#[test]
fn what_counted_no_slot_has_no_categories() {
    assert!(shares(&|_| Some(0.0)).is_empty());
    assert!(shares(&|_| None).is_empty());
    assert!(
        groups(&Pmus::default(), &Processor::default())
            .unwrap_err()
            .contains("no counters of the processor")
    );
}
