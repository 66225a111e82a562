"""What benches compare with, got by Maven into target/peers when it is missing. Run as a program, it gets all of it."""

import os
import subprocess
import sys
import zipfile

import harness

FOLDER = os.path.join(harness.ROOT, "target", "peers")
ASYNC_PROFILER = "tools.profiler:async-profiler:4.2"
OPENTELEMETRY = "io.opentelemetry.javaagent:opentelemetry-javaagent:2.15.0"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


class Missing(Exception):
    """A peer is not to be had; says why."""


def jar(coordinates):
    """Path of that artifact's jar."""
    _, artifact, version = coordinates.split(":")
    path = os.path.join(FOLDER, f"{artifact}-{version}.jar")
    if not os.path.exists(path):
        command = ["mvn", "-q", "-B", "-ntp", COPY, f"-Dartifact={coordinates}", f"-DoutputDirectory={FOLDER}"]
        try:
            done = subprocess.run(command, cwd=os.path.expanduser("~"), capture_output=True, text=True)
        except FileNotFoundError:
            raise Missing(f"{coordinates}: mvn is not installed") from None
        if done.returncode != 0 or not os.path.exists(path):
            said = next((line for line in done.stdout.splitlines() if "ERROR" in line), done.stderr.strip()[-300:])
            raise Missing(f"Maven could not get {coordinates}: {said}\n  run by hand: {' '.join(command)}")
    return path


def async_profiler():
    """Path of async-profiler's native library."""
    path = os.path.join(FOLDER, "libasyncProfiler.so")
    if not os.path.exists(path):
        with zipfile.ZipFile(jar(ASYNC_PROFILER)) as z, z.open("linux-x64/libasyncProfiler.so") as library:
            whole = library.read()
        with open(f"{path}.part", "wb") as f:
            f.write(whole)
        os.rename(f"{path}.part", path)
    return path


def opentelemetry():
    """Path of the OpenTelemetry Java agent."""
    return jar(OPENTELEMETRY)


if __name__ == "__main__":
    try:
        print(async_profiler())
        print(opentelemetry())
    except Missing as e:
        sys.exit(str(e))
