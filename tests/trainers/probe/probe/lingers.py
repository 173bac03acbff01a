"""Says when its first instruction ran, and goes on for a moment: the others of its gang have begun by then."""

import time

print("FIRST", repr(time.time()), flush=True)
time.sleep(1)
