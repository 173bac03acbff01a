"""What XGBoost says when it refuses something, in one line. Pure."""

from __future__ import annotations

import re

_WHERE = re.compile(r"^(b?['\"])?\[\d\d:\d\d:\d\d\]\s+\S+?:\d+:\s*")
_CHECK = re.compile(r"^Check failed: .*?: ?(?=\S)")
_COLLECTIVE = re.compile(
    r"/collective/|\[(allreduce|allgather|broadcast|comm|coll|tracker|socket|protocol)\.\w+\|"
)
_LENGTH_MAX = 400


def reason(error: Exception) -> str:
    """The reason in an XGBoostError, without its place in the library and the stack."""
    text = str(error).split("Stack trace:")[0].strip()
    text = _CHECK.sub("", _WHERE.sub("", text))
    text = " ".join(part.strip() for part in text.splitlines() if part.strip())
    if is_memory(error):
        text = "there is not enough memory for the data and the trees"
    return (text[:_LENGTH_MAX] or "no reason given").rstrip(". ")


def is_memory(error: Exception) -> bool:
    """Whether the library could not allocate."""
    return "bad_alloc" in str(error) or "bad allocation" in str(error)


def is_collective(error: Exception) -> bool:
    """Whether the replicas lost each other, rather than XGBoost refused data or parameters."""
    return _COLLECTIVE.search(str(error).split("[bt]")[0]) is not None
