#!/usr/bin/env python3
"""Records what a real Slurm answers, for src/rules/slurm/testing/recorded: record_slurm.py OUT [ROOT].

A cluster of four nodes is started in ROOT (/: this machine; else a Debian of another suite, with /proc and /dev mounted), given jobs of each
kind, asked by its tools and by slurmrestd, and ended. What it answered is in OUT/VERSION. Run by root.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

TOOLS = pathlib.Path(__file__).resolve().parent
FOLDER = "/tmp/record-slurm"  # in ROOT
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
REST_VERSIONS = range(38, 43)
JOB_FORMAT = "%A|%T|%N|%S|%V|%j|%k|%r"  # as src/rules/slurm/job_list.h has it
NODE_FORMAT = "%P|%N|%c|%m|%l|%a|%t|%o|%G"  # as src/rules/slurm/node_list.h has it
PARTITIONS = {"night": "MaxTime=60 State=UP", "down": "State=DOWN", "closed": "State=INACTIVE", "theirs": "AllowAccounts=lab State=UP",
              "group": "AllowGroups=daemon State=UP", "few": "MaxNodes=1 State=UP"}
PARTITION_NODES = {"night": "node[1-2]"}
# Fields of the answers that are kept; with the others they are ten times as long.
KEPT = {
    "jobs": {"job_id", "job_state", "name", "comment", "nodes", "state_reason", "state_description", "user_id", "user_name", "het_job_id",
             "partition", "time_limit", "deadline", "requeue", "tres_per_task"},
    "nodes": {"name", "cpus", "real_memory", "state", "state_flags", "address", "gres", "partitions", "reason"},
    "partitions": {"name", "flags", "state", "partition", "max_time_limit", "maximums", "nodes"},
    "maximums": {"time", "nodes"}}
ASKED = "ty-1f3a-9-1"  # what is submitted over REST
SLEEP = ["--wrap", "exec sleep 600"]
OURS = ["--comment=trainyard:1", "--no-requeue", "--output=/dev/null", "--chdir=/"]
# By a key; a job may name another one's id. Those of FIRST run, and one of them is done with, before the others come.
FIRST = {
    "running": ["--job-name=ty-1f3a-1-1", *OURS, "--no-kill", "--ntasks=2", "--cpus-per-task=2", "--nodelist=node1", *SLEEP],
    "lost": ["--job-name=ty-1f3a-2-1", *OURS, "--ntasks=1", "--cpus-per-task=4", "--nodelist=node3", *SLEEP],
    "done": ["--job-name=done", "--output=/dev/null", "--wrap", "true"],
    "failed": ["--job-name=failed", "--output=/dev/null", "--wrap", "exit 3"],
    "cancelled": ["--job-name=ty-1f3a-3-1", *OURS, "--ntasks=1", *SLEEP]}
HETEROGENEOUS = f"""#!/bin/bash
#SBATCH --job-name=ty-1f3a-4-1 {' '.join(OURS)} --ntasks=1 --cpus-per-task=1 --gpus-per-task=nvidia_tesla_t4:1
#SBATCH hetjob
#SBATCH --job-name=ty-1f3a-4-1 {' '.join(OURS)} --ntasks=1 --cpus-per-task=2
exec sleep 600
"""
WAITING = {
    "held": ["--job-name=a|b", "--comment=of whom|ever", "--output=/dev/null", "--hold", *SLEEP],
    "later": ["--job-name=later", "--output=/dev/null", "--begin=now+1hour", *SLEEP],
    "after": ["--job-name=after", "--output=/dev/null", "--dependency=afterok:{running}", *SLEEP],
    "never": ["--job-name=never", "--output=/dev/null", "--dependency=afterok:{failed}", *SLEEP],
    "long": ["--job-name=long", "--output=/dev/null", "--partition=night", "--time=90", *SLEEP],
    "wide": ["--job-name=wide", "--output=/dev/null", "--partition=few", "--nodes=2", *SLEEP],
    "shut": ["--job-name=shut", "--output=/dev/null", "--partition=down", *SLEEP],
    "drained": ["--job-name=drained", "--output=/dev/null", "--nodelist=node4", *SLEEP],
    "big": ["--job-name=big", "--output=/dev/null", "--nodes=2", "--exclusive", *SLEEP],
    "behind": ["--job-name=behind", "--output=/dev/null", "--nodes=2", "--exclusive", *SLEEP]}
REFUSED = {"partition": ["--partition=nope"], "closed": ["--partition=closed"], "cpus": ["--cpus-per-task=99"], "memory": ["--mem-per-cpu=99999"],
           "gpus": ["--gpus-per-task=9", "--ntasks=1"], "gpu_type": ["--gpus-per-task=a100:1", "--ntasks=1"], "constraint": ["--constraint=nvlink"],
           "account": ["--partition=theirs"], "reservation": ["--reservation=nope"], "licence": ["--licenses=matlab:1"],
           "deadline": ["--deadline=2001-01-01T00:00:00"], "option": ["--nonsense"], "dependency": ["--dependency=afterok:none"],
           "nodes": ["--nodelist=node9"]}
REST_REFUSED: dict[str, dict] = {
    "partition": {"partition": "nope"}, "closed": {"partition": "closed"}, "cpus": {"cpus_per_task": 99}, "memory": {"memory_per_cpu": 99999},
    "gpus": {"gpus": "9"}, "gpu_type": {"gpus": "a100:1"}, "constraint": {"constraints": "nvlink"}, "account": {"partition": "theirs"},
    "reservation": {"reservation": "nope"}, "licence": {"licenses": "matlab:1"}, "deadline": {"deadline": 1_000_000_000},
    "form": {"tasks": "many"}}


class Cluster:
    def __init__(self, root):
        self.root = root
        self.inside = [] if root == "/" else ["chroot", root]
        self.version = re.search(r"[\d.]+", self.run("slurmctld", "-V").stdout)[0]

    def run(self, *words, said=None, user=None):
        """What subprocess says of a command that runs in ROOT."""
        account = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        variables = {"PATH": PATH, "SLURM_CONF": f"{FOLDER}/slurm.conf", "TZ": "UTC", "SLURMRESTD_SECURITY": "disable_user_check"}
        return subprocess.run([*self.inside, *account, *words], input=said, env=variables, capture_output=True, text=True, cwd="/")

    def cluster(self, *words):
        done = self.run("bash", "/tmp/slurm-cluster.sh", words[0], FOLDER, *words[1:])
        assert done.returncode == 0, done

    def start(self):
        shutil.copy(TOOLS / "slurm-cluster.sh", self.path("/tmp/slurm-cluster.sh"))
        self.path(FOLDER).mkdir(exist_ok=True)
        if int(self.version.split(".")[0]) >= 24:
            self.path(f"{FOLDER}/cgroup.conf").write_text("CgroupPlugin=disabled\n")
        lines = [f"PartitionName={name} Nodes={PARTITION_NODES.get(name, 'ALL')} {rest}" for name, rest in PARTITIONS.items()]
        self.cluster("start", "--isolate", "none", *[word for line in lines for word in ("--conf", line)])

    def stop(self):
        self.cluster("stop", "--purge")
        self.path("/tmp/slurm-cluster.sh").unlink()

    def path(self, path):
        return pathlib.Path(self.root) / path.lstrip("/")

    def neutral(self, text):
        """Without names of this machine."""
        return text.replace(FOLDER, "/etc/slurm").replace(socket.gethostname(), "login")

    def wait_for(self, job, *states):
        for _ in range(300):
            state = self.run("squeue", "-h", "-t", "all", "-j", str(job), "-o", "%T").stdout.split()
            if state and set(state) <= set(states):
                return
            time.sleep(0.1)
        raise AssertionError(f"job {job} is {state}, not {states}")

    def tool(self, *words, **more):
        done = self.run(*words, **more)
        return {"exit": done.returncode, "printed": self.neutral(done.stdout), "said": self.neutral(done.stderr)}


class Rest:
    def __init__(self, cluster):
        self.cluster = cluster
        plugin = "openapi/v0.0.38" if cluster.version.startswith("22.") else "openapi/slurmctld"
        self.socket = cluster.path(f"{FOLDER}/rest.sock")
        words = ["slurmrestd", "-f", f"{FOLDER}/slurm.conf", "-a", "rest_auth/local", "-s", plugin, f"unix:{FOLDER}/rest.sock"]
        self.process = subprocess.Popen([*cluster.inside, *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={"PATH": PATH, "SLURMRESTD_SECURITY": "disable_user_check"}, cwd="/")
        while not self.socket.exists():
            assert self.process.poll() is None, "slurmrestd ended"
            time.sleep(0.1)

    def ask(self, version, method, what, body=None):
        """{"status", "answer"}: what is kept of it."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.socket))
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, f"/slurm/v0.0.{version}/{what}", json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        text = self.cluster.neutral(response.read().decode())
        connection.close()
        return {"status": response.status, "answer": trimmed(json.loads(text)) if text.lstrip().startswith("{") else text}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def kept_of(name, value):
    return {key: part for key, part in value.items() if key in KEPT[name]} if name in KEPT and isinstance(value, dict) else value


