"""Prints so many numbered lines with the time of printing, one every 20 ms."""

import sys
import time

if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        print("TICK", number, repr(time.time()), flush=True)
        time.sleep(0.02)
