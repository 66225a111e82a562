//! Compiles the BPF programs with clang and generates their Rust skeleton.

use std::path::PathBuf;

const SOURCE: &str = "bpf/kernel.bpf.c";

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    libbpf_cargo::SkeletonBuilder::new()
        .source(SOURCE)
        .clang_args(["-Wall", "-Wextra", "-Werror"])
        .build_and_generate(out.join("kernel.skel.rs"))
        .unwrap_or_else(|e| panic!("{SOURCE}: {e:#} (clang must be installed: scripts/setup)"));
}
