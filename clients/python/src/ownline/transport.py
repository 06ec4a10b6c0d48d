"""Requests with retries, by the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import random
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import OwnlineError

BACKOFF_FIRST_SECONDS = 0.5
# The server's rate limits are per minute, so waits are shorter. If an answer asks for a longer wait, the request fails
# at once. A request without a limit of tries waits this long instead.
RETRY_AFTER_MAX_SECONDS = 120.0


class _EveryAnswer(urllib.request.HTTPErrorProcessor):
    """Returns answers of every status. So no redirect is followed: another host would get the API key."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class Transport:
    """Makes requests, and repeats them after a network error, a time-out, 429 and 5xx.

    It repeats GET, PUT and requests with an Idempotency-Key; the key stays the same. Other requests are repeated after
    429 only, because the server did not accept them then. After `stop` it repeats no request.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        tries_max: float,
        timeout_seconds: float,
        backoff_max_seconds: float = 30.0,
        stop: threading.Event | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._api_key = api_key
        self._tries_max = tries_max
        self._timeout_seconds = timeout_seconds
        self._backoff_max_seconds = backoff_max_seconds
        self._stop = stop or threading.Event()
        self._opener = urllib.request.build_opener(_EveryAnswer)

    def __call__(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: object = None,
        headers: dict[str, str | None] | None = None,
    ) -> Any:
        is_file = isinstance(body, bytes)
        parameters = {name: _shown(value) for name, value in (query or {}).items() if value is not None}
        request = urllib.request.Request(
            self._url + path + ("?" + urllib.parse.urlencode(parameters) if parameters else ""),
            data=body if body is None or is_file else json.dumps(body).encode(),
            method=method,
            headers={"x-api-key": self._api_key, **_without_none(headers)},
        )
        if body is not None:
            request.add_header("content-type", "application/octet-stream" if is_file else "application/json")
        is_repeatable = method in ("GET", "PUT") or request.has_header("Idempotency-key")
        tries = 0
        may_have_arrived = False
        while True:
            tries += 1
            error: OwnlineError
            try:
                return self._try_once(request)
            except OwnlineError as refusal:
                error = refusal
                # A proxy can answer 5xx after the server accepted the request.
                may_have_arrived = may_have_arrived or error.status >= 500
            except (OSError, http.client.HTTPException) as cause:
                # urllib raises URLError before it has sent the whole request, and other errors later.
                may_have_arrived = may_have_arrived or not isinstance(cause, urllib.error.URLError)
                error = _error_without_answer(request, cause, may_have_arrived)
            temporary = error.status == 429 or (is_repeatable and (error.status == 0 or error.status >= 500))
            retry_after = error.retry_after_seconds or 0.0
            too_long = retry_after > RETRY_AFTER_MAX_SECONDS and math.isfinite(self._tries_max)
            if not temporary or tries >= self._tries_max or too_long:
                raise error
            backoff = min(self._backoff_max_seconds, BACKOFF_FIRST_SECONDS * 2.0 ** min(tries - 1, 16))
            self._sleep(max(backoff * random.uniform(0.5, 1), min(retry_after, RETRY_AFTER_MAX_SECONDS)))
            if self._stop.is_set():
                raise error

    def _sleep(self, seconds: float) -> None:
        # Event.wait would deadlock with a signal handler that calls set while this thread has the lock of the event.
        end = time.monotonic() + seconds
        while not self._stop.is_set() and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))

    def _try_once(self, request: urllib.request.Request) -> Any:
        with self._opener.open(request, timeout=self._timeout_seconds) as answer:
            text = answer.read()
        if 200 <= answer.status < 300 and "json" in answer.headers.get("content-type", ""):
            # A proxy can cut the end of an answer off.
            with contextlib.suppress(ValueError):
                return json.loads(text)
        raise _error_of(request, answer.status, answer.headers, text)


def _without_none(headers: dict[str, str | None] | None) -> dict[str, str]:
    return {name: value for name, value in (headers or {}).items() if value is not None}


def _error_without_answer(request: urllib.request.Request, cause: Exception, may_have_arrived: bool) -> OwnlineError:
    """The error of a request without an answer. `may_have_arrived` says that the server may have one of its tries."""
    is_open = may_have_arrived and request.get_method() != "GET"
    accepted = ", but the server may have accepted the request" if is_open else ""
    message = f"{request.full_url} gave no answer{accepted}: {_reason_of(cause)}"
    error = OwnlineError("no_answer", message, idempotency_key=request.get_header("Idempotency-key"))
    error.__cause__ = cause
    return error


def _reason_of(cause: Exception) -> str:
    reason = cause.reason if isinstance(cause, urllib.error.URLError) else cause
    match reason:
        case ConnectionRefusedError():
            return "connection refused. Is the service running at this address?"
        case socket.gaierror():
            return "unknown host: its name was not resolved"
        case ssl.SSLCertVerificationError():
            return "TLS failed: the certificate is not trusted"
        case ssl.SSLError() if isinstance(cause, urllib.error.URLError):
            return "TLS failed. Does the service have https at this address?"
        case TimeoutError():
            return "time-out"
    return str(reason)


def _error_of(request: urllib.request.Request, status: int, headers: Message, text: bytes) -> OwnlineError:
    try:
        fields: dict[str, Any] = json.loads(text)["error"]
        code, message = str(fields["code"]), str(fields["message"])
    except (ValueError, KeyError, TypeError):
        fields = {}
        code, message = "unreadable_answer", f"{request.full_url} gave an answer ({status}) that is not one of Ownline."
    return OwnlineError(
        code,
        message,
        status=status,
        fields=fields,
        request_id=headers.get("request-id"),
        retry_after_seconds=_read_retry_after(headers.get("retry-after", "")),
        idempotency_key=request.get_header("Idempotency-key"),
    )


def _read_retry_after(header: str) -> float | None:
    """Read Retry-After: a number of seconds as the server sends it, or a date, as some proxies do."""
    try:
        if re.fullmatch("[0-9]+", header):
            return float(header)
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
