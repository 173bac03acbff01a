"""The worlds that there are: how an installation runs, and what is done to it."""

from clusters import Containers, OnSlurm
from damage import Damage
from fault_world import Faults
from installations import Authenticated, Isolated, OrdinaryUser, Strict, Upgraded, WithKeeper, WrongClock
from own_disk import PowerCuts, PowerCutsXfs
from tampering import Tampered
from world import World


class Root(World):
    """As root, on an ordinary directory."""


# In the order of their turns.
WORLDS: dict[str, type[World]] = {
    "root": Root, "power-ext4": PowerCuts, "power-xfs": PowerCutsXfs, "faults": Faults, "user": OrdinaryUser, "keeper": WithKeeper,
    "auth": Authenticated, "isolated": Isolated, "strict": Strict, "containers": Containers, "slurm": OnSlurm, "clock": WrongClock,
    "damage": Damage, "upgrade": Upgraded, "tampered": Tampered}
