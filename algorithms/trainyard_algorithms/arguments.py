"""An algorithm's arguments, by its table in tables/. The server checks a new job by the same table and
rules."""

import difflib
import fnmatch
import json
import math
import operator
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from types import SimpleNamespace
from typing import Any

from trainyard_algorithms.failure import UserError

JOB_DIR = {
    "name": "job-dir",
    "type": "path",
    "required": True,
    "help": "Where outputs go.",
    "source": "documented",
}
TRUE, FALSE = ("true", "1"), ("false", "0")  # in any case
ROUNDING = 1e-9  # of a sum of shares


def table(name: str) -> dict[str, Any]:
    """The algorithm's table. @raises FileNotFoundError: there is no such algorithm."""
    text = resources.files("trainyard_algorithms").joinpath("tables", f"{name}.json").read_text("utf-8")
    result: dict[str, Any] = json.loads(text)
    return result


def parse(name: str, argv: Sequence[str]) -> SimpleNamespace:
    """The arguments of algorithm `name`; `-` and `_` are the same in names, and attributes have `_`.

    Every argument of the table is an attribute: as given (the last time, if several), else its default,
    else None (a flag: False). `job_dir` is one too.
    @raises UserError: naming the argument."""
    algorithm = table(name)
    return check(algorithm["arguments"], argv, algorithm.get("sums", ()))


def check(
    arguments: Sequence[dict[str, Any]], argv: Sequence[str], sums: Sequence[dict[str, Any]] = ()
) -> SimpleNamespace:
    """parse() for a table's lists of arguments and sums."""
    every = [*arguments, JOB_DIR]
    by_name = {
        attribute(spelling): each for each in every for spelling in (each["name"], *each.get("aliases", ()))
    }
    seen = {attribute(each["name"]): start(each) for each in every}
    given: set[str] = set()
    for spelling, text in pairs(argv, by_name):
        argument = by_name[attribute(spelling)]
        seen[attribute(argument["name"])] = value(argument, text)
        given.add(attribute(argument["name"]))
    for each in every:
        needs(each, seen, given)
    for each in sums:
        adds_up(each, by_name, seen, given)
    return SimpleNamespace(**seen)


def needs(argument: dict[str, Any], seen: dict[str, Any], given: set[str]) -> None:
    """@raises UserError: a required argument is missing, or one that a given one requires."""
    name = attribute(argument["name"])
    if argument.get("required") and name not in given:
        raise UserError(f"--{argument['name']} is required: {argument.get('help', '')}".rstrip(": "))
    for other, pattern in argument.get("required_when", {}).items():
        held = printed(seen[attribute(other)])
        if name not in given and fnmatch.fnmatchcase(held, pattern):
            raise UserError(f"--{other}={held} needs --{argument['name']}.")
    other = argument.get("requires")
    if name in given and seen[name] is not False and other and not on(seen[attribute(other)]):
        raise UserError(f"--{argument['name']} needs --{other}.")


def on(held: Any) -> bool:
    """Whether what `requires` names is there: given or true."""
    return held is not None and held is not False


def printed(held: Any) -> str:
    """A value as it is written; '' if there is none."""
    if isinstance(held, bool):
        return "true" if held else "false"
    return "" if held is None else ",".join(map(str, held)) if isinstance(held, list) else str(held)


def adds_up(
    limit: dict[str, Any], by_name: dict[str, dict[str, Any]], seen: dict[str, Any], given: set[str]
) -> None:
    """@raises UserError: arguments are together more than they may be. One of `unless` that is given takes
    the argument at its place out of the sum, and so does one that the argument requires and that is not
    on."""
    unless = [*limit.get("unless", ()), *[None] * len(limit["arguments"])]
    total, told = 0.0, []
    for name, other in zip(limit["arguments"], unless):
        requires = by_name[attribute(name)].get("requires")
        if (other and attribute(other) in given) or (requires and not on(seen[attribute(requires)])):
            continue
        held = seen[attribute(name)] or 0
        total += held
        told.append(f"--{name}={held:g}" + ("" if attribute(name) in given else " (default)"))
    if total > limit["max"] + ROUNDING:
        raise UserError(f"{' and '.join(told)} are {total:g} together: at most {limit['max']:g}.")


