"""What can go wrong, in the server's own words."""

from __future__ import annotations

import json
from typing import Any, Optional


class Error(Exception):
    """Base of all errors of this package. `code`: the HTTP status of the answer, if there was one."""

    def __init__(self, message: str, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code


class Unreachable(Error):
    """No server answers."""


class JobFailed(Error):
    """The job did not succeed; the message is the server's diagnosis."""

    def __init__(self, message: str, job: Any) -> None:
        super().__init__(message)
        self.job = job


def from_answer(body: bytes, code: int) -> Error:
    """The error that the server answered with: its sentence, and what is wrong with which field."""
    try:
        error = json.loads(body.decode())["error"]
        message = str(error["message"])
    except (ValueError, KeyError, TypeError):
        return Error("the server answered with status %d: %s" % (code, body.decode(errors="replace").strip()), code)
    for detail in error.get("details", []):
        for violation in detail.get("fieldViolations", []):
            said = str(violation.get("description", ""))
            if said and said not in message:
                message += "\n%s: %s" % (violation.get("field", ""), said)
    return Error(message, code)
