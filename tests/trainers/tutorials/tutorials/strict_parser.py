"""argparse without parse_known_args, which insists on --job-dir and knows the types of everything."""

import argparse
import sys

parser = argparse.ArgumentParser(prog="task.py", allow_abbrev=False)
parser.add_argument("--job-dir", required=True)
parser.add_argument("--layers", type=int, nargs="+", required=True)
parser.add_argument("--dropout", type=float, required=True)
parser.add_argument("--optimizer", choices=["sgd", "adam"], required=True)
parser.add_argument("--no-augment", dest="augment", action="store_false")
parser.add_argument("train_file")
args = parser.parse_args(sys.argv[1:])
with open(args.job_dir.replace("gs://", "/gcs/") + "/args.txt", "w") as file:
    file.write(repr(sorted(vars(args).items())))
