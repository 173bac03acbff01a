"""Model-parallel training: the first layers live in the master, the last ones in the worker.

Neither has the whole model. For each batch the master sends what its layers make of it, the worker goes on from there, and sends
back the gradient of what it was given.
"""

import argparse
import io
import json

import torch
import torch.distributed as dist

from trainer import job_dir

BATCH, HIDDEN = 64, 16


def batch(step):
    """Both replicas can make it: the master needs the features, the worker the labels."""
    generator = torch.Generator().manual_seed(step)
    features = torch.randn(BATCH, 2, generator=generator)
    return features, (features[:, :1] * features[:, 1:] > 0).float()


def train_front(args):
    layers = torch.nn.Sequential(torch.nn.Linear(2, HIDDEN), torch.nn.Tanh())
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
    for step in range(args.steps):
        optimizer.zero_grad()
        hidden = layers(batch(step)[0])
        dist.send(hidden.detach(), dst=1)
        gradient = torch.empty_like(hidden)
        dist.recv(gradient, src=1)
        hidden.backward(gradient)
        optimizer.step()
    return layers, {}


def train_back(args):
    layers = torch.nn.Sequential(torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
    right = []
    for step in range(args.steps):
        optimizer.zero_grad()
        hidden = torch.empty(BATCH, HIDDEN)
        dist.recv(hidden, src=0)
        hidden.requires_grad_()
        labels = batch(step)[1]
        output = layers(hidden)
        torch.nn.functional.binary_cross_entropy_with_logits(output, labels).backward()
        dist.send(hidden.grad, dst=0)
        optimizer.step()
        right.append(float(((output > 0) == (labels > 0.5)).float().mean()))
    last = right[-50:]
    return layers, {"accuracy": sum(last) / len(last), "accuracy_at_first": right[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    dist.init_process_group("gloo")  # by env://
    rank = dist.get_rank()
    torch.manual_seed(rank)
    layers, result = train_front(args) if rank == 0 else train_back(args)
    saved = io.BytesIO()
    torch.save(layers.state_dict(), saved)
    job_dir.write(args.job_dir, "model/part-%d.pt" % rank, saved.getvalue())
    result["parameters"] = sum(parameter.numel() for parameter in layers.parameters())
    job_dir.write(args.job_dir, "result-%d.json" % rank, json.dumps(result).encode())
    dist.barrier()  # the job ends with the master: let the worker write first


if __name__ == "__main__":
    main()
