"""A client of Ownline, a self-hosted iMessage API."""

from . import api, webhooks
from .client import Ownline
from .cursor import Cursor, FileCursor
from .errors import OwnlineError

__all__ = ["Cursor", "FileCursor", "Ownline", "OwnlineError", "api", "webhooks"]
