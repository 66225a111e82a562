"""A server under test as a process of its own, on CPUs of its own, that tells its port in a file."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import watch
from pinning import pin

START_S = 120


def cpus():
    """The server's CPU and the generator's."""
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        sys.exit("this needs two CPUs: one for the server, one for the generator")
    return mine[0], mine[1]


def free_port():
    """A port of 127.0.0.1 that nobody has now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(server, what, scheme="http"):
    """Waits until a server that tells its port in no file answers over HTTP, whatever it answers, and returns it."""
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    end = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{scheme}://127.0.0.1:{server.port}", timeout=10, context=anybody) as answer:
                answer.read()
            return server
        except urllib.error.HTTPError:
            return server  # that it has nothing at / is its own affair
        except OSError:
            if server.process.poll() is not None or time.monotonic() > end:
                text = server.text()
                server.close()
                sys.exit(f"{what} ({server.name}) did not answer:\n{text[-3000:]}")
            time.sleep(0.2)


class Server:
    """One running server. Use it in a `with`, or close it. Of several, all can be begun before the first
    is waited for with ready()."""

    def __init__(self, name, command, on=None, env=None):
        """`command` gets the path of the port file and gives the command line."""
        self.name = name
        self.port = None
        self.folder = tempfile.TemporaryDirectory()
        self.port_file = os.path.join(self.folder.name, "port")
        self.log = open(os.path.join(self.folder.name, "log"), "w+")
        on = on if on is not None else str(cpus()[0])
        self.process = subprocess.Popen(["taskset", "-c", on, *command(self.port_file)],
                                        stdout=self.log, stderr=subprocess.STDOUT, env=env and {**os.environ, **env})

    @property
    def pid(self):
        return self.process.pid

    def ready(self):
        """Waits until the port answers."""
        end = time.monotonic() + START_S
        while not os.path.exists(self.port_file):
            if self.process.poll() is not None or time.monotonic() > end:
                text = self.text()
                self.close()
                sys.exit(f"the site ({self.name}) did not start:\n{text[-3000:]}")
            time.sleep(0.1)
        with open(self.port_file) as f:
            self.port = int(f.read())
        return self

    def pin(self, on):
        """Moves all its threads to these CPUs, parted by commas."""
        pin(self.pid, map(int, on.split(",")))

    def cpu_seconds(self):
        """CPU time of the process so far."""
        return watch.cpu_seconds(self.pid)

    def text(self):
        """What it printed."""
        self.log.flush()
        with open(self.log.name) as f:
            return f.read()

    def close(self):
        """Ends it; a second call does nothing."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        self.folder.cleanup()

    def __enter__(self):
        return self.ready()

    def __exit__(self, *_):
        self.close()
