"""Lists of ``rabbitmqctl --formatter erlang``, alone or among tables in one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.erlang_terms import Map, Tuple, read_term
from prefetch_advisor.sources.rabbitmqctl import read_document
from prefetch_advisor.sources.rabbitmqctl_columns import COLUMNS, IDENTITY, header_list
from prefetch_advisor.sources.rabbitmqctl_text import nothing_listed, read_text
from prefetch_advisor.sources.recognise import (
    ERLANG,
    ERLANG_EMPTY,
    is_decoration,
    preamble,
)
from prefetch_advisor.sources.shell_lines import asked, is_prompt


@dataclass(frozen=True, slots=True)
class _List:
    """One list, where it stands, and what announced it."""

    line: int
    rows: tuple[dict[str, object], ...]
    listed: str | None = None
    vhost: str | None = None


def read_lists(text: str, where: str, strict: bool = False) -> list[Intake]:
    """An :class:`Intake` for each list in ``text``, in order, those of tables around them too.

    Raises:
        InputError: a list that is cut off or of nothing that is read, or as `read_text` does.
    """
    intakes = []
    for part in _parts(text, where):
        if isinstance(part, str):
            intakes += read_text(part, where, strict)
        else:
            intakes.append(_intake(part, where, strict))
    return intakes


def _intake(one: _List, where: str, strict: bool) -> Intake:
    place = f"{where}:{one.line}"
    listed = one.listed if one.listed in COLUMNS else None
    for row in one.rows:
        listed = header_list(list(row), listed) or listed
        if listed is not None:
            break
    if listed is None or (one.rows and not any(_identified(row, listed) for row in one.rows)):
        columns = ", ".join(one.rows[0]) if one.rows else "none"
        raise InputError(
            f"{place}: expected a list of queues, consumers, channels or connections with the "
            f"column that names each ({', '.join(IDENTITY.values())}), found columns {columns}"
        )
    if not one.rows:
        return nothing_listed(listed, one.vhost, place, where)
    return read_document(list(one.rows), listed, where, vhost=one.vhost, strict=strict)


def _identified(row: dict[str, object], listed: str) -> bool:
    return IDENTITY[listed] in row or (listed == "channels" and "name" in row)


def _parts(text: str, where: str) -> Iterator[str | _List]:
    """The lists, and the text around them, which keeps its line numbers."""
    position = 0
    for start, end, rows in _terms(text, where):
        before = text[position:start]
        kept, listed, vhost = _announced(before)
        yield from _rest(text, position, kept)
        yield _List(text.count("\n", 0, start) + 1, rows, listed, vhost)
        position = end
    yield from _rest(text, position, text[position:])


def _rest(text: str, position: int, part: str) -> Iterator[str]:
    lines = part.split("\n")
    if any(line.strip() and not is_prompt(line.strip()) for line in lines) or part == text:
        yield "\n" * text.count("\n", 0, position) + part


def _terms(text: str, where: str) -> Iterator[tuple[int, int, tuple[dict[str, object], ...]]]:
    """Where each list begins and ends, and its rows."""
    empty = [(start, end) for start, end in _empty_ones(text)]
    position = 0
    while True:
        found = ERLANG.search(text, position)
        while empty and empty[0][0] < position:
            del empty[0]
        if empty and (found is None or empty[0][0] < found.start()):
            start, position = empty.pop(0)
            yield start, position, ()
            continue
        if found is None:
            return
        term = read_term(text, found.end())
        if term is None:
            line = text.count("\n", 0, found.start()) + 1
            raise InputError(
                f"{where}:{line}: expected an Erlang term, as rabbitmqctl --formatter erlang "
                "prints it: it is cut off or broken"
            )
        start, position = found.start(), term[1]
        yield start, position, tuple(_rows(term[0]))


def _empty_ones(text: str) -> Iterator[tuple[int, int]]:
    """Empty lists below the line that announces them; without one it is JSON as well."""
    if "Listing " not in text:
        return
    position, before = 0, ""
    for line in text.split("\n"):
        if line.lstrip().startswith("[") and preamble(before.strip()):
            found = ERLANG_EMPTY.match(text, position)
            if found is not None:
                yield position, found.end()
        if line.strip():
            before = line
        position += len(line) + 1


def _announced(before: str) -> tuple[str, str | None, str | None]:
    """The text before a list without the lines that announce it, and what they say of it."""
    lines = before.split("\n")
    end = len(lines)
    listed = vhost = None
    while end:
        line = lines[end - 1].strip()
        if (found := preamble(line)) is not None and listed is None:
            listed, vhost = found[1], found[2]
        elif (wanted := asked(line)) is not None:
            # its prompt ends the list before it
            listed, vhost = listed or wanted.listed, vhost or wanted.vhost
            end -= 1
            break
        elif line and not is_decoration(line):
            break
        end -= 1
    return "\n".join(lines[:end]), listed, vhost


def _rows(term: object) -> Iterator[dict[str, object]]:
    """The proplists and maps in lists of lists; an empty row for what is neither."""
    if isinstance(term, Map):
        yield _row(list(zip(term[::2], term[1::2], strict=False)))
    elif type(term) is not list:
        yield {}
    elif any(isinstance(item, Tuple) for item in term):
        yield _row(term)
    else:
        for item in term:
            yield from _rows(item)


def _row(pairs: Sequence[object]) -> dict[str, object]:
    """Values by name; none of them where the pairs are not such, or name one thing twice."""
    row: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, (Tuple, tuple)) or len(pair) != 2 or type(pair[0]) is not str:
            return {}
        row[pair[0]] = pair[1]
    return row if len(row) == len(pairs) else {}
