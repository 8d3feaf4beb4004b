"""Cells that name a queue or a consumer, as the ids under which their rows are gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefetch_advisor.sources.columns import Column, Layout, Role
from prefetch_advisor.sources.tabular.bad_rows import BadCell, show
from prefetch_advisor.sources.tabular.rows import Rows, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prefetch_advisor.sources.collect import Collector
    from prefetch_advisor.sources.tally import Integers

#: AMQP carries names in short strings
_LONGEST = 255
#: different spellings that are remembered
_MOST = 300_000


class Names:
    """Ids of queues and consumers by what stands in their cells."""

    def __init__(self, layout: Layout, collector: Collector, padded: bool) -> None:
        self._collector = collector
        self._padded = padded
        self._vhost = layout.of(Role.VHOST)
        self._queue = layout.of(Role.QUEUE)
        self._consumers = layout.consumers
        self._queue_columns = [column for column in (self._vhost, self._queue) if column]
        self._queues = _Ids(self._queue_id)
        self._consumer_ids = _Ids(self._consumer_id)

    def of(self, rows: Rows) -> tuple[Integers, Integers | None]:
        """The queue and (where there is such a column) the consumer of each row.

        Raises:
            BadCell: a row names no queue, or none that can exist.
        """
        return (
            self._queues.of(rows, self._queue_columns),
            self._consumer_ids.of(rows, self._consumers) if self._consumers else None,
        )

    def at(self, rows: Rows, at: int) -> tuple[int, int | None]:
        """The same for one row."""
        return (
            self._queues.at(rows, at, self._queue_columns),
            self._consumer_ids.at(rows, at, self._consumers) if self._consumers else None,
        )

    def _queue_id(self, cells: tuple[object, ...]) -> int:
        texts = iter(map(self._text, cells))
        vhost = self._checked(next(texts), self._vhost) if self._vhost else None
        name = self._checked(next(texts), self._queue) if self._queue else None
        if self._queue and not name:
            raise BadCell(f"a queue name in {show(self._queue.name)}", "an empty cell")
        return self._collector.queue(vhost or None, name)

    def _consumer_id(self, cells: tuple[object, ...]) -> int:
        texts = [self._text(cell)[:_LONGEST] for cell in cells]
        return self._collector.consumer("/".join(text for text in texts if text))

    def _text(self, cell: object) -> str:
        return text_of(cell).strip() if self._padded else text_of(cell)

    def _checked(self, text: str, column: Column) -> str:
        if len(text.encode("utf-8", "replace")) > _LONGEST:
            raise BadCell(f"a name of at most 255 bytes in {show(column.name)}", show(text))
        if "\0" in text:
            raise BadCell(f"text in {show(column.name)}", show(text))
        return text


class _Ids(dict[Any, int]):
    """Ids by raw cell (one column) or by a tuple of them, looked up once for each spelling."""

    def __init__(self, look_up: Callable[[tuple[object, ...]], int]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, key: Any) -> int:
        found = self._look_up(key if isinstance(key, tuple) else (key,))
        if len(self) < _MOST:
            self[key] = found
        return found

    def of(self, rows: Rows, columns: Sequence[Column]) -> Integers:
        keys: Any
        if not columns:
            return np.full(len(rows), self[()], np.int64)
        keys = rows.columns[columns[0].index]
        if len(columns) > 1:
            keys = zip(*(rows.columns[column.index] for column in columns), strict=True)
        try:
            return np.fromiter(map(self.__getitem__, keys), np.int64, len(rows))
        except TypeError:  # JSON: a list or an object cannot be a key
            raise BadCell("a name", "a list or an object") from None

    def at(self, rows: Rows, at: int, columns: Sequence[Column]) -> int:
        key = tuple(rows.columns[column.index][at] for column in columns)
        try:
            return self[key[0] if len(key) == 1 else key]
        except TypeError:
            raise BadCell("a name", "a list or an object") from None
