"""What the report for people says in words: verdicts, changes, figures and where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefetch_advisor import units
from prefetch_advisor.model.advice import Limit, Verdict
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.model.record import record
from prefetch_advisor.reports.escape import isolated, isolated_runs, legible, visible
from prefetch_advisor.reports.layout import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prefetch_advisor.model.advice import QueueAdvice, Recommended
    from prefetch_advisor.model.figures import Concurrency, Figure, ProcessingTime, RoundTrip
    from prefetch_advisor.reports.layout import Measure

UNKNOWN = "-"
_NAMES_IN_LIST = 4
_NAME_IN_LIST = 32

#: what each verdict means, in a sentence for someone who sees it for the first time
VERDICTS: dict[Verdict, str] = {
    Verdict.STALLED: "Consumers hold all they may and ack nothing: neither number helps.",
    Verdict.UNBOUNDED: "A consumer may be sent any number of messages: nothing bounds its memory.",
    Verdict.NO_CONSUMERS: "Messages wait and nobody consumes them.",
    Verdict.HOARDING: "The backlog sits in the consumers' memory, where the queue cannot show it.",
    Verdict.ROUND_TRIP_BOUND: "Consumers idle while messages wait: the prefetch is too small "
    "for the round trip.",
    Verdict.PROCESSING_BOUND: "Consumers are busy all the time: more prefetch changes nothing, "
    "more consumers (or concurrency) would.",
    Verdict.AT_LIMIT: "Consumers hold all they may while messages wait; whether the prefetch or "
    "the consumers are the limit cannot be told from this.",
    Verdict.DELIVERY_LIMITED: "Messages wait although the consumers have room for them.",
    Verdict.POLLING: "Messages are fetched with basic.get, to which no prefetch applies.",
    Verdict.UNKNOWN: "What limits its consumers could not be judged.",
    Verdict.KEEPING_UP: "The consumers keep up: neither number limits them now.",
    Verdict.IDLE: "There is nothing to consume now.",
}

_LIMITED_BY = {
    "ack-timeout": "the delivery acknowledgement timeout",
    "memory": "the memory budget",
    "buffered-time": "the longest buffered time allowed",
    "protocol": "the protocol, which carries 16 bits",
}
_LOWER_BOUND_BY = {
    "concurrency": "the concurrency: each worker needs a message at hand",
    "batch": "the batch: a second one must come while the first is worked on",
}


@record
class Glyphs:
    """How names and decoration are written in the output's encoding."""

    unicode: bool
    #: cells that a text takes in a terminal
    measure: Measure

    @property
    def arrow(self) -> str:
        return "\N{RIGHTWARDS ARROW}" if self.unicode else "->"

    @property
    def ellipsis(self) -> str:
        return "\N{HORIZONTAL ELLIPSIS}" if self.unicode else "..."

    def name(self, text: str) -> str:
        """A name, tag or file name; not yet isolated, so that it can be shortened."""
        return visible(text, ascii_only=not self.unicode)

    def plain(self, text: str) -> str:
        """A sentence, in which names may occur; not yet isolated, so that it can be cut."""
        return legible(text, ascii_only=not self.unicode)

    def prose(self, text: str) -> str:
        """A sentence, in which names may occur."""
        return isolated_runs(self.plain(text))

    def queue(self, advice: QueueAdvice, prefix: tuple[bool, bool]) -> str:
        """The queue's name, after its broker and its vhost where ``prefix`` asks for them."""
        key = advice.key
        parts = [self.name(key.broker)] if prefix[0] and key.broker is not None else []
        if prefix[1]:
            parts.append(self.name(key.vhost))
        return ": ".join([*parts, self.name(key.name)])

    def change(self, now: str, then: str) -> str:
        """ "10 -> 2"; one figure where both are the same."""
        return now if now == then else f"{now} {self.arrow} {then}"

    def listed(self, names: Sequence[str], width: int = _NAME_IN_LIST) -> str:
        """ "a, b, c and 4 more", the names shortened; they are not escaped again."""
        shown = [
            isolated(shortened(name, width, self.ellipsis, self.measure))
            for name in names[:_NAMES_IN_LIST]
        ]
        more = len(names) - len(shown)
        return ", ".join(shown) + (f" and {more:,} more" if more else "")


