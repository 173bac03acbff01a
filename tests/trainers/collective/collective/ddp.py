"""torch's DistributedDataParallel over gloo, with a checkpoint after each epoch."""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from collective import hit


def main():
    arguments = hit.parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    task = "chief-0" if rank == 0 else "worker-%d" % (rank - 1)
    path = os.path.join(arguments.folder, "checkpoint.pt")
    model = torch.nn.Linear(2, 1)
    first = 0
    if os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        first = saved["epoch"]
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for epoch in range(first, hit.EPOCHS):
        hit.hit(arguments, task, epoch)
        loss = parallel(torch.ones(8, 2)).square().mean()
        optimizer.zero_grad()
        loss.backward()  # waits for all replicas
        optimizer.step()
        if rank == 0:
            torch.save({"model": model.state_dict(), "epoch": epoch + 1}, path + ".new")
            os.replace(path + ".new", path)
    print("went from epoch %d to %d" % (first, hit.EPOCHS - 1), flush=True)
    dist.barrier()


if __name__ == "__main__":
    sys.exit(main())
