"""The network of a cluster whose nodes are processes of this machine: a switch, a link to this machine, and one to each node.

The switch is a bridge in a network namespace of its own, so all but this machine's end of one link ends with the switch's process, and that
one with ours. The number of that link is what a subnet belongs to: the kernel lets one of several clusters have it.
"""

import ipaddress
import subprocess

from process_output import Output

# RFC 5737: addresses for examples, that no machine has.
SUBNETS = [net for block in ("198.51.100.0/24", "203.0.113.0/24") for net in ipaddress.ip_network(block).subnets(new_prefix=27)]
NODES_MAX = 29


class ClusterNetwork:
    """Needs root. `server_address` is this machine's, as the nodes reach it."""

    def __init__(self):
        self.switch = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "ip link add switch type bridge && ip link set switch up && echo ready && read -r end"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.link = ""
        try:
            assert Output(self.switch.stdout).line() == "ready\n", "no bridge in a network namespace"
            self.subnet = self._connect()
        except BaseException:
            self.close()
            raise
        self.server_address = str(self.subnet[1])

    def _connect(self):
        for number, subnet in enumerate(SUBNETS):
            link = f"tyslurm{number}"
            made = ip("link", "add", link, "type", "veth", "peer", "name", "machine", "netns", str(self.switch.pid), check=False)
            if made.returncode:
                assert "exists" in made.stderr, made.stderr
                continue
            self.link = link
            ip("address", "add", f"{subnet[1]}/{subnet.prefixlen}", "dev", link)
            ip("link", "set", link, "up")
            self._in_switch("link", "set", "machine", "master", "switch", "up")
            return subnet
        raise AssertionError(f"all {len(SUBNETS)} subnets are in use")

    def address(self, number):
        """Of a node; the first one is 1."""
        assert 1 <= number <= NODES_MAX, f"a cluster's subnet has no address for node {number}"
        return str(self.subnet[1 + number])

    def add(self, number, pid):
        """Links the network namespace of a process, which finds the link as eth0, without an address and down."""
        self.remove(number)
        self._in_switch("link", "add", f"node{number}", "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        self._in_switch("link", "set", f"node{number}", "master", "switch", "up")

    def remove(self, number):
        """A node that has ended takes its link with it, but somewhat later."""
        self._in_switch("link", "delete", f"node{number}", check=False)

    def set_up(self, number, up):
        self._in_switch("link", "set", f"node{number}", "up" if up else "down")

    def close(self):
        if self.link:
            ip("link", "delete", self.link, check=False)
        self.switch.stdin.close()
        self.switch.wait(30)
        self.switch.stdout.close()

    def _in_switch(self, *words, check=True):
        return run("nsenter", "--target", str(self.switch.pid), "--net", "ip", *words, check=check)


def ip(*words, check=True):
    return run("ip", *words, check=check)


def run(*words, check):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 or not check, f"{words}: {done.stderr}"
    return done
