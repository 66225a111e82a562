//! On a tree of files: what is written where. (A file that the kernel would make is made by the test; a write to one
//! that is not there fails, as it would in the kernel's.)

use super::*;
use loadline_policy::Cpus;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[&str]) -> Tree {
        let tree = Tree(tempfile::tempdir().expect("a directory"));
        for file in files {
            let path = tree.0.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "").expect("written");
        }
        tree
    }

    fn root(&self, controller: &str, dir: &str) -> Root {
        let mount = self.0.path().join(dir);
        Root {
            controller: controller.into(),
            parent: mount.clone(),
            mount,
        }
    }

    /// What the last write to a file was: files keep what was there beyond it, the kernel's do not.
    fn says(&self, file: &str, value: &str) {
        let text = fs::read_to_string(self.0.path().join(file)).expect(file);
        assert!(
            text.starts_with(value),
            "{file} says {text:?}, not {value:?}"
        );
    }
}

fn managed() -> CpuSet {
    CpuSet::parse("0-3").expect("a list")
}

fn setting(cpus: &str, weight: f64, limit: Option<f64>) -> Setting {
    Setting {
        cpus: CpuSet::parse(cpus).expect("a list"),
        weight,
        yields: false,
        limit: limit.map(Cpus::from_f64),
    }
}

#[test]
fn version_2_writes_cpus_weight_and_limit() {
    let tree = Tree::new(&[
        "cgroup.subtree_control",
        "loadline/cgroup.subtree_control",
        "loadline/cpuset.cpus",
        "loadline/cpu.weight",
        "loadline/shop-1/cpuset.cpus",
        "loadline/shop-1/cpu.weight",
        "loadline/shop-1/cpu.max",
        "loadline/shop-1/cgroup.procs",
    ]);
    let mut v2 = Cgroups::open(
        Kind::CgroupV2,
        vec![tree.root("", "")],
        "loadline",
        &managed(),
    )
    .expect("opened");
    tree.says("cgroup.subtree_control", "+cpuset +cpu");
    tree.says("loadline/cpuset.cpus", "0-3");
    tree.says("loadline/cpu.weight", "3200");
    v2.take("shop-1", 4242, &setting("0-1,3", 1.5, None))
        .expect("taken");
    tree.says("loadline/shop-1/cpuset.cpus", "0-1,3");
    tree.says("loadline/shop-1/cpu.weight", "150");
    tree.says("loadline/shop-1/cpu.max", "max 100000");
    tree.says("loadline/shop-1/cgroup.procs", "4242");
    v2.set("shop-1", &setting("2", 0.001, Some(1.5)), None)
        .expect("set");
    tree.says("loadline/shop-1/cpuset.cpus", "2");
    tree.says("loadline/shop-1/cpu.weight", "1");
    tree.says("loadline/shop-1/cpu.max", "150000 100000");
    assert_eq!(v2.pids("shop-1"), [4242]);
    fs::write(
        tree.0.path().join("loadline/shop-1/cpu.stat"),
        "usage_usec 1500\nuser_usec 1\n",
    )
    .expect("written");
    assert_eq!(v2.used_ns("shop-1").expect("known"), 1_500_000);
}

