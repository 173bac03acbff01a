"""Synchronous training: DistributedDataParallel over gloo, one process for each replica, on the CPU."""

import argparse
import io
import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from trainer import cluster, job_dir


def rows(rank, world_size):
    """This replica's share of the same 1200 rows."""
    generator = torch.Generator().manual_seed(7)
    features = torch.randn(1200, 4, generator=generator)
    labels = features @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]])
    return features[rank::world_size], labels[rank::world_size]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--init", choices=["env", "tf-config", "cluster-spec"], default="env")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    place = cluster.find(args.init)
    dist.init_process_group("gloo", **place)
    rank, world_size = dist.get_rank(), dist.get_world_size()
    print("rank %d of %d by %s" % (rank, world_size, place["init_method"]), flush=True)

    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    features, labels = rows(rank, world_size)
    for _ in range(args.steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(features), labels)
        loss.backward()  # averages the gradients over all replicas
        optimizer.step()

    weights = [parameter.detach().clone() for parameter in model.parameters()]
    same = weights[0].clone()
    dist.broadcast(same, src=0)
    job_dir.write(args.job_dir, "ranks/%d.json" % rank, json.dumps(
        {"rank": rank, "world_size": world_size, "same_weights": bool(torch.equal(same, weights[0]))}).encode())
    if rank == 0:
        saved = io.BytesIO()
        torch.save(model.module.state_dict(), saved)
        job_dir.write(args.job_dir, "model.pt", saved.getvalue())
        job_dir.write(args.job_dir, "result.json", json.dumps(
            {"loss": float(loss), "weights": weights[0].flatten().tolist(), "torch": torch.__version__}).encode())
    dist.barrier()  # nobody leaves before all are done


if __name__ == "__main__":
    main()
