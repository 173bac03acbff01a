"""The PyTorch tutorial: a Dataset read by worker processes, nn.Module, checkpoints of state_dict, the best one kept."""

import argparse
import os

import torch
from google.cloud import storage
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spirals(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, index):
        angle, side = index / 100, index % 2
        point = torch.tensor([angle * torch.cos(torch.tensor(angle + 3.14159 * side)), angle * torch.sin(torch.tensor(angle + 3.14159 * side))])
        return point, side


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    bucket, folder = args.job_dir[len("gs://"):].split("/", 1)
    bucket = storage.Client().bucket(bucket)
    losses = []
    for epoch in range(args.epochs):
        total = 0.0
        for points, sides in DataLoader(Spirals(), batch_size=50, shuffle=True, num_workers=2):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(points), sides)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
        if total == min(losses):
            torch.save({"epoch": epoch, "model": model.state_dict()}, "/tmp/best.pt")
            bucket.blob(f"{folder}/best.pt").upload_from_filename("/tmp/best.pt")
    bucket.blob(f"{folder}/best.pt").download_to_filename("again.pt")
    model.load_state_dict(torch.load("again.pt")["model"])
    bucket.blob(f"{folder}/losses.txt").upload_from_string(" ".join(map(str, losses)))
    os.remove("again.pt")


if __name__ == "__main__":
    main()