#[test]
fn version_1_writes_each_controllers_files() {
    let tree = Tree::new(&[
        "cpuset/cpuset.mems",
        "cpuset/loadline/cpuset.mems",
        "cpuset/loadline/cpuset.cpus",
        "cpuset/loadline/a/cpuset.mems",
        "cpuset/loadline/a/cpuset.cpus",
        "cpuset/loadline/a/cgroup.procs",
        "cpu/loadline/cpu.shares",
        "cpu/loadline/a/cpu.shares",
        "cpu/loadline/a/cpu.cfs_period_us",
        "cpu/loadline/a/cpu.cfs_quota_us",
        "cpu/loadline/a/cgroup.procs",
    ]);
    fs::write(tree.0.path().join("cpuset/cpuset.mems"), "0\n").expect("written");
    let roots = vec![tree.root("cpuset", "cpuset"), tree.root("cpu", "cpu")];
    let mut v1 = Cgroups::open(Kind::CgroupV1, roots, "loadline", &managed()).expect("opened");
    tree.says("cpuset/loadline/cpuset.mems", "0");
    tree.says("cpu/loadline/cpu.shares", "32768");
    v1.take("a", 77, &setting("1", 0.5, Some(0.5)))
        .expect("taken");
    tree.says("cpuset/loadline/a/cpuset.cpus", "1");
    tree.says("cpuset/loadline/a/cgroup.procs", "77");
    tree.says("cpu/loadline/a/cpu.shares", "512");
    tree.says("cpu/loadline/a/cpu.cfs_quota_us", "50000");
    tree.says("cpu/loadline/a/cgroup.procs", "77");
    let limited = setting("1", 0.5, Some(0.5));
    v1.set("a", &setting("1", 0.5, None), Some(&limited))
        .expect("set");
    tree.says("cpu/loadline/a/cpu.cfs_quota_us", "-1");
    // What is the same is left alone: somebody else's value stays.
    let cpuset = tree.0.path().join("cpuset/loadline/a/cpuset.cpus");
    fs::write(&cpuset, "untouched").expect("written");
    v1.set(
        "a",
        &setting("1", 0.7, None),
        Some(&setting("1", 0.5, None)),
    )
    .expect("set");
    tree.says("cpuset/loadline/a/cpuset.cpus", "untouched");
    tree.says("cpu/loadline/a/cpu.shares", "717");
    v1.set(
        "a",
        &setting("2", 0.7, None),
        Some(&setting("1", 0.7, None)),
    )
    .expect("set");
    tree.says("cpuset/loadline/a/cpuset.cpus", "2");
}

#[test]
fn who_yields_has_no_weight() {
    let tree = Tree::new(&["g/cpu.shares"]);
    let dir = tree.0.path().join("g");
    share(&dir, true, None, "cpu.shares", 512).expect("a kernel without it");
    tree.says("g/cpu.shares", "512");
    fs::write(dir.join("cpu.idle"), "0").expect("written");
    share(&dir, true, None, "cpu.shares", 700).expect("set");
    tree.says("g/cpu.idle", "1");
    tree.says("g/cpu.shares", "512");
    share(&dir, false, None, "cpu.shares", 700).expect("set");
    tree.says("g/cpu.idle", "0");
    tree.says("g/cpu.shares", "700");
}

#[test]
fn who_is_in_a_foreign_group_is_left_alone() {
    let tree = Tree::new(&[]);
    let v2 = Cgroups {
        kind: Kind::CgroupV2,
        roots: vec![tree.root("", "")],
        name: "loadline".into(),
        usage: RefCell::default(),
    };
    let foreign = |path: &str| v2.foreign(&[(String::new(), path.to_owned())]);
    for ours in [
        "/",
        "/loadline/shop-1",
        "/user.slice/user-1000.slice/session-3.scope",
    ] {
        assert_eq!(foreign(ours), None, "{ours}");
    }
    for theirs in [
        "/system.slice/tomcat.service",
        "/kubepods/besteffort/pod1/x",
        "/docker/abc",
        "/user.slice/x.service",
    ] {
        assert_eq!(foreign(theirs).as_deref(), Some(theirs));
    }
}

#[test]
fn a_missing_file_is_named() {
    let tree = Tree::new(&["cgroup.subtree_control"]);
    let opened = Cgroups::open(
        Kind::CgroupV2,
        vec![tree.root("", "")],
        "loadline",
        &managed(),
    );
    let e = opened.err().expect("an error").to_string();
    assert!(e.contains("loadline/cpuset.cpus = 0-3"), "{e}");
}

#[test]
fn the_groups_of_a_process_are_read() {
    let text = "9:name=systemd:/\n3:cpuset:/a\n2:cpu,cpuacct:/b:c\n0::/\n";
    let all = of_process(text);
    let at = |c: &str| all.iter().find(|(k, _)| k == c).map(|(_, p)| p.as_str());
    assert_eq!(
        (at("cpuset"), at("cpuacct"), at("")),
        (Some("/a"), Some("/b:c"), Some("/"))
    );
}