def trimmed(answer):
    meta = answer.pop("meta", {})
    for name in ("last_backfill", "last_update"):
        answer.pop(name, None)
    for name, kept in KEPT.items():
        if name in answer:
            answer[name] = [{key: kept_of(key, value) for key, value in item.items() if key in kept} for item in answer[name]]
    slurm = meta.get("Slurm") or meta.get("slurm")
    if "jobs" in answer:  # not those of other questions
        answer["jobs"] = [job for job in answer["jobs"] if job["name"] not in ("wrap", ASKED)]
    return {**answer, "meta": {"slurm": {"release": slurm["release"]}}} if slurm else answer


def submission(version, **more):
    """The least that slurmrestd takes; `more` by names of 22.05."""
    gpus = more.pop("gpus", None)
    job = {"name": ASKED, "comment": "trainyard:1", "tasks": 1, "current_working_directory": "/", "standard_output": "/dev/null", **more}
    if version == 38:
        job |= {"environment": {"SLURM_NTASKS": "1"}, "no_requeue": True, **({"gpus_per_task": gpus} if gpus else {})}
        job |= {"deadline": f"uts{job['deadline']}"} if "deadline" in job else {}
    else:
        job |= {"environment": ["SLURM_NTASKS=1"], "requeue": False, **({"tres_per_task": f"gres:gpu:{gpus}"} if gpus else {})}
        job |= {"memory_per_cpu": {"set": True, "number": job["memory_per_cpu"]}} if "memory_per_cpu" in job else {}
    return {"script": "#!/bin/bash\nexec sleep 600\n", "job": job}


