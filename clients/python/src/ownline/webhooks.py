"""Verification of deliveries to a webhook."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from email.message import Message
from typing import Literal

from .api import Event


# A secret has at least 24 bytes (Standard Webhooks), in base64 with its `=` at the end.
_SECRET = re.compile(r"whsec_(?=(.{4})+$)[A-Za-z0-9+/]{32,}={0,2}")
_TIME = re.compile(r"[0-9]{1,12}")


class WebhookVerificationError(Exception):
    """A request that is not a delivery of Ownline, or whose time is too old. Answer it with 401."""


def verify(
    body: bytes,
    headers: Mapping[str, str] | Message,
    secret: str,
    *,
    signature: Literal["standard", "service"] = "standard",
    tolerance_seconds: float = 300,
) -> Event:
    """Verify a delivery, and return its event. During a rotation both secrets are accepted.

    `body` has the bytes as they arrived, before any JSON parser. `signature` chooses what is verified: `standard` is that
    of Standard Webhooks, which includes the time; `service` is `x-service-signature`, for receivers that get no other
    header. `tolerance_seconds` is the greatest difference between the time of a delivery and the own clock.

    Raises WebhookVerificationError, or ValueError for a text that is no secret of a webhook, because every sender can
    sign with an empty one.
    """
    if not _SECRET.fullmatch(secret):
        raise ValueError("The secret must be that of a webhook, whsec_….")
    given = {name.lower(): value for name, value in headers.items()}
    check = _is_standard if signature == "standard" else _is_service
    if not check(body, given, secret):
        raise WebhookVerificationError(f"The {signature} signature is missing or not valid.")
    if signature == "standard":
        _check_time(given.get("webhook-timestamp", ""), tolerance_seconds)
    event: Event = json.loads(body)
    return event


def _check_time(timestamp: str, tolerance_seconds: float) -> None:
    # int() also takes white space, underscores and the digits of other scripts.
    if not _TIME.fullmatch(timestamp):
        raise WebhookVerificationError("The time of the delivery is not a number of seconds.")
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookVerificationError("The time of the delivery is too far from the own clock.")


def _is_standard(body: bytes, given: Mapping[str, str], secret: str) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = _bytes_of(f"{given.get('webhook-id', '')}.{given.get('webhook-timestamp', '')}.") + body
    right = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(_is_equal(one, right) for one in given.get("webhook-signature", "").split(" "))


def _is_service(body: bytes, given: Mapping[str, str], secret: str) -> bool:
    right = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    names = ("x-service-signature", "x-service-signature-next")
    return any(_is_equal(given.get(name, ""), right) for name in names)


def _is_equal(given: str, right: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(_bytes_of(given), _bytes_of(right))


def _bytes_of(header: str) -> bytes:
    """Encode a header. Some frameworks give bytes that are no UTF-8 as surrogates, which no signature has."""
    return header.encode(errors="replace")
