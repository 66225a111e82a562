"""What the guard's benches share: where bed/guard-bench is, and a certificate for its servers."""

import os
import subprocess
import sys

import harness

BED = os.path.join(harness.ROOT, "bed", "guard-bench", "target")


def classpath():
    """The class path of bed/guard-bench and all that it uses."""
    if not os.path.exists(os.path.join(BED, "guard-bench.jar")):
        sys.exit(f"{BED}/guard-bench.jar is missing: run `make build` first")
    return f"{BED}/guard-bench.jar:{BED}/lib/*"


def java(home, main, *arguments, options=()):
    """The command that runs a program of the bed on the JDK at `home` (None: the default one)."""
    binary = os.path.join(home, "bin", "java") if home else "java"
    return [binary, *options, "-cp", classpath(), f"dev.loadline.guardbench.{main}", *map(str, arguments)]


def generator():
    """The beginning of a `loadline load` command that takes the bed's self-made certificates."""
    return [harness.built("loadline"), "load", "--insecure"]


def keystore(folder, key="EC"):
    """A self-signed certificate for localhost, in a PKCS#12 file whose password is changeit."""
    path = os.path.join(folder, f"{key}.p12")
    algorithm = ["-keyalg", "EC", "-groupname", "secp256r1"] if key == "EC" else ["-keyalg", "RSA", "-keysize", "2048"]
    subprocess.run(["keytool", "-genkeypair", "-alias", "server", "-dname", "CN=localhost", "-validity", "30",
                    "-ext", "SAN=DNS:localhost,IP:127.0.0.1", "-keystore", path, "-storetype", "PKCS12",
                    "-storepass", "changeit", *algorithm], check=True, capture_output=True)
    return path
