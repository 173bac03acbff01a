"""A world around whose server something fails for a while."""

import time
from urllib.parse import quote

from faults import faults_here
from own_disk import OwnDisk
from store_clients import BUCKET


class Faults(OwnDisk):
    """Rounds in which something around the server fails for a while. When it is over, all has to go on by itself."""

    inodes = 2500
    tuning_jobs = False  # a trial's program writes its metric to the disk, and may fail where that is full

    def lives(self):
        for _ in range(3):
            self.start()
            time.sleep(self.random.uniform(0.1, 0.6))
            self.suffer(self.random.choice(faults_here())(self))

    def suffer(self, fault):
        ended, moment = self.ended(), time.monotonic()
        self.log(f"fault: {fault.name}")
        self.count(f"fault: {fault.name}")
        self.last_fault = float("inf")
        fault.begin()
        over = time.monotonic()
        try:
            for _ in range(self.random.randrange(1, 4)):
                time.sleep(self.random.uniform(0.1, 0.8))
                fault.again()
            self.look_meanwhile(fault)
            if fault.starts and self.random.random() < 0.5:
                self.killer.kill_server()
                self.start()
                self.look_meanwhile(fault)
        finally:
            self.last_fault = time.monotonic()
            if fault.ends_all:
                self.end_all()
                self.ledger.lose_since(moment, over)  # a sync that meets the disk's end may have been answered
                self.forgive(ended)
                self.tail.begin_again()
                self.disk.new_boot()
            fault.end()
        if self.victim.pid() and self.random.random() < 0.5:
            time.sleep(self.random.uniform(0, 1))
        if self.victim.process.poll() is None:
            self.killer.kill_server()
        elif not fault.ends_all:
            self.died(self.victim.process.returncode)

    def look_meanwhile(self, fault):
        if self.victim.process.poll() is not None:
            self.died(self.victim.process.returncode)
            return
        if fault.reads:
            for path in ("/v1/projects/p/jobs", f"/storage/v1/b/{BUCKET}/o"):
                shown = self.victim.request("GET", path)
                if not shown.ok:
                    self.violation("reads", f"during {fault.name}: GET {path}: {shown.status_code} {shown.text[:300]}")
        names = [key for key in self.ledger.keys("object") if None not in self.ledger.allowed(key) and key[1].startswith("obj")]
        if fault.deletes and names:
            with self.clients[1].turn:
                key = self.random.choice(names)
                operation = self.ledger.begin(key, None)
                gone = self.victim.request("DELETE", f"/storage/v1/b/{BUCKET}/o/{quote(key[1], safe='')}")
                if gone.status_code not in (200, 204, 404):
                    self.violation("deletes", f"during {fault.name}: DELETE {key[1]}: {gone.status_code} {gone.text[:300]}")
                if gone.status_code < 500:
                    self.ledger.end(operation, gone.ok)