def give_jobs(cluster):
    """Ids by key."""
    ids: dict[str, int] = {}

    def submit(key, *words, **more):
        done = cluster.run("sbatch", "--parsable", *words, **more)
        assert done.returncode == 0, done
        ids[key] = int(done.stdout)

    for key, words in FIRST.items():
        submit(key, *words)
    submit("heterogeneous", said=HETEROGENEOUS)
    for key, state in {"running": "RUNNING", "lost": "RUNNING", "done": "COMPLETED", "failed": "FAILED", "cancelled": "RUNNING",
                       "heterogeneous": "RUNNING"}.items():
        cluster.wait_for(ids[key], state)
    cluster.run("scancel", str(ids["cancelled"]))
    break_node(cluster)
    cluster.run("scontrol", "update", "nodename=node4", "state=drain", "reason=repair")
    for key, words in WAITING.items():
        submit(key, *[word.format(**ids) for word in words])
    submit("of_another", "--output=/dev/null", "--job-name=ty-1f3a-1-1", "--chdir=/", *SLEEP, user="65534")
    cluster.wait_for(ids["lost"], "NODE_FAIL")
    cluster.wait_for(ids["cancelled"], "CANCELLED")
    time.sleep(3)  # the scheduler says why the rest waits
    return ids


def break_node(cluster):
    """It registers again, and is well, some seconds later."""
    cluster.run("scontrol", "update", "nodename=node3", "state=down", "reason=broken")


