"""Worlds whose jobs are containers, and whose jobs run on the nodes of a Slurm cluster."""

import os
import pathlib
import shutil

from container_images import Images, Registry
from slurm_cluster import SlurmCluster
from world import World

NOTES = "chaos-notes"  # a bucket whose directory has the programs' notes: what else of the machine is there no program sees


def missing_of(*programs):
    absent = [program for program in programs if not shutil.which(program)]
    return f"there is no {absent[0]}" if absent else ""


class Containers(World):
    """Each job is a container of an OCI runtime."""

    tuning_jobs = False  # a container says its metric another way

    @classmethod
    def missing(cls, options):
        return missing_of("crun", "docker-registry", "skopeo", "busybox")

    def flags(self):
        return [*super().flags(), "--container-engine", "oci", "--bucket-dir", f"{NOTES}={self.notes}"]

    def prepare(self):
        self.registry = Registry(self.folder / "registry")
        images = Images(self.folder / "images")
        task = pathlib.Path(__file__).parents[1] / "trainers/witness/witness/task.py"
        image = images.derive("python", "witness", files={"/witness/__init__.py": "", "/witness/task.py": task.read_text()},
                              working_dir="/", entrypoint=["python3", "-m", "witness.task"], cmd=None)
        self.image = self.registry.push(image or images["witness"])
        super().prepare()

    def training_input(self, lines, seconds, status):
        args = [f"/gcs/{NOTES}", lines, seconds, status, self.secret]
        return {"masterConfig": {"imageUri": self.image}, "workerConfig": {"imageUri": self.image}, "args": list(map(str, args)),
                "region": "us-central1"}

    def rests(self):
        """Without directories of questions to a registry that were killed: those are swept after an hour."""
        return [rest for rest in super().rests() if "/pulls/call-" not in rest]

    def close(self):
        super().close()
        self.registry.stop()


class OnSlurm(World):
    """Jobs run on nodes of a cluster, each a process of this machine; their agents are killed as supervisors are."""

    rounds = 3
    victims = ("supervisor", "init", "program", "agent", "starter")

    @classmethod
    def missing(cls, options):
        return missing_of("slurmctld", "slurmd", "munged")

    def prepare(self):
        self.cluster = SlurmCluster(2, isolate="pid", settings={"KillWait": "30"})
        self.secret = pathlib.Path("/dev/null/none")  # nodes do not know the server's disk, which they have only here
        (self.folder / "elsewhere").write_text(str(self.cluster.folder))
        os.environ.update(self.cluster.env())
        cache = self.folder / "cache"
        cache.mkdir()
        (cache / "environments").symlink_to(self.options.environments)
        self.victim.flags = (*self.victim.flags, "--engine", "slurm", "--node-dir", str(self.cluster.folder / "trainyard"),
                             "--node-cache", str(cache))
        super().prepare()

    def close(self):
        super().close()
        self.cluster.stop()