def pairs(argv: Sequence[str], by_name: dict[str, dict[str, Any]]) -> Iterable[tuple[str, str | None]]:
    """(name, text) of each argument; the text of a bare flag is None."""
    place = 0
    while place < len(argv):
        token = argv[place]
        place += 1
        if not re.match(r"--?[A-Za-z]", token):
            raise UserError(f"{token!r} is not an argument: write --NAME=VALUE.")
        spelling, equals, text = token.lstrip("-").partition("=")
        argument = by_name.get(attribute(spelling))
        if argument is None:
            raise UserError(unknown(spelling, by_name))
        if equals:
            yield spelling, text
        elif argument["type"] == "flag":
            yield spelling, None
        elif place == len(argv) or argv[place].startswith("--"):
            raise UserError(f"--{spelling} needs a value: write --{spelling}=VALUE.")
        else:
            yield spelling, argv[place]
            place += 1


def unknown(spelling: str, by_name: dict[str, dict[str, Any]]) -> str:
    """The text about an argument that there is not."""
    names = sorted({each["name"] for each in by_name.values()})
    near = difflib.get_close_matches(attribute(spelling), by_name, 1)
    hint = f" Did you mean --{near[0]}?" if near else ""
    return f"There is no argument --{spelling}.{hint} There are: {', '.join('--' + each for each in names)}."


def attribute(name: str) -> str:
    return name.replace("-", "_")


def start(argument: dict[str, Any]) -> Any:
    """What an argument is that is not given: its default, parsed if the table has it as a text, as of
    lists."""
    default = argument.get("default", False if argument["type"] == "flag" else None)
    if isinstance(default, str) and default:
        return value(argument, default)
    return [*default] if isinstance(default, list) else default


def value(argument: dict[str, Any], text: str | None) -> Any:
    """The value of `text` (None: a bare flag). @raises UserError: it is not of the type, or out of bounds."""
    name, kind = argument["name"], argument["type"]
    if text is None:
        return True
    if not text:
        raise UserError(f"--{name} has no value: leave the argument out, or write --{name}=VALUE.")
    if kind in ("flag", "bool"):
        return truth(name, text)
    if kind in ("ints", "floats"):
        return [number(argument, each.strip(), kind == "ints") for each in text.split(",")]
    if kind in ("int", "float"):
        return number(argument, text, kind == "int")
    choices = argument.get("choices")
    if choices and text not in choices:
        near = difflib.get_close_matches(text, choices, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(f"--{name}={text}: it is one of {', '.join(choices)}.{hint}")
    return text


def truth(name: str, text: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise UserError(f"--{name}={text}: it is true or false.")


def number(argument: dict[str, Any], text: str, whole: bool) -> int | float:
    """A number within the argument's bounds. `5000.0` is a whole number: a tuner may write it so."""
    name = argument["name"]
    try:
        result: int | float = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text)
    except ValueError:
        result = math.nan
    if not math.isfinite(result) or "_" in text or (whole and result != int(result)):
        raise UserError(f"--{name}={text}: it is a {'whole number' if whole else 'number'}.")
    result = int(result) if whole else float(result)
    for bound, holds, words in (
        ("min", operator.ge, "at least"),
        ("max", operator.le, "at most"),
        ("above", operator.gt, "above"),
        ("below", operator.lt, "below"),
    ):
        if bound in argument and not holds(result, argument[bound]):
            raise UserError(f"--{name}={text}: it must be {words} {argument[bound]}.")
    choices = argument.get("choices")
    if choices and result not in map(float, choices):
        raise UserError(f"--{name}={text}: it is one of {', '.join(map(str, choices))}.")
    return result
