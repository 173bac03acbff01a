"""XGBoost on a master and workers. Stands for gcr.io/cloud-ml-algos/xgboost_dist*.

Each replica's process watches over a child that trains (xgb/process.py says why). The master listens on its
address of TF_CONFIG; the workers connect to it and are told what to do (xgb/master.py).
"""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING

from trainyard_algorithms.failure import UserError, listen, run
from trainyard_algorithms.paths import JobFolder
from trainyard_algorithms.report import Reporter
from trainyard_algorithms.xgb import checkpoints, cluster, metrics, parameters

if TYPE_CHECKING:
    from pathlib import Path

NAME = "xgboost_dist"
LOG = logging.getLogger(__name__)


def main(args: SimpleNamespace) -> None:
    """Trains by args of tables/xgboost_dist.json. UserError: see there; of any replica, on all of them.
    Stopped: this replica was told to stop; the master's model is that of the rounds that were done."""
    here = cluster.parse(os.environ)
    chosen = parameters.settings(args, NAME, replicas=here.size)
    metrics.parse(args.eval_metric)
    if here.rank == 0:
        for note in parameters.settings(
            args, NAME, device="cuda" if has_gpu() else "cpu", replicas=here.size
        ).notes:
            LOG.info("Note: %s.", note)
        lead(args, here)
    else:
        from trainyard_algorithms.xgb.worker import Worker

        asyncio.run(Worker(here, arguments(args), has_gpu()).run())
        LOG.info("The training of %d rounds is done; the master has the model.", chosen.rounds)


def arguments(args: SimpleNamespace) -> dict[str, object]:
    """What all replicas have to have alike."""
    return dict(vars(args))


def lead(args: SimpleNamespace, here: cluster.Cluster) -> None:
    """The master's part."""
    from trainyard_algorithms.xgb.master import Job, Master

    folder = JobFolder(args.job_dir)
    saved = folder.folder("checkpoints")
    mark = {"job": os.environ.get("CLOUD_ML_JOB_ID", ""), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "")}
    if checkpoints.begin(saved, {**mark, "arguments": arguments(args)}):
        LOG.info("This training was begun before.")
    if checkpoints.finished(saved):
        LOG.info("It was done by then.")
        clear(folder, saved, mark["job"])
        LOG.info("The model is %s/model/model.bst.", args.job_dir.rstrip("/"))
        return
    if not args.validation_data_path:
        LOG.info("There are no validation data: the metrics are those of the training data.")
    reporter = Reporter(None, "validation" if args.validation_data_path else "training")
    pool = ThreadPoolExecutor(1)

    def publish_now() -> None:
        try:
            folder.publish()
        except (OSError, UserError) as error:  # a file may be gone by now; the next time does it
            LOG.warning("The checkpoints cannot be written to %s now: %s", args.job_dir, error)

    def publish() -> None:
        pool.submit(publish_now)

    def finish() -> None:
        folder.publish()
        checkpoints.finish(saved)  # after the model, so that a restart finds it
        folder.publish()

    def keep(rounds: int, checkpoint: Path, found: dict[str, float]) -> None:
        import xgboost as xgb

        from trainyard_algorithms.xgb import saving

        saving.save(xgb.Booster(model_file=checkpoint), folder.folder("model"), saving.labels(found, rounds))
        folder.publish()  # no end is noted: who starts again goes on
        LOG.info(
            "Told to stop: the model of %d rounds is %s/model/model.bst.", rounds, args.job_dir.rstrip("/")
        )

    job = Job(
        arguments=arguments(args),
        checkpoints=saved,
        output=folder.folder("model"),
        tag=os.environ.get("CLOUD_ML_HP_METRIC_TAG", ""),
        gpu=has_gpu(),
        report=reporter.report,
        publish=publish,
        finish=lambda: pool.submit(finish).result(),
        keep=lambda *of_model: pool.submit(keep, *of_model).result(),
    )
    with pool:
        asyncio.run(Master(here, job).run())
    listen()
    clear(folder, saved, mark["job"])
    LOG.info("The model is %s/model/model.bst.", args.job_dir.rstrip("/"))


def clear(folder: JobFolder, saved: Path, job: str) -> None:
    """After a training. Of a job it stays noted that it is done: its workers end, and a master that starts
    again would wait for them. Without a job the same command is a new training."""
    if job:
        checkpoints.clear_models(saved)
    else:
        checkpoints.clear(saved)
    folder.publish()


def has_gpu() -> bool:
    """Whether this XGBoost can use GPUs and the driver has one. No GPU memory is taken."""
    import ctypes

    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
            return False
    except OSError:
        return False
    import xgboost  # takes seconds to load

    return count.value > 0 and bool(xgboost.build_info().get("USE_CUDA"))


if __name__ == "__main__":
    run(NAME, main)
