"""Says when the first instruction of a user's module ran."""

import time

print("FIRST", repr(time.time()), flush=True)
