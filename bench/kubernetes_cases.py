"""Jobs on a real Kubernetes with hollow nodes beside bare pods there, in the same run; and what our requests cost the API server."""

import os
import re
import statistics
import time

from cluster_parts import MODULE, GangStarts, Watch, simulated, table_of, with_and_without
from harness import TRAINER, millis

NODES = 4
OTHERS_CPUS = 14  # of a node's 16, while our jobs wait: less than one replica is free
GANG_EVERY = 10  # of the jobs that wait: a gang, which takes its turn in vain again and again
UNPLACED_MAX = 100  # pods of single jobs that the engine lets wait at once
# A single job makes way for others of its line after five minutes; a window of this length has all that waiting jobs do.
CYCLE_S = 330
# What one replica of MACHINE_TYPE asks for.
REQUESTS = {"cpu": "4", "memory": "15360Mi"}
COUNTED = re.compile(r'^apiserver_request_duration_seconds_(sum|count)\{(.*)\} (\S+)$', re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def kubernetes(bench, rounds=20, count=1000, turns=3, watched_s=30, cycle_s=CYCLE_S):
    """Submission to the first instruction of one replica and of the last of four, and what our requests cost the API server."""
    import kube_program  # harness.Bench made them known
    from kube_cluster import KubeCluster
    from kubernetes_world import Namespace
    if os.geteuid() != 0 or not kube_program.is_built():
        print("kubernetes: it is not built (tests/e2e/kube_program.py builds it), or we are not root")
        return
    with KubeCluster(NODES, cpus="16", memory="64Gi", program=bench.program) as cluster:
        space = Namespace(cluster)
        os.environ.update(cluster.env(space.account()))
        server = bench.server("kubernetes", "--engine", "kubernetes")
        uri = bench.warm(server)
        starts(PodStarts(bench, space, server, uri, 1), rounds)
        starts(PodStarts(bench, space, server, uri, NODES), rounds)
        requests(bench, space, server, uri, count, turns, watched_s, cycle_s)
        bench.stop(server)


class PodStarts(GangStarts):
    """The same program by the same interpreter in pods that only Kubernetes knows."""

    def __init__(self, bench, space, server, uri, replicas):
        from kube_nodes import AGENT_DIR
        super().__init__(bench, server, uri, replicas)
        self.space = space
        environments = space.cluster.folder / "environments"
        python = next(environments.glob("layers/*/bin/python")).relative_to(environments)
        self.python = f"{AGENT_DIR}/nodes/node1/environments/{python}"  # a path that all nodes' pods have

    def pod(self, name):
        """What ours are, as far as Kubernetes and its nodes see it."""
        return {"metadata": {"name": name}, "spec": {
            "restartPolicy": "Never", "securityContext": {"runAsUser": 1000, "fsGroup": 1000},
            "volumes": [{"name": "agent", "emptyDir": {}}, {"name": "shm", "emptyDir": {"medium": "Memory"}}],
            "containers": [{
                "name": "main", "image": "docker.io/library/python:3.11-slim-bookworm", "command": [self.python, "-m", MODULE],
                "env": [{"name": "PYTHONPATH", "value": str(TRAINER)}], "resources": {"requests": REQUESTS},
                "volumeMounts": [{"name": "agent", "mountPath": "/var/lib/trainyard-agent"}, {"name": "shm", "mountPath": "/dev/shm"}]}]}}

    def bare(self):
        """As many pods as the gang has replicas."""
        self.number += 1
        api, pods = self.space.api, f"{self.space.path}/pods"
        names = [f"bare-{self.replicas}-{self.number}-{slot}" for slot in range(self.replicas)]
        begin = time.time()
        uids = [api.must("POST", pods, self.pod(name))["metadata"]["uid"] for name in names]
        for name in names:
            self.bench.e2e.wait_for(lambda name=name: True if api.must("GET", f"{pods}/{name}")["status"]["phase"] == "Succeeded" else None,
                                    self.space.cluster.logs)
        lines = [line for uid in uids for line in (self.space.cluster.folder / "pods" / uid / "log").read_text().splitlines()]
        for name in names:
            api.must("DELETE", f"{pods}/{name}")
        return self.last_first(lines) - begin


def starts(steps, rounds):
    """Through us and alone, in turns."""
    ways = {"ours": steps.ours, "bare": steps.bare}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in ways if number % 2 == 0 else reversed(ways):
            spent[name].append(ways[name]())
    more = [1e3 * (ours - alone) for ours, alone in zip(spent["ours"], spent["bare"])]
    first, median, third = statistics.quantiles(more, n=4)
    steps.bench.row(f"submit to user code on Kubernetes, {steps.which()}, {rounds} rounds", "a bare pod of the same image + 100 ms",
                    f"{millis(spent['ours'])}: {median:+.0f} ms in a round (quartiles {first:+.0f} to {third:+.0f})",
                    f"bare pods {millis(spent['bare'])}; nodes are hollow: the pods are processes of this machine",
                    costs=statistics.median(spent["ours"]))


def requests_of(space):
    """What the API server counts, by verb and resource: how many, and the milliseconds that they took. Watches have no such time."""
    counted: dict[str, dict[str, float]] = {}
    for which, labels, value in COUNTED.findall(space.api.must("GET", "/metrics")["text"]):
        label = dict(LABEL.findall(labels))
        if label["verb"] != "WATCH":
            one = counted.setdefault(f"{label['verb']} {label['resource']}{'/' * bool(label['subresource'])}{label['subresource']}", {})
            one[which] = one.get(which, 0) + float(value)
    return {name: (int(one.get("count", 0)), 1e3 * one.get("sum", 0)) for name, one in counted.items()}


def requests(bench, space, server, uri, count, turns, watched_s, cycle_s):
    """What is spent in the API server while so many of our jobs wait, with the server and without it, in turns."""
    for node in space.cluster.nodes:
        space.make_pod(f"other-{node}", cpus=OTHERS_CPUS, node=node)
    workers = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": str(NODES - 1)}
    for number in range(count):
        bench.create(server, f"queued_{number}", uri, **(workers if number % GANG_EVERY == 0 else {}))
    bench.e2e.wait_for(lambda: True if len(space.pods()) >= min(UNPLACED_MAX, count) else None, lambda: f"{len(space.pods())} pods")

    def wait_for_calls(before):
        lists = before["LIST pods"][0]
        bench.e2e.wait_for(lambda: True if requests_of(space)["LIST pods"][0] > lists else None, lambda: "the server asks for no list")

    def watch():
        return Watch(space.cluster.processes["apiserver"], lambda: requests_of(space))
    cycle = watch()
    cycle.window(cycle_s)
    ours, alone = with_and_without(server, watch, watched_s, turns, wait_for_calls)
    added = [with_us - without for with_us, without in zip(ours.shares, alone.shares)]
    without = statistics.median(alone.shares)

    def share(more, all_of_it):
        return f"{more:.2f} % of a CPU, {100 * more / all_of_it:.1f} % of what it uses"
    bench.row(f"our requests to the API server, {count:,} jobs wait", "5 % of its CPU",
              f"{share(statistics.median(added), statistics.median(ours.shares))} (in {turns} turns {min(added):.2f} to {max(added):.2f} % "
              f"of a CPU); in {cycle_s} s, in which each pod makes way once, {share(cycle.shares[0] - without, cycle.shares[0])}",
              f"without us it uses {without:.2f} % of a CPU, with {NODES} idle nodes", costs=statistics.median(ours.shares))
    bench.note(table_of("requests to the API server a minute", ours, alone))


def kubernetes_simulation(bench, gangs=100_000, nodes=10_000):
    """The engine between a simulated API server and simulated agents, on a simulated clock; all else is real."""
    seen, printed = simulated(bench, "kubernetes_simulation_bench", gangs, nodes)
    with_jobs = f"{gangs:,} jobs wait for Kubernetes, {nodes:,} simulated nodes"
    bench.row(f"{with_jobs}: the longest turn of the loop", "50 ms", f"{seen['the longest turn of the loop']:.1f} ms",
              f"while all wait, {seen['pods that are created in a minute']:.0f} pods are created in a minute",
              costs=seen["the longest turn of the loop"])
    bench.row(f"{with_jobs}: reservations, gangs that got nodes, a second", "",
              ", ".join(f"{seen[name]:,.0f}" for name in ("reservations per second of CPU, each asked what it waits for",
                                                          "gangs that had room, per second")), "",
              costs=1 / seen["reservations per second of CPU, each asked what it waits for"])
    bench.row(f"{with_jobs}: memory of a queued job", "", f"{seen['memory of a queued job, the simulated cluster left out']:,.0f} bytes",
              f"resident more in all {seen['resident more than at first, the simulated cluster left out']:,.0f} MiB",
              costs=seen["memory of a queued job, the simulated cluster left out"])
    bench.note(f"kubernetes_simulation_bench:\n{printed}")
