"""The error of a request."""

from __future__ import annotations

from typing import Any


class OwnlineError(Exception):
    """A request that was refused, that failed, or that got no answer, after all retries.

    `code` is one of the server, `no_answer` or `unreadable_answer`. Without an answer `status` is 0, and `__cause__` is
    the error of the connection.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        fields: dict[str, Any] | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        # All fields of the error: with `plan_limit_exceeded` also `limit`, `current`, `upgrade_url` and `resets_at`;
        # with a recipient that opted out also `opted_out_at`.
        self.fields: dict[str, Any] = fields or {}
        # The field, query parameter or header that was refused.
        self.param: str | None = self.fields.get("param")
        # The id of the request in the logs of the server.
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        # The key of a send. A later call with the same key and fields sends the message once at most.
        self.idempotency_key = idempotency_key
