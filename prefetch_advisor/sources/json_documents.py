"""Text into intakes, one for each JSON document: which reader, and what to say of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake, SourceKind
from prefetch_advisor.sources import management, rabbitmqctl
from prefetch_advisor.sources.fields import shown
from prefetch_advisor.sources.json_kinds import document_list
from prefetch_advisor.sources.json_text import documents, repair
from prefetch_advisor.sources.recognise import EXPECTED

_DEFINITIONS = frozenset(("queues", "exchanges", "bindings"))
_FEATURE_FLAGS = frozenset(("name", "state", "stability"))


def read_json(
    text: str,
    where: str,
    kind: str | None = None,
    *,
    vhost: str | None = None,
    strict: bool = False,
) -> list[Intake]:
    """An intake for each JSON document of ``text``; ``vhost`` is that of rows that name none.

    Raises:
        InputError: not JSON, cut off, an error that the broker answered, nothing that is read, or
            (strict) a value that cannot be used.
    """
    text, repairs = repair(text)
    intakes = [
        _read_document(document, listed, printed_by, where, vhost, strict)
        for document, printed_by, listed in _grouped(documents(text, where), kind)
    ]
    if not intakes:
        raise InputError(f"{where}: expected {EXPECTED}, found no JSON document")
    if repairs:
        notes = tuple(f"{where}: {repair_note}" for repair_note in repairs)
        intakes[0] = replace(intakes[0], notes=(*notes, *intakes[0].notes))
    return intakes


def _grouped(found: Iterable[object], kind: str | None) -> Iterable[tuple[object, SourceKind, str]]:
    """Documents with their kind; rows that rabbitmqctl prints one by one are one list."""
    rows: list[object] = []
    waiting = ""
    for document in found:
        printed_by, listed = document_list(document)
        if kind is not None and listed in ("queues", "consumers", "channels", "connections"):
            printed_by = SourceKind(kind)
        single = printed_by is SourceKind.RABBITMQCTL and isinstance(document, dict)
        if rows and not (single and listed == waiting):
            yield rows, SourceKind.RABBITMQCTL, waiting
            rows = []
        if single:
            waiting = listed
            rows.append(document)
        else:
            yield document, printed_by, listed
    if rows:
        yield rows, SourceKind.RABBITMQCTL, waiting


def _read_document(
    document: object,
    listed: str,
    printed_by: SourceKind,
    where: str,
    vhost: str | None,
    strict: bool,
) -> Intake:
    if listed == "error" and isinstance(document, dict):
        raise InputError(f"{where}: {_answered(document)}")
    if listed == "empty":
        return Intake(
            where,
            notes=(
                f"{where}: an empty list: no queues or consumers, or a user who may not see any "
                "vhost, or a vhost that does not exist",
            ),
        )
    if listed == "unknown":
        raise InputError(
            f"{where}: is not one of the documents that can be read: expected {EXPECTED}, found "
            f"{_described(document)}"
        )
    if printed_by is SourceKind.RABBITMQCTL:
        return rabbitmqctl.read_document(document, listed, where, vhost=vhost, strict=strict)
    return management.read_document(document, listed, where, strict)


def _answered(document: Mapping[str, object]) -> str:
    error, reason = document.get("error"), document.get("reason")
    text = f"the broker answered with an error, {error}"
    if reason is not None and reason != error:
        text += f": {reason}"
    return " ".join(text.split())[:300]


def _described(document: object) -> str:
    row = document
    if isinstance(row, dict) and row.keys() >= _DEFINITIONS:
        return "/api/definitions (queues as they are declared, without figures)"
    if isinstance(document, list):
        row = next((item for item in document if isinstance(item, dict)), document)
    if isinstance(row, dict):
        if row.keys() >= _FEATURE_FLAGS:
            return "a list of feature flags"
        keys = ", ".join(key if key.isprintable() else shown(key) for key in list(row)[:6])
        what = "a list of objects" if isinstance(document, list) else "an object"
        return f"{what} with {keys[:120] or 'no keys'}"
    if isinstance(document, list):
        return "a list of plain values; timings are read as one number a line"
    return f"the value {document!r:.40}"
