"""The master prints so many lines per second for ever, a hundredth of them every 10 ms; the others wait."""

import json
import os
import sys
import time


def main():
    if json.loads(os.environ["TF_CONFIG"])["task"]["type"] != "master":
        while True:
            time.sleep(3600)
    lines = "".join(
        f"step {number} of the training: loss 0.123456, accuracy 0.987654\n"
        for number in range(int(sys.argv[1]) // 100)
    )
    while True:
        sys.stdout.write(lines)
        sys.stdout.flush()
        time.sleep(0.01)


if __name__ == "__main__":
    main()
