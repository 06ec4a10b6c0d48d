import base64
import json
import os
import sys
import time
import urllib.request
from itertools import pairwise
from typing import Any

from ownline import FileCursor, Ownline, OwnlineError, webhooks

# A program of a customer, which clients.slow.test.ts checks strictly and runs. program.ts does the same.
command, *args = sys.argv[1:]
ownline = Ownline()


def show(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, separators=(",", ":")), flush=True)


class SkippedTime:
    """A clock whose waits take no time. `requests` has the time of each request."""

    waited = 0.0
    requests: list[float] = []

    def monotonic(self) -> float:
        return self.waited

    def sleep(self, seconds: float) -> None:
        self.waited += seconds


# With SKIP_WAITS the waits of the client take no time. The last line has those between two requests, in seconds.
skipped = SkippedTime()
open_url = urllib.request.OpenerDirector.open


def open_and_note(*given: Any, **named: Any) -> Any:
    skipped.requests.append(skipped.waited)
    return open_url(*given, **named)


if "SKIP_WAITS" in os.environ:
    setattr(time, "monotonic", skipped.monotonic)
    setattr(time, "sleep", skipped.sleep)
    setattr(urllib.request.OpenerDirector, "open", open_and_note)


def show_waits() -> None:
    if "SKIP_WAITS" in os.environ:
        show([later - earlier for earlier, later in pairwise(skipped.requests)])


def construct() -> None:
    show(isinstance(Ownline(args[0], args[1]).api.list_numbers()["numbers"], list))


def send() -> None:
    key = args[3] if len(args) > 3 else None
    accepted = ownline.messages.send({"from": args[0], "to": args[1], "content": args[2]}, idempotency_key=key)
    show([accepted["id"], ownline.messages.get(accepted["id"])["status"]])


def upload() -> None:
    with open(args[0], "rb") as file:
        content = file.read()
    for _ in range(3):
        show(ownline.api.upload_media(content, name="menu.png")["size"])


def list_messages() -> None:
    for message in ownline.messages.list(direction="outbound", limit=2):
        show(message["content"])


def search() -> None:
    for message in ownline.messages.search(q=args[0], limit=2):
        show(message["content"])


def opt_outs() -> None:
    ownline.api.create_opt_out("+14155550177")
    for opt_out in ownline.api.iterate_opt_outs():
        show(opt_out["contact"])


def create_webhook() -> None:
    client = Ownline(timeout_seconds=float(args[0]) if args else 60)
    show(client.api.create_webhook({"url": "https://example.com/", "events": ["message.sent"]})["active"])


def read() -> None:
    left = int(args[1])
    reader = Ownline(timeout_seconds=float(args[2]) if len(args) > 2 else 60)
    cursor = FileCursor(args[0])
    for event in reader.events.read(cursor=cursor, on_gap=lambda after: show(f"gap after {after}")):
        show(event["data"]["content"] if event["type"] == "message.received" else event["type"])
        left -= 1
        if left == 0:
            show_waits()
            os._exit(0)


def get() -> None:
    show(ownline.messages.get(args[0])["id"])


def verify() -> None:
    given = json.load(sys.stdin)
    body = base64.b64decode(given["body"])
    event = webhooks.verify(body, given["headers"], given["secret"], signature=given["signature"])
    show(event["data"]["sent_at"] if event["type"] == "message.sent" else event["type"])


commands = {
    "construct": construct,
    "send": send,
    "upload": upload,
    "list": list_messages,
    "search": search,
    "optOuts": opt_outs,
    "createWebhook": create_webhook,
    "read": read,
    "get": get,
    "verify": verify,
}
try:
    commands[command]()
except webhooks.WebhookVerificationError as error:
    show(str(error))
except OwnlineError as error:
    show([error.code, error.status, error.param, error.request_id is not None, error.message, error.idempotency_key])
show_waits()
