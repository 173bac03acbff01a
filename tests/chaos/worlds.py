"""The worlds that there are: how an installation runs, and what is done to it."""

from damage import Damage
from fault_world import Faults
from installations import Authenticated, Isolated, OrdinaryUser, Strict, Upgraded, WithKeeper, WrongClock
from own_disk import PowerCuts, PowerCutsXfs
from tampering import Tampered
from world import World


class Root(World):
    """As root, on an ordinary directory."""


WORLDS: dict[str, type[World]] = {
    "root": Root, "power-ext4": PowerCuts, "power-xfs": PowerCutsXfs, "faults": Faults, "user": OrdinaryUser, "keeper": WithKeeper,
    "auth": Authenticated, "isolated": Isolated, "strict": Strict, "clock": WrongClock, "damage": Damage, "upgrade": Upgraded,
    "tampered": Tampered}
