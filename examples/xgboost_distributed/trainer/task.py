"""One boosted model from rows on several replicas, with XGBoost's own collective: no Dask, no Spark.

The master runs XGBoost's tracker and says on its port of the cluster where that is; all then train together, each on its own rows.
"""

import argparse
import json
import os
import socket
import threading
import time

import numpy as np
import xgboost
from xgboost.tracker import RabitTracker

from trainer import job_dir


def rows(rank, count, seed=0):
    generator = np.random.RandomState(seed + rank)
    features = generator.normal(size=(count, 5))
    return features, ((features[:, 0] * features[:, 1] + features[:, 2]) > 0).astype(int)


def serve_tracker(address, world_size):
    """Starts XGBoost's tracker, which picks a port of its own, and tells everybody who connects to `address` where it is."""
    tracker = RabitTracker(n_workers=world_size, host_ip=socket.gethostbyname(address[0]))
    tracker.start()
    place = json.dumps(tracker.worker_args()).encode()
    listener = socket.create_server(("", address[1]))

    def answer():
        for _ in range(world_size):
            with listener.accept()[0] as peer:
                peer.sendall(place)

    threading.Thread(target=answer, daemon=True).start()
    return tracker


def ask(address, patience=120):
    """What serve_tracker says; the master may take longer to begin than we do."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with socket.create_connection(address, timeout=patience) as peer:
                return json.loads(peer.makefile().read())
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--rows", type=int, default=2000, help="of each replica")
    args = parser.parse_args()
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    tracker = serve_tracker(master, world_size) if rank == 0 else None
    with xgboost.collective.CommunicatorContext(**ask(master), dmlc_task_id="%03d" % rank, dmlc_retry=20):
        mine = xgboost.DMatrix(*rows(rank, args.rows))
        history = {}
        model = xgboost.train({"objective": "binary:logistic", "eval_metric": "error", "max_depth": 4, "nthread": 1},
                              mine, num_boost_round=args.rounds, evals=[(mine, "train")], evals_result=history,
                              verbose_eval=False)
        total = xgboost.collective.allreduce(np.array([mine.num_row()]), xgboost.collective.Op.SUM)
        saved = bytes(model.save_raw("json"))
        reference = xgboost.collective.broadcast(saved if xgboost.collective.get_rank() == 0 else None, 0)
        job_dir.write(args.job_dir, "ranks/%d.json" % rank, json.dumps(
            {"world_size": xgboost.collective.get_world_size(), "rows": int(total[0]),
             "same_model": reference == saved}).encode())
    if rank == 0:
        held, labels = rows(1000, 1000)
        accuracy = float(((model.predict(xgboost.DMatrix(held)) > 0.5) == labels).mean())
        job_dir.write(args.job_dir, "model.json", saved)
        job_dir.write(args.job_dir, "result.json", json.dumps(
            {"accuracy": accuracy, "train_error": history["train"]["error"][-1], "xgboost": xgboost.__version__}).encode())
        tracker.wait_for()  # until the others have left, too


if __name__ == "__main__":
    main()
