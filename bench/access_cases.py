"""What it costs that the server asks who its callers are: beside the same server that does not, in turns."""

import json
import statistics
import subprocess

PRINCIPALS = 10_000
OF_A_POLICY = 1_500  # iam::kPrincipalsMax
ROUNDS, CREATES, READS, CONNECTIONS = 9, 2_000, 10_000, 64
ROLE = "roles/trainyard.member"


def policies(server):
    """As many principals as an installation may have, and a token of one of them."""
    people = [f"user:person{number}@example.com" for number in range(PRINCIPALS)]
    for first in range(0, PRINCIPALS, OF_A_POLICY):
        members = people[first:first + OF_A_POLICY]
        project = "p" if first == 0 else f"p{first}"
        server.request("POST", f"/v1/projects/{project}:setIamPolicy", json={
            "policy": {"bindings": [{"role": ROLE, "members": members}]}}).raise_for_status()
    made = server.request("POST", "/trainyard/v1/tokens", json={"principal": people[OF_A_POLICY // 2]})
    return made.json()["text"]


def furnished(bench, name, *flags):
    """A server whose jobs stay in the queue, and the token of its callers."""
    server = bench.server(name, *flags)
    server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).raise_for_status()
    server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).raise_for_status()
    return server, bench.upload(server), policies(server) if flags else ""


def check(bench, principals):
    """Nanoseconds of a question to a policy with so many principals, that is allowed and that is denied."""
    done = subprocess.run([bench.tool("iam_bench"), "--benchmark_format=json", f"--benchmark_filter=Grants/.*/{principals}$"],
                          check=True, capture_output=True, text=True)
    return [one["real_time"] for one in json.loads(done.stdout)["benchmarks"]]


def access(bench):
    allowed, denied = check(bench, PRINCIPALS)
    few, _ = check(bench, 10)
    bench.row(f"asking a policy with {PRINCIPALS:,} principals", "50 us", f"{allowed / 1e3:.2f} us, denied {denied / 1e3:.2f} us",
              f"with 10: {few / 1e3:.2f} us", costs=allowed)
    sides = [furnished(bench, "asks-nobody"), furnished(bench, "asks", "--auth", "on")]

    def rate(side, number, method, path, count, body=""):
        server, _, token = side
        return bench.load(server, method, path, CONNECTIONS, count, body, token)["per_second"]

    def in_turns(measure):
        """Rates without and with, each round in the other order."""
        rates = ([], [])
        for number in range(ROUNDS):
            for which in (0, 1) if number % 2 else (1, 0):
                rates[which].append(measure(sides[which], number))
        return rates

    creates = in_turns(lambda side, number: rate(side, number, "POST", "/v1/projects/p/jobs", CREATES, bench.body(f"r{number}", side[1])))
    reads = in_turns(lambda side, number: rate(side, number, "GET", "/v1/projects/p/jobs/r0_7", READS))
    bench.row("durable creates per second, --auth on", "within 5 % of --auth off", told(creates),
              f"--auth off: {statistics.median(creates[0]):,.0f}/s", costs=1 / statistics.median(creates[1]))
    bench.row("reads of a job per second, --auth on", "", told(reads), f"--auth off: {statistics.median(reads[0]):,.0f}/s",
              costs=1 / statistics.median(reads[1]))
    for server, _, _ in sides:
        bench.stop(server)


def told(rates):
    """The median of what a round has less, with the quartiles: from one round to the next a disk differs by more."""
    less = [(off - on) / off * 100 for off, on in zip(*rates)]
    low, median, high = statistics.quantiles(less, n=4)
    return f"{statistics.median(rates[1]):,.0f}/s, {median:+.1f} % less (quartiles {low:+.1f} to {high:+.1f}; {ROUNDS} rounds in turns)"
