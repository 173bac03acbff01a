"""Compares what the server shows with what the ledger says that it may show."""

import re
from urllib.parse import quote

from clients import POLICY_ROLE
from store_clients import BUCKET, content_of
from trainyard_server import wait_for
from witness import LogCheck, judge_state, read_notes, run_again, task_of

JOBS_S = 90  # within which all jobs of a round have ended, once nobody is killed any more
TAIL_S = 20  # within which a tail has what the log has


class Verifier:
    """Asks the server while all clients are idle; each answer becomes the one value that the ledger allows from then on."""

    def __init__(self, world):
        self.world, self.victim, self.ledger = world, world.victim, world.ledger

    def registers(self):
        """All that must be there whatever jobs do."""
        present = self.jobs_present()
        for job_id in present:
            self.labels_and_policy(job_id)
        for _, name in self.ledger.keys("object"):
            self.check(("object", name), self.object_shown(name))
        for _, study in self.ledger.keys("study"):
            self.study(study)
        return present

    def jobs_present(self):
        listed = [job["jobId"] for job in self.pages("/v1/projects/p/jobs", "jobs", {"pageSize": 100})]
        if len(set(listed)) != len(listed):
            self.world.violation("job", f"jobs are listed twice: {sorted(listed)}")
        known = {key[1] for key in self.ledger.keys("job")}
        for job_id in set(listed) - known:
            self.world.violation("job", f"{job_id} is listed, and nobody made it")
        for job_id in known:
            self.check(("job", job_id), "there" if job_id in listed else None)
        for job_id in known - set(listed):
            for kind in ("labels", "policy", "cancel", "job"):
                self.ledger.forget((kind, job_id))
        return sorted(known & set(listed))

    def labels_and_policy(self, job_id):
        path = f"/v1/projects/p/jobs/{job_id}"
        if self.ledger.has(("labels", job_id)):
            self.check(("labels", job_id), self.victim.request("GET", path).json().get("labels", {}).get("n"))
        if self.ledger.has(("policy", job_id)):
            bindings = self.victim.request("GET", path + ":getIamPolicy").json().get("bindings", [])
            members = [member for binding in bindings if binding["role"] == POLICY_ROLE for member in binding["members"]]
            self.check(("policy", job_id), members[0] if members else None)

    def object_shown(self, name):
        path = f"/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}"
        resource = self.victim.request("GET", path)
        if resource.status_code == 404:
            return None
        content = self.victim.request("GET", path, params={"alt": "media"})
        if not (resource.ok and content.ok):
            return f"{resource.status_code} {content.status_code} {resource.text[:200]}"
        version = resource.json().get("metadata", {}).get("version", "0")
        named = re.match(rf"{re.escape(name)} (\d+) ", content.content[:200].decode(errors="replace"))
        if not named or content.content != content_of(name, int(named[1]), len(content.content)):
            return f"damaged content: {content.content[:80]!r}"
        return int(version) if version == named[1] else f"content {named[1]} with metadata {version}"

    def study(self, study):
        parent = f"/v1/projects/p/locations/us-central1/studies/{study}"
        shown = self.victim.request("GET", parent)
        self.check(("study", study), "there" if shown.ok else None)
        trials = {trial["name"].rpartition("/")[2]: trial for trial in self.pages(parent + "/trials", "trials", {}) } if shown.ok else {}
        asked = sum(key[1] == study for key in self.ledger.keys("suggestion"))
        if len(trials) > asked:
            self.world.violation("trial", f"{study} has {len(trials)} trials, and was asked for {asked}")
        for key in self.ledger.keys("trial"):
            if key[1] == study:
                trial = trials.get(key[2])
                value = trial and (f"{trial['finalMeasurement']['metrics'][0]['value']:.6f}" if "finalMeasurement" in trial else "given")
                self.check(key, value)

    def check(self, key, shown):
        allowed = self.ledger.allowed(key)
        if shown not in allowed:
            self.world.violation(key[0], f"{'/'.join(key[1:])} is {shown!r}; what was acknowledged allows {allowed!r}")
        self.ledger.settle(key, shown)

    # Jobs that have ended

    def await_jobs(self, present):
        """Until all have ended: id -> job."""
        ended, waits = {}, set(present)

        def waiting():
            for job_id in sorted(waits):
                job = self.victim.request("GET", f"/v1/projects/p/jobs/{job_id}").json()
                if job.get("jobId") != job_id:
                    self.world.violation("job", f"{job_id} is listed, and cannot be had: {job}")
                elif "endTime" in job:
                    ended[job_id] = job
                if job.get("jobId") != job_id or job_id in ended:
                    waits.remove(job_id)
            return None if waits else True

        wait_for(waiting, lambda: f"jobs do not end: {[self.victim.get(job_id) for job_id in sorted(waits)][:3]}", JOBS_S)
        return ended

    def job(self, job):
        """State, log and notes of a job that has ended. How many lines of programs its log has."""
        job_id = job["jobId"]
        replicas = read_notes(self.world.notes, job_id)
        for replica in replicas:
            for problem in replica.problems:
                self.world.violation("isolation" if "sandbox" in problem else "double run", f"{job_id}: {problem}")
        for problem in judge_state(job, replicas, self.world.plans[job_id], self.ledger.allowed(("cancel", job_id))):
            self.world.violation("state", f"{job_id}: {problem}")
        if self.world.gentle and run_again(replicas):
            self.world.violation("double run", f"{job_id}: {run_again(replicas)} ended with 0 and ran again")
        entries = [(task_of(entry), entry["insertId"], entry["jsonPayload"]["message"])
                   for entry in self.victim.log_entries(job_id)]
        check = LogCheck(entries)
        for problem in [*check.order(), *check.wholeness(replicas, self.forgiven(replicas))]:
            self.world.violation("log", f"{job_id} ({job['state']}): {problem}")
        self.world.count("program starts", sum(len(replica.attempts) for replica in replicas))
        self.world.count("log lines", check.lines())
        return entries

    def forgiven(self, replicas):
        repeated = {attempt.token for replica in replicas for attempt in replica.attempts[:-1]}
        return self.world.forgiven | (self.world.forgiven_if_repeated & repeated)

    def tail(self, job_id, entries):
        """A live tail that was resumed after each restart has had all of it, in order within a task, and nothing twice."""
        def of_task(some):
            by_task = {}
            for task, entry_id, _ in some:
                by_task.setdefault(task, []).append(entry_id)
            return by_task
        listed = of_task(entries)
        if self.world.tail is None:
            return
        try:
            wait_for(lambda: len(self.world.tail.of_job(job_id)) >= len(entries) or None, lambda: "", TAIL_S)
        except AssertionError:
            pass  # said below
        followed = of_task(self.world.tail.of_job(job_id))
        for task in listed.keys() | followed.keys():
            if sorted(listed.get(task, [])) != sorted(followed.get(task, [])):
                differ = set(listed.get(task, [])) ^ set(followed.get(task, []))
                self.world.violation("tail", f"{job_id} {task}: the tail had {len(followed.get(task, []))} entries, the log has "
                                             f"{len(listed.get(task, []))}; differ: {sorted(differ)[:20]}")

    def remove(self, job_id):
        """Jobs that were looked at go, so that a round costs as much as the one before."""
        operation = self.ledger.begin(("job", job_id), None)
        self.must("DELETE", f"/trainyard/v1/projects/p/jobs/{job_id}")
        self.ledger.end(operation, True)

    def must(self, method, path, **options):
        response = self.victim.request(method, path, **options)
        assert response.ok, f"{method} {path}: {response.status_code} {response.text[:400]}"
        return response

    def pages(self, path, field, params):
        token = ""
        while True:
            page = self.must("GET", path, params={**params, **({"pageToken": token} if token else {})}).json()
            yield from page.get(field, [])
            token = page.get("nextPageToken", "")
            if not token:
                return