def optional(value: float | None, text: Callable[[float], str]) -> str:
    """``text`` of a value, or the sign for unknown."""
    return UNKNOWN if value is None else text(value)


def count(value: int | None) -> str:
    """ "1,204", or the sign for unknown."""
    return UNKNOWN if value is None else f"{value:,}"


def seen_prefetch(values: tuple[int, ...]) -> str:
    """The prefetch values of a queue's consumers as a cell: "10", or "0-50" where they differ."""
    if not values:
        return UNKNOWN
    return str(values[0]) if len(values) == 1 else f"{values[0]}-{values[-1]}"


def share(value: float) -> str:
    """A share as a cell without its sign: "99", "<1"."""
    return "<1" if 0 < value < 0.005 else f"{value * 100:.0f}"


def limit_of(limit: Limit | None) -> Limit:
    """The limit, unknown where there is none to speak of."""
    return Limit(None, "unknown", "") if limit is None else limit


def held(advice: QueueAdvice) -> str:
    """Unacked and its limit as a cell: "30/30", "6,994/none", "3/-" where the limit is unknown."""
    found = limit_of(advice.limit)
    limit = UNKNOWN if found.value is None else f"{found.value:,}"
    if found.kind == "none":
        limit = "none"
    if advice.observed.unacked is None and limit == UNKNOWN:
        return UNKNOWN
    return f"{count(advice.observed.unacked)}/{limit}"


def processing_time(figure: ProcessingTime | None) -> str:
    """P with its source, spread and quantiles."""
    if figure is None:
        return "not known"
    parts = [_sourced(units.duration(figure.mean), figure)]
    if figure.ci95 is not None:
        low, high = map(units.duration, figure.ci95)
        parts.append(f"mean between {low} and {high} at 95 %")
    if figure.cv is not None:
        parts.append(f"CV {units.number(figure.cv)}")
    quantiles = [
        f"{name} {units.duration(value)}"
        for name, value in (("p50", figure.p50), ("p95", figure.p95), ("p99", figure.p99))
        if value is not None
    ]
    if quantiles:
        exact = figure.quantile_error == 0
        error = "" if exact else f" (within {units.percent(figure.quantile_error)})"
        parts.append(" ".join(quantiles) + error)
    return "; ".join(parts)


def round_trip(figure: RoundTrip | None) -> str:
    """R with its source."""
    return "not known" if figure is None else _sourced(units.duration(figure.mean), figure)


def concurrency(figure: Concurrency) -> str:
    """K with its source."""
    if figure.value is None:
        return f"that of the prefetch ({figure.source}: {figure.origin})"
    return f"{units.number(figure.value)} ({figure.source}: {figure.origin})"


def arrival_rate(figure: Figure | None) -> str:
    """A with its source."""
    return "not known" if figure is None else _sourced(units.rate(figure.value), figure)


def _sourced(value: str, figure: Figure | ProcessingTime | RoundTrip) -> str:
    side = f"{figure.side} " if figure.side else ""
    origin = f": {figure.origin}" if figure.origin else ""
    if figure.source is FigureSource.BOUND:
        return f"{side}{value} (a bound, so nothing is computed from it{origin})"
    return f"{side}{value} ({figure.source}{origin})"


def interval(span: tuple[int, int] | None) -> str:
    """The range that samples allow, as the rest of a sentence; nothing where it is one figure."""
    if span is None:
        return "; what range the samples allow is not known"
    low, high = span
    return "" if low == high else f"; these samples allow {low} to {high} (90 % interval)"


def bounds(advice: Recommended) -> str:
    """What decided the recommended prefetch other than feeding, or nothing."""
    parts = []
    if advice.limited_by:
        parts.append(f"no more because of {_LIMITED_BY.get(advice.limited_by, advice.limited_by)}")
    if advice.lower_bound_by:
        least = _LOWER_BOUND_BY.get(advice.lower_bound_by, advice.lower_bound_by)
        parts.append(f"no less because of {least}")
    return " and ".join(parts)
