"""The client."""

from __future__ import annotations

import math
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial

from .api import Api, Event
from .cursor import Cursor
from .errors import OwnlineError
from .transport import Transport

# The longest time for which a request waits for an event.
EVENT_WAIT_SECONDS = 25
# The address of a server: the paths of operations follow its host.
URL = re.compile(r"https?://(\[[\da-f:.]+\]|[^\s/:?#@\[\]]+)(:\d+)?/?", re.IGNORECASE)


class Ownline:
    """A client of the API of an Ownline server. `api` has all operations; threads can share it.

    `url` and `api_key` are by default the environment's OWNLINE_URL and OWNLINE_API_KEY. `tries_max` counts the tries of
    a request in all; the waits between seven are 15.75 to 31.5 s together. `timeout_seconds` is the time for each read
    of an answer. The reader of events adds the 25 s that a request may wait.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        tries_max: int = 7,
        timeout_seconds: float = 60,
    ) -> None:
        url = os.environ.get("OWNLINE_URL") if url is None else url
        api_key = os.environ.get("OWNLINE_API_KEY") if api_key is None else api_key
        if not url or not api_key:
            raise ValueError("Set OWNLINE_URL and OWNLINE_API_KEY, or pass url and api_key.")
        if not URL.fullmatch(url):
            raise ValueError(
                f"The url must be like https://example.com or http://127.0.0.1:3000, without a path, not {url}."
            )
        self.api = Api(Transport(url, api_key, tries_max=tries_max, timeout_seconds=timeout_seconds))
        self.messages = Messages(self.api)
        timeout_seconds += EVENT_WAIT_SECONDS
        self.events = Events(
            partial(
                Transport, url, api_key, tries_max=math.inf, timeout_seconds=timeout_seconds, backoff_max_seconds=5.0
            )
        )


class Messages:
    """Sends and reads messages."""

    def __init__(self, api: Api) -> None:
        # Retries have the same Idempotency-Key, so that the message is sent once at most. Pass a key that you stored if
        # a send has to survive a crash of your program.
        self.send = api.send_message
        # All messages that match, newest first. `limit` is the size of a page.
        self.list = api.iterate_messages
        # Messages with the words or the contact of `q`, newest first.
        self.search = api.iterate_search_messages
        self.get = api.get_message
        self.cancel = api.cancel_message


class Events:
    """Reads events."""

    def __init__(self, connect: Callable[..., Transport]) -> None:
        self._connect = connect

    def read(
        self,
        *,
        cursor: Cursor | None = None,
        stop: threading.Event | None = None,
        on_gap: Callable[[str], object] | None = None,
    ) -> Iterator[Event]:
        """Read events, oldest first, and wait for new ones without an end.

        An event counts as handled when the next one is asked for; its id is then saved in the cursor. After a crash the
        reader continues there: each event arrives at least once. Without a cursor it begins with the oldest event. While
        the server fails, the reader tries again after 5 s at most, or as `Retry-After` says, up to two minutes. `stop`
        ends the reader after the event that is being handled. While it waits, it ends within 25 s if the server answers,
        else after its time-out.

        An event may be missing if the server deleted it before it was read, or was restored from a backup. The reader
        then calls `on_gap` with the id of the event after which others may be missing, and goes on with the events that
        are left. It may call it again for the same id. Without `on_gap` it issues a RuntimeWarning.
        """
        stop = stop or threading.Event()
        api = Api(self._connect(stop=stop))
        after = cursor.load() if cursor else None
        is_in_gap = False
        while not stop.is_set():
            try:
                page = api.list_events(after=after or None, wait=EVENT_WAIT_SECONDS)
            except OwnlineError:
                if stop.is_set():
                    return
                raise
            # Further pages may report the same gap, until an event after it was read. Earlier servers have no `gap`.
            has_gap = page.get("gap", False)
            if has_gap and after and not is_in_gap:
                (on_gap or warn_of_gap)(after)
            is_in_gap = has_gap
            for event in page["events"]:
                if stop.is_set():
                    return
                yield event
                after = event["id"]
                if cursor:
                    cursor.save(after)


def warn_of_gap(after: str) -> None:
    warnings.warn(f"Events after {after} may be missing: the server no longer has them.", RuntimeWarning, stacklevel=3)