def record_tools(cluster, ids, out):
    break_node(cluster)
    for name, words in {"squeue": ["squeue", "-u", "0", "-t", "all", "-o", JOB_FORMAT],
                        "squeue-het": ["squeue", "-j", str(ids["heterogeneous"]), "-t", "all", "-o", JOB_FORMAT],
                        "sinfo": ["sinfo", "-N", "-o", NODE_FORMAT]}.items():
        (out / f"{name}.txt").write_text(cluster.run(*words).stdout)
    said = {name: cluster.tool("sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *words, *SLEEP) for name, words in REFUSED.items()}
    said["group"] = cluster.tool("sbatch", "--parsable", "--output=/dev/null", "--chdir=/", "--partition=group", *SLEEP, user="65534")
    return {"sbatch": said, "gone": cluster.tool("squeue", "-j", "9999", "-t", "all", "-o", JOB_FORMAT),
            "scancel_gone": cluster.tool("scancel", "--name=ty-1f3a-1-1", "9999"),
            "scancel_other_name": cluster.tool("scancel", "--name=ty-1f3a-7-1", str(ids["running"])),
            "scancel_ended": cluster.tool("scancel", "--name=failed", str(ids["failed"]))}


def record_rest(rest, version, ids):
    break_node(rest.cluster)
    def submit(**more):
        return rest.ask(version, "POST", "job/submit", submission(version, **more))

    said = {key: rest.ask(version, "GET", what) for key, what in {
        "nodes": "nodes", "jobs": "jobs", "job": f"job/{ids['heterogeneous']}", "gone": "job/9999", "partitions": "partitions",
        "unknown": "nonsense"}.items()}
    said |= {"submitted": submit(), "waits": submit(partition="night", time_limit=90),
             "refused": {name: submit(**more) for name, more in REST_REFUSED.items()}}
    submitted = said["submitted"]["answer"]["job_id"]
    said["deleted"] = rest.ask(version, "DELETE", f"job/{submitted}")
    said["deleted_again"] = rest.ask(version, "DELETE", f"job/{submitted}")
    said["deleted_gone"] = rest.ask(version, "DELETE", "job/9999")
    return said


def main():
    out, root = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "/"
    assert os.geteuid() == 0, "a cluster is started by root"
    cluster = Cluster(root)
    out = out / cluster.version
    out.mkdir(parents=True, exist_ok=True)
    cluster.start()
    rest = None
    try:
        ids = give_jobs(cluster)
        tools = record_tools(cluster, ids, out)
        by_version = {}
        if not cluster.version.startswith("20."):  # offers nothing that src/rules/slurm/rest.h knows
            rest = Rest(cluster)
            offered = [version for version in REST_VERSIONS if rest.ask(version, "GET", "ping")["status"] != 404]
            by_version = {version: record_rest(rest, version, ids) for version in offered}
        cluster.cluster("kill-node", "slurmctld")
        tools["down"] = {name: cluster.tool(*words) for name, words in {"squeue": ["squeue", "-o", JOB_FORMAT], "sinfo": ["sinfo", "-N"],
                                                                        "sbatch": ["sbatch", "--parsable", *SLEEP]}.items()}
        for version, said in by_version.items():
            said["down"] = {"jobs": rest.ask(version, "GET", "jobs"), "submit": rest.ask(version, "POST", "job/submit", submission(version))}
            (out / f"rest-v0.0.{version}.json").write_text(json.dumps(said, indent=1, sort_keys=True) + "\n")
        (out / "tools.json").write_text(json.dumps(tools, indent=1, sort_keys=True) + "\n")
    finally:
        if rest:
            rest.stop()
        cluster.stop()


if __name__ == "__main__":
    main()
