"""Knows nothing of gs://: reads what came with its package, writes below the working directory, and copies only what it is told to."""

import argparse
import pathlib
import pkgutil
import shutil

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir", default="output")
parser.add_argument("--copy", help="local path of a folder")
args = parser.parse_args()

words = pkgutil.get_data("tutorials", "vocabulary.txt").decode().split()
model = pathlib.Path("checkpoints/epoch-1")
assert not model.exists(), "a fresh working directory"
model.mkdir(parents=True)
(model / "weights.txt").write_text(" ".join(words))
pathlib.Path("log.txt").write_text("done\n")
print("wrote", sorted(str(path) for path in pathlib.Path(".").rglob("*") if path.is_file()))
if args.copy:
    shutil.copytree("checkpoints", args.copy, dirs_exist_ok=True)
