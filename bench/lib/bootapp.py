"""Applications that others wrote, on a port that they are given; Spring Boot's executable jars with more on their class path."""

import glob
import os
import sys
import zipfile

import guardsite
import harness
import server

# The starter of the guard, and what it needs.
STARTER = [os.path.join(harness.ROOT, "java", jar) for jar in (
    "guard-spring-boot/target/loadline-guard-spring-boot-starter.jar", "guard-tomcat/target/loadline-guard-tomcat.jar",
    "guard-jetty/target/loadline-guard-jetty.jar")]


class Answering(guardsite.Site):
    """A running application; ready when its port answers. `command` gets the port and gives the command line."""

    def __init__(self, name, command, on, scheme="http"):
        port = server.free_port()
        server.Server.__init__(self, name, lambda _: command(port), on)
        self.port, self.scheme = port, scheme

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def ready(self):
        return server.answers(self, "the application", self.scheme)


def unpacked(jar, folder):
    """What an executable jar of Spring Boot runs, below `folder`: its class path, and its main class."""
    try:
        with zipfile.ZipFile(jar) as z:
            lines = z.read("META-INF/MANIFEST.MF").decode().replace("\r\n", "\n").replace("\n ", "").splitlines()
            main = next((line.split(": ", 1)[1] for line in lines if line.startswith("Start-Class: ")), None)
            if main is None:
                sys.exit(f"{jar} is no executable jar of Spring Boot: its manifest has no Start-Class")
            z.extractall(folder, [n for n in z.namelist() if n.startswith("BOOT-INF/")])
    except (OSError, zipfile.BadZipFile) as e:
        sys.exit(f"{jar} cannot be read: {e}; run `make build` first, or give another --app")
    return [os.path.join(folder, "BOOT-INF", "classes"), *sorted(glob.glob(os.path.join(folder, "BOOT-INF", "lib", "*.jar")))], main


def starter():
    """The jars that guard an application, once they are beside it."""
    for jar in STARTER:
        if not os.path.exists(jar):
            sys.exit(f"{jar} is missing: run `make build` first")
    return STARTER
