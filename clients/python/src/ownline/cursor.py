"""Cursors, which keep the id of the last event that was handled."""

from __future__ import annotations

import os
from typing import Protocol


class Cursor(Protocol):
    """Keeps the id of the last event that was handled, so that a reader continues after it."""

    def load(self) -> str | None: ...

    def save(self, event_id: str) -> None: ...


class FileCursor:
    """A cursor in a file. A crash leaves the old or the new id, and never a part of one."""

    def __init__(self, path: str) -> None:
        self._path = path

    def load(self) -> str | None:
        try:
            with open(self._path, encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return None

    def save(self, event_id: str) -> None:
        with open(self._path + ".new", "w", encoding="utf-8") as file:
            file.write(event_id + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._path + ".new", self._path)
