"""Real TLS clients, each of which reports what it saw of its handshakes: {local port: full or resumed}.

The reports are the clients' own: OpenSSL's session_reused (through Python, which is linked with it,
and through `openssl s_client`), rustls's handshake kind, JSSE's showing of a certificate, Chromium's
network log.
"""

import csv
import json
import os
import random
import re
import socket
import ssl
import subprocess
import tempfile
import time

import guardbed

TIMEOUT_S = 10
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def openssl_library(port, count, version):
    """OpenSSL's library; one connection in four comes from a client that was never here."""
    dice = random.Random(1)
    seen = {}
    context, session = new_context(version), None
    for _ in range(count):
        if dice.random() < 0.25:
            context, session = new_context(version), None
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost", session=session) as tls:
                seen[plain_port(tls)] = "resumed" if tls.session_reused else "full"
                tls.sendall(REQUEST)
                while tls.recv(65536):
                    pass
                session = tls.session
    return seen


def plain_port(connection):
    return connection.getsockname()[1]


def new_context(version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # A server that ends without close_notify is no matter here.
    context.options |= getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    if version == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def openssl_command(port, count, version):
    """`openssl s_client`, a process for each handshake, bound to a port of our choice."""
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "session")
        for i in range(count):
            local = free_port()
            command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-bind", f"127.0.0.1:{local}",
                       "-servername", "localhost", "-ign_eof", "-sess_out", kept]
            command += ["-tls1_2"] if version == "1.2" else []
            command += ["-sess_in", kept] if i % 2 and os.path.exists(kept) else []
            done = subprocess.run(command, input=REQUEST, capture_output=True, timeout=TIMEOUT_S)
            found = re.search(rb"^(New|Reused), TLSv", done.stdout, re.M)
            if found:
                seen[local] = "resumed" if found.group(1) == b"Reused" else "full"
    return seen


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def jsse(port, count, version, home):
    """The JDK's own client."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "jsse.csv")
        subprocess.run(guardbed.java(home, "verdict.JsseClient", "--port", port, "--count", count, "--tls",
                                     "1.2" if version == "1.2" else "both", "--out", out),
                       check=True, timeout=120)
        with open(out) as f:
            return {int(row["port"]): row["kind"] for row in csv.DictReader(f)}


SCENARIO = """
name = "verdict"
start = "home"
[arrivals]
users = 4
[think]
mean = "0ms"
[tls]
versions = [{versions}]
resume_within = 0.7
resume_across = 0.3
[connection]
requests = 1
[[interaction]]
name = "home"
path = "/"
marker = "<body id=\\"home\\">"
next = {{ home = 0.9, end = 0.1 }}
"""


def rustls(port, count, version):
    """The load generator, until it has made about so many handshakes (400 or more in a second)."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = os.path.join(folder, "s.toml"), os.path.join(folder, "h.csv")
        with open(scenario, "w") as f:
            f.write(SCENARIO.format(versions='"1.2"' if version == "1.2" else '"1.2", "1.3"'))
        seen = {}
        begin = time.monotonic()
        while len(seen) < count and time.monotonic() - begin < 60:
            subprocess.run([*guardbed.generator(), f"https://127.0.0.1:{port}", "--scenario", scenario,
                            "-d", "1s", "--seed", str(len(seen) + 1), "--handshakes", out, "--json"],
                           check=True, capture_output=True, timeout=60)
            with open(out) as f:
                for row in csv.DictReader(f):
                    # A port used twice names two connections: neither can be joined.
                    p = int(row["local_port"])
                    seen[p] = None if p in seen else row["kind"]
        return {p: kind for p, kind in seen.items() if kind in ("full", "resumed")}


def chromium(port, count, version, wait_done):
    """Debian's Chromium, headless: a page that fetches, each time on a new connection. The local port
    and whether it resumed are in its network log."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "net.json")
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                   "--disable-component-update", "--no-first-run", "--ignore-certificate-errors",
                   f"--user-data-dir={folder}/profile", f"--log-net-log={log}"]
        command += ["--ssl-version-max=tls1.2"] if version == "1.2" else []
        browser = subprocess.Popen([*command, f"https://127.0.0.1:{port}/run?n={count}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_done(30 + count / 20)
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
        return read_net_log(log)


def read_net_log(path):
    """{local port: kind} of a network log, whose last line may be missing."""
    names, seen, ports = {}, {}, {}
    with open(path) as f:
        for line in f:
            line = line.strip().rstrip(",")
            if line.startswith('{"constants"'):
                names = {v: k for k, v in json.loads(line + "}")["constants"]["logEventTypes"].items()}
                continue
            if not line.startswith("{"):
                continue
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the last line of a browser that was stopped
            source, about = event["source"]["id"], event.get("params", {})
            if "local_address" in about:
                ports[source] = int(about["local_address"].rsplit(":", 1)[1])
            if names.get(event["type"]) == "SSL_CONNECT" and "is_resumed" in about and source in ports:
                seen[ports[source]] = "resumed" if about["is_resumed"] else "full"
    return seen
