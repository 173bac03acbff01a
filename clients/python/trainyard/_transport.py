"""HTTP beside google-api-python-client: streams, and Trainyard's own resources."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any, Dict, Optional

from trainyard import _errors

_TIMEOUT_S = 60.0
# The server is this machine or behind a tunnel; a proxy for the internet is not asked.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Transport:
    """Requests to one server."""

    def __init__(self, url: str, found: str) -> None:
        self.url = url
        self._found = found

    def unreachable(self, why: object) -> _errors.Unreachable:
        return _errors.Unreachable(
            "no Trainyard server answers at %s (from %s): %s. Start one with: trainyard serve" % (self.url, self._found, why))

    def open(self, path: str, body: Optional[Dict[str, Any]] = None, headers: Optional[Dict[str, str]] = None,
             timeout: float = _TIMEOUT_S) -> Any:
        """The answer as a stream; GET, or POST with a body. The caller closes it."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers={"Content-Type": "application/json", **(headers or {})})
        try:
            return _OPENER.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _errors.from_answer(error.read(), error.code) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            raise self.unreachable(getattr(error, "reason", error)) from None

    def json(self, path: str, body: Optional[Dict[str, Any]] = None) -> Any:
        with self.open(path, body) as answer:
            try:
                return json.load(answer)
            except (http.client.HTTPException, OSError) as error:  # it went away in the middle
                raise self.unreachable(error) from None
