"""A progress bar on stderr, as tqdm draws it, and a line on stdout that lacks its end for a while."""
import sys
import time

print("Reading", end="", flush=True)
for i in range(31):
    sys.stderr.write(f"\r{100 * i // 30:3d}%|{'#' * (i // 3):10}| {i}/30")
    sys.stderr.flush()
    time.sleep(0.1)
sys.stderr.write("\n")
print(" done", flush=True)
