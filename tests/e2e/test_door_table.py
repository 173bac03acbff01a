"""docs/security.md names every socket that a server listens on, and every route that is answered without a login."""

import os
import pathlib
import re
from urllib.parse import urlsplit

from access_list import rules
from trainyard_server import ROOT

PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
LISTENS = "0A"  # TCP_LISTEN in /proc/net/tcp
ACCEPTS = 0x10000  # __SO_ACCEPTCON in /proc/net/unix
ELSEWHERE = {"agents", "keeper", "relay", "node"}  # on clusters, as a service, in isolated networks


def table(heading):
    """The first cells of the table below a heading."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [name for row in re.findall(r"(?m)^\| (`[^|]*) \|", section) for name in re.findall(r"`([^`]+)`", row)]


def sockets(pid):
    found = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(descriptor)
        if target.startswith("socket:["):
            found.add(target[len("socket:["):-1])
    return found


def listening_ports(pid):
    own = sockets(pid)
    for name in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS and words[9] in own:
                yield int(words[1].rsplit(":", 1)[1], 16)


def listening_files(server):
    own, data = sockets(server.process.pid), server.data.resolve()
    for line in pathlib.Path(f"/proc/{server.process.pid}/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[3], 16) & ACCEPTS and words[6] in own:
            yield f"DATA/{pathlib.Path(words[7]).resolve().relative_to(data)}"


def known_ports(server):
    """What files of the data directory say: port -> door."""
    presence = server.presence
    known = {urlsplit(presence["url"]).port: "administration", urlsplit(presence["tls_url"]).port: "administration, TLS",
             presence["replica_port"]: "replicas"}
    for name in ("front", "workstation"):
        ports = server.data / f"run/{name}-ports"
        if ports.exists():
            known |= dict.fromkeys(map(int, ports.read_text().split()), name)
    return known


def test_every_socket_is_in_the_table(make_server):
    server = make_server("--auth", "on", "--metrics-listen", "127.0.0.1:0")
    known = known_ports(server)
    # Google's own ports are the fronts' where they can be had; what is left is the figures'.
    fronts = {443: "front", 80: "front"}
    found = set(listening_files(server)) | {known.get(port) or fronts.get(port, "metrics") for port in listening_ports(server.process.pid)}
    documented = set(table("Doors"))
    assert found - documented == set(), "not in the table of docs/security.md"
    assert documented - found - ELSEWHERE <= {"front", "workstation"}, "in the table, but nothing listens there"
    assert {"administration", "administration, TLS", "replicas", "metrics", "DATA/run/admin.sock"} <= found


def test_every_route_without_a_login_is_in_the_table():
    assert sorted(table("What is answered without a login")) == sorted(rule.route for rule in rules().values() if rule.where == "NobodyAsked")
