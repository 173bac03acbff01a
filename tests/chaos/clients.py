"""Clients: each asks one thing after the other and writes to the ledger what it was told."""

import random
import re
import threading
import time

import requests

from victim import ask

UNREACHABLE_PAUSE_S = 0.02
CREATES = 0.05  # of what a client of jobs asks, while the round has jobs left
POLICY_ROLE = "roles/ml.viewer"  # of no binding that a server makes by itself
NUMBERS = r"\d+"
PAUSE_S = 0.004  # between two questions: the machine is shared with what is tested


class Client(threading.Thread):
    """Acts while the gate is open. An act is a question or two; it never waits for the server to come back."""

    def __init__(self, world, name, seed):
        super().__init__(name=name, daemon=True)
        self.world, self.ledger, self.victim = world, world.ledger, world.victim
        self.random = random.Random(seed)
        self.session = requests.Session()
        self.turn = threading.Lock()  # held during an act: who takes it has the client idle
        self.ended = False

    def run(self):
        while not self.ended:
            if not self.victim.up.wait(0.2):
                continue
            self.world.gate.wait()
            with self.turn:
                if not self.world.gate.is_set() or self.ended:
                    continue
                try:
                    self.act()
                except Exception as error:  # a client that dies would prove nothing from then on
                    self.world.violation("client", f"{self.name} did not expect: {error!r}")
            time.sleep(PAUSE_S)

    def act(self):
        raise NotImplementedError

    def ask(self, method, path, **options):
        response = ask(self.victim, self.session, method, path, **options)
        if response is None:
            self.session.close()
            self.session = requests.Session()
            time.sleep(UNREACHABLE_PAUSE_S)
        return response

    def change(self, key, value, method, path, **options):
        """Asks for a change of one key. The answer; None: it is not known whether it was done."""
        operation = self.ledger.begin(key, value)
        response = self.ask(method, path, **options)
        if response is not None and response.status_code < 500 and response.status_code != 429:
            self.ledger.end(operation, response.ok)
        if response is not None and not response.ok:
            told = re.search(r'"message": "(.*)"', response.text)
            self.world.trouble(f"{method} {re.sub(NUMBERS, 'N', path)}: {response.status_code} {told[1] if told else response.text}"[:300])
        return response


class JobClient(Client):
    """Creates jobs, cancels some, and changes the labels and policies of those that are there."""

    def __init__(self, world, name, seed):
        super().__init__(world, name, seed)
        self.count = 0

    def act(self):
        own = [key[1] for key in self.ledger.keys("job") if key[1].startswith(self.name)]
        if self.random.random() < CREATES and self.world.take_job():
            return self.create()
        if not own:
            return None
        job_id = self.random.choice(own)
        what = self.random.random()
        if what < 0.03:
            return self.change(("cancel", job_id), True, "POST", f"/v1/projects/p/jobs/{job_id}:cancel")
        if what < 0.06:
            return self.change(("job", job_id), None, "DELETE", f"/trainyard/v1/projects/p/jobs/{job_id}")
        self.count += 1
        if what < 0.5:
            return self.change(("labels", job_id), str(self.count), "PATCH", f"/v1/projects/p/jobs/{job_id}",
                               params={"updateMask": "labels"}, json={"labels": {"n": str(self.count)}})
        binding = {"role": POLICY_ROLE, "members": [f"user:u{self.count}@example.com"]}
        return self.change(("policy", job_id), f"user:u{self.count}@example.com", "POST",
                           f"/v1/projects/p/jobs/{job_id}:setIamPolicy", json={"policy": {"bindings": [binding]}})

    def create(self):
        self.count += 1
        job_id = f"{self.name}_{self.count}"
        lines = self.random.choice((0, 1, 20, 300, 300, 3000))
        seconds = self.random.choice((0, 0, 0.2, 0.7, 2.0))
        status = 1 if self.random.random() < 0.1 else 0
        training = self.world.training_input(lines, seconds, status)
        kind = self.random.random()
        if kind < 0.12 and self.world.gangs:
            training |= {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "1"}
        elif kind < 0.16 and status == 0 and self.world.tuning_jobs:
            training["hyperparameters"] = {
                "goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 3, "maxParallelTrials": 2,
                "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 1, "scaleType": "UNIT_LINEAR_SCALE"}]}
        self.world.plans[job_id] = status
        made = self.change(("job", job_id), "there", "POST", "/v1/projects/p/jobs", json={"jobId": job_id, "trainingInput": training})
        if made is not None and 400 <= made.status_code < 429:
            self.ledger.forget(("job", job_id))
        return made
