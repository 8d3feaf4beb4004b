"""The management API on loopback: answers what a real broker answered, and fails to order."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
NOT_FOUND = (404, {"error": "Object Not Found", "reason": "Not Found"})
NOT_AUTHORISED = (
    401,
    {"error": "not_authorised", "reason": "User not authorised to access virtual host"},
)
VHOSTS = ("/", "a/b c")
Answer = tuple[int, Any]
Query = dict[str, str]


def load(version: str, name: str) -> Any:
    return json.loads((CAPTURES / version / "api" / f"{name}.json").read_text())


@dataclass
class CapturedBroker:
    """What it has, and what it was asked for."""

    version: str
    #: paths that get another answer, called with the query; ``None``: the usual one
    instead: dict[str, Callable[[Query], Answer | None]] = field(default_factory=dict)
    #: lists come whole, whatever page was asked for
    knows_pages: bool = True
    asked: list[tuple[str, Query]] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        api = CAPTURES / self.version / "api" / "queue"
        documents = [json.loads(file.read_text()) for file in sorted(api.iterdir())]
        self.queues = [document for document in documents if "name" in document]
        self.consumers = load(self.version, "consumers")
        self.channels = load(self.version, "channels")
        self.connections = load(self.version, "connections")
        self.nodes = load(self.version, "nodes")
        self.overview = load(self.version, "overview")
        self.whoami = load(self.version, "whoami")

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, target: str) -> Answer:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.asked.append((parts.path, query))
        other = self.instead.get(parts.path)
        found = other(query) if other is not None else None
        return found if found is not None else self._usual(parts.path, query)

    def _usual(self, path: str, query: Query) -> Answer:
        names = [unquote(part) for part in path.removeprefix("/api/").split("/")]
        match names:
            case ["overview" | "nodes" | "whoami" as name]:
                return 200, getattr(self, name)
            case ["deprecated-features"]:
                features = load(self.version, "deprecated_features")
                return NOT_FOUND if "error" in features else (200, features)
            case ["vhosts"]:
                return 200, load(self.version, "vhosts")
            case ["queues" | "consumers" | "channels" | "connections" as name]:
                return self._page(getattr(self, name), query)
            case ["queues", vhost] if vhost not in VHOSTS:
                return NOT_FOUND
            case ["queues", vhost]:
                return self._page([q for q in self.queues if q["vhost"] == vhost], query)
            case ["consumers", vhost]:
                rows = [c for c in self.consumers if c["queue"]["vhost"] == vhost]
                return self._page(rows, query)
            case ["vhosts", vhost, ("channels" | "connections") as name]:
                return self._page([r for r in getattr(self, name) if r["vhost"] == vhost], query)
            case ["queues", vhost, queue]:
                found = [q for q in self.queues if (q["vhost"], q["name"]) == (vhost, queue)]
                return (200, found[0]) if found else NOT_FOUND
            case ["channels" | "connections" as kind, name]:
                found = [row for row in getattr(self, kind) if row["name"] == name]
                return (200, self._whole(kind, found[0])) if found else NOT_FOUND
        return NOT_FOUND

    def _whole(self, kind: str, row: dict[str, Any]) -> dict[str, Any]:
        if kind != "channels":
            return row
        details = [c for c in self.consumers if c["channel_details"].get("name") == row["name"]]
        return {**row, "consumer_details": details}

    def _page(self, rows: list[Any], query: Query) -> Answer:
        if "name" in query:
            wanted = (
                query["name"].removeprefix("^(").removesuffix(")$").replace("\\", "").split("|")
            )
            rows = [row for row in rows if row["name"].lower() in [w.lower() for w in wanted]]
        columns = {c.split(".")[0] for c in query.get("columns", "").split(",")} - {""}
        if columns:
            rows = [{k: v for k, v in row.items() if k in columns} for row in rows]
        if "page" not in query or not self.knows_pages:
            return 200, rows
        page, size = int(query["page"]), int(query["page_size"])
        pages = -(-len(rows) // size)
        if page > max(1, pages):
            return 400, {"error": "page_out_of_range", "reason": "Page out of range"}
        items = rows[(page - 1) * size : page * size]
        return 200, {
            "items": items,
            "item_count": len(items),
            "filtered_count": len(rows),
            "total_count": len(rows),
            "page": page,
            "page_size": size,
            "page_count": pages,
        }


@contextlib.contextmanager
def serving_captures(broker: CapturedBroker) -> Iterator[CapturedBroker]:
    """The broker on a port of its own; status 0 closes the connection without an answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, document = broker.answer(self.path)
            if not status:
                self.close_connection = True
                return
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    broker.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield broker
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
