"""A Slurm that says what the test wants: tools that print files, and write down what they are asked. Agents are played by the test."""

import contextlib
import os
import re
import subprocess

from trainyard_server import PROGRAM, wait_for

NODES = "PARTITION|NODELIST|CPUS|MEMORY|TIMELIMIT|AVAIL|STATE|NODE_ADDR|GRES\n"
JOBS = "JOBID|STATE|NODELIST|START_TIME|SUBMIT_TIME|NAME|COMMENT|REASON\n"
ID = 40  # of the job that is submitted
TOOLS = {
    "sinfo": 'cat "$here/nodes"',
    "squeue": 'echo "$*" >>"$here/asked"; cat "$here/jobs"',
    "sbatch": 'if [[ $* == *--test-only* ]]; then exit; fi; cat >"$here/script.part" && mv "$here/script.part" "$here/script" && echo ' + str(ID),
    "scancel": 'echo "$*" >>"$here/cancelled"'}


class ToldSlurm:
    """Nodes are at the addresses that are given, by name."""

    def __init__(self, folder, **addresses):
        self.folder = folder / "slurm"
        self.folder.mkdir()
        for name, does in TOOLS.items():
            (self.folder / name).write_text(f'#!/bin/bash\nhere={self.folder}\n{does}\n')
            (self.folder / name).chmod(0o755)
        (self.folder / "nodes").write_text(NODES + "".join(f"main*|{name}|4|16000|infinite|up|idle|{address}|(null)\n"
                                                           for name, address in addresses.items()))
        self.says()
        self.agents = []

    def flags(self):
        return ["--engine", "slurm", "--slurm-tools", str(self.folder), "--agent-listen", "127.0.0.1"]

    def says(self, *jobs):
        """Of the account's jobs: (state, nodes), and another id where it is not the one that was submitted."""
        lines = ["|".join([str(more[0] if more else ID), state, nodes, "N/A", "N/A", self.option("job-name"), self.option("comment"), "None"])
                 for state, nodes, *more in jobs]
        part = self.folder / "jobs.part"
        part.write_text(JOBS + "".join(line + "\n" for line in lines))
        part.replace(self.folder / "jobs")

    def asked(self):
        """How often squeue was run."""
        with contextlib.suppress(FileNotFoundError):
            return len((self.folder / "asked").read_text().splitlines())
        return 0

    def script(self):
        """What was submitted."""
        return wait_for(lambda: (self.folder / "script").read_text() if (self.folder / "script").exists() else None, lambda: "nothing was submitted")

    def option(self, name):
        return re.search(rf"--{name}=(\S+)", self.script())[1]

    def start_agent(self, node, folder):
        """With the ticket of the script, which all of the account can read. What it says is in `folder`/said."""
        folder.mkdir()
        words = [f"--{name}={self.option(name)}" for name in ("server", "fingerprint")]
        ticket = re.search(r"TRAINYARD_TICKET=(\S+)", self.script())[1]
        with open(folder / "said", "wb") as said:
            self.agents.append(subprocess.Popen([PROGRAM, "agent", *words, "--slot=0", f"--node={node}", "--gpus=", f"--dir={folder}"], stderr=said,
                                                env={**os.environ, "TRAINYARD_TICKET": ticket}))
        return self.agents[-1]

    def stop(self):
        for agent in self.agents:
            agent.terminate()
        for agent in self.agents:
            agent.wait(60)
