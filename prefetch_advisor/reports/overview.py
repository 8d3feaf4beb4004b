"""What the report for people says of all queues together: a line for each, and their findings."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from prefetch_advisor import units
from prefetch_advisor.model.advice import Severity, Verdict
from prefetch_advisor.reports import words
from prefetch_advisor.reports.layout import Cell, Column, Entry, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefetch_advisor.model.advice import Finding, QueueAdvice, Report
    from prefetch_advisor.reports.words import Glyphs

_ORDER = {verdict: place for place, verdict in enumerate(Verdict)}
#: verdict -> style: what is broken, what could be better, what is well
STYLES: dict[Verdict, str] = {
    Verdict.STALLED: "error",
    Verdict.UNBOUNDED: "error",
    Verdict.NO_CONSUMERS: "error",
    Verdict.KEEPING_UP: "well",
    Verdict.IDLE: "well",
    Verdict.UNKNOWN: "info",
}
_FILE_NAME = 60
#: queues that are shown with pictures
PICTURED = 30
#: what a shell gives for <(command): a number there says nothing without its directory
_NOT_NAMES = ("/dev", "/proc")
COLUMNS = (
    Column("queue", kind="name", least=16),
    Column("verdict"),
    Column("ready", right=True, leaves=2),
    Column("unacked", right=True, leaves=3),
    Column("prefetch", right=True),
    Column("consumers", right=True, leaves=1),
    Column("busy %", right=True, leaves=4),
    Column("why", kind="prose", least=25, leaves=5),
)


def ordered(queues: Sequence[QueueAdvice]) -> list[QueueAdvice]:
    """Those that matter most first: by verdict, worst finding, then messages in the queue."""

    def place(queue: QueueAdvice) -> tuple[int, int, int]:
        worst = max((finding.severity for finding in queue.findings), default=0)
        depth = (queue.observed.ready or 0) + (queue.observed.unacked or 0)
        return _ORDER[queue.verdict], -worst, -depth

    return sorted(queues, key=place)


def pictured(queues: Sequence[QueueAdvice]) -> list[QueueAdvice]:
    """Those that are shown with pictures, the first of which matters most."""
    return ordered(queues)[:PICTURED]


def marks(queue: QueueAdvice) -> list[tuple[str, int]]:
    """The prefetch values that a picture points out, and what each is."""
    wanted = (
        ("advised", queue.recommended.prefetch),
        ("now", queue.current.prefetch),
        ("rule", queue.rule.prefetch if queue.rule else None),
    )
    return [(kind, value) for kind, value in wanted if value]


def prefix(queues: Sequence[QueueAdvice]) -> tuple[bool, bool]:
    """Whether broker and vhost are needed to tell the queues apart."""
    brokers = {queue.key.broker for queue in queues}
    vhosts = {queue.key.vhost for queue in queues}
    return len(brokers) > 1, len(vhosts) > 1 or bool(vhosts - {"/"})


def heading(report: Report, glyphs: Glyphs) -> list[Cell]:
    """What is known of the broker, its alarms, and what was read."""
    broker = report.broker
    lines = []
    known = [f"RabbitMQ {glyphs.prose(broker.version)}"] if broker.version else []
    if broker.statistics_off:
        known.append("management statistics are off")
    elif broker.rates_mode == "none":
        known.append("message rates are off (rates_mode none)")
    if known:
        lines.append(Cell(", ".join(known)))
    if broker.alarms:
        alarms = ", ".join(glyphs.prose(alarm) for alarm in broker.alarms)
        lines.append(Cell(f"ALARM: {alarms}; publishers are blocked meanwhile", "error"))
    if report.inputs:
        lines.append(Cell(f"Read: {_files(report.inputs, glyphs)}", "faint"))
    return lines


def _files(inputs: Sequence[str], glyphs: Glyphs) -> str:
    """The files, and their directory once where it is the same."""
    directories = {posixpath.dirname(name) for name in inputs}
    directory = directories.pop() if len(directories) == 1 and len(inputs) > 1 else ""
    if not directory or directory.startswith(_NOT_NAMES):
        return glyphs.listed([glyphs.name(name) for name in inputs], _FILE_NAME)
    names = [glyphs.name(posixpath.basename(name)) for name in inputs]
    return f"{glyphs.listed(names, _FILE_NAME)} in {glyphs.name(directory)}"


def grid(queues: Sequence[QueueAdvice], named: tuple[bool, bool], glyphs: Glyphs) -> Grid:
    """A line for each queue."""
    return Grid(COLUMNS, tuple(_row(queue, glyphs.queue(queue, named), glyphs) for queue in queues))


def _row(queue: QueueAdvice, name: str, glyphs: Glyphs) -> tuple[Cell, ...]:
    seen, advice = queue.observed, queue.recommended
    strong = "" if advice.keep else "strong"
    return (
        Cell(name),
        Cell(queue.verdict, STYLES.get(queue.verdict, "warning")),
        Cell(words.count(seen.ready)),
        Cell(words.held(queue)),
        Cell(prefetch(queue, glyphs), strong),
        Cell(consumers(queue, glyphs)),
        Cell(_busy(queue, glyphs)),
        _why(queue, glyphs),
    )


def prefetch(queue: QueueAdvice, glyphs: Glyphs) -> str:
    """ "10 -> 2", "10" to keep it, "1 -> -" where none can be advised."""
    now = queue.current.prefetch
    shown = words.seen_prefetch(queue.observed.prefetch) if now is None else str(now)
    advised = queue.recommended.prefetch
    then = words.UNKNOWN if advised is None else str(advised)
    return shown if queue.recommended.keep else glyphs.change(shown, then)


def consumers(queue: QueueAdvice, glyphs: Glyphs) -> str:
    """ "3 -> 5", "3" to keep them, "3 -> -" where no count can be advised."""
    now = queue.current.consumers
    shown = words.count(queue.observed.consumers if now is None else now)
    if queue.recommended.keep_consumers:
        return shown
    return glyphs.change(shown, words.count(queue.recommended.consumers))


def _busy(queue: QueueAdvice, glyphs: Glyphs) -> str:
    now, then = queue.current.busy_share, queue.recommended.busy_share
    if queue.recommended.keep or then is None:
        then = now
    return glyphs.change(words.optional(now, words.share), words.optional(then, words.share))


def _why(queue: QueueAdvice, glyphs: Glyphs) -> Cell:
    if queue.findings:
        first = max(queue.findings, key=lambda finding: finding.severity)
        more = f" (+{len(queue.findings) - 1})" if len(queue.findings) > 1 else ""
        return Cell(
            glyphs.plain(f"{first.name}{more}: {first.message}"),
            first.severity.name.lower(),
        )
    return Cell(glyphs.plain(queue.verdict_reason))


def left_out(queues: Sequence[QueueAdvice], shown: int) -> list[Cell]:
    """How many queues are not shown, what they are, and how to see them."""
    rest = Counter(queue.verdict for queue in queues[shown:])
    if not rest:
        return []
    verdicts = ", ".join(f"{rest[verdict]:,} {verdict}" for verdict in Verdict if rest[verdict])
    return [
        Cell(
            f"{shown:,} of {len(queues):,} queues are shown, those that matter most first. "
            f"Left out: {verdicts}. --all shows every queue, --queue NAME one."
        )
    ]


def legend(glyphs: Glyphs) -> str:
    """How to read a line."""
    return (
        f"unacked/limit, now {glyphs.arrow} advised (one figure: no change); "
        f"{words.UNKNOWN}: not known, --details says why."
    )


def findings(
    report: Report, queues: Sequence[QueueAdvice], named: tuple[bool, bool], glyphs: Glyphs
) -> list[Entry]:
    """One entry for each kind of finding, the worst first: what, and where."""
    groups: dict[tuple[int, str, str], list[tuple[str, Finding]]] = {}
    everywhere = [(glyphs.name(finding.subject), finding) for finding in report.findings]
    for queue in queues:
        name = glyphs.queue(queue, named)
        everywhere += [(name, finding) for finding in queue.findings]
    for name, finding in everywhere:
        key = (-finding.severity, finding.code, finding.name)
        groups.setdefault(key, []).append((name, finding))
    return [
        Entry(
            level := Severity(-severity).name.lower(),
            _where(found, glyphs),
            head=f"{code} {name}",
            style=level,
        )
        for (severity, code, name), found in sorted(groups.items(), key=lambda group: group[0])
    ]


def _where(found: Sequence[tuple[str, Finding]], glyphs: Glyphs) -> str:
    names = list(dict.fromkeys(name for name, _ in found))
    if len(found) == 1:
        return f": {glyphs.listed(names)}: {glyphs.prose(found[0][1].message)}"
    return f" (x{len(found):,}): {glyphs.listed(names)}"


def totals(report: Report) -> str:
    """ "17 queues: 3 errors, 2 warnings, 4 infos." """
    level = Counter(finding.severity for finding in report.findings)
    for queue in report.queues:
        level.update(finding.severity for finding in queue.findings)
    parts = [
        units.plural(level[severity], severity.name.lower())
        for severity in sorted(Severity, reverse=True)
        if level[severity]
    ]
    return f"{units.plural(len(report.queues), 'queue')}: {', '.join(parts) or 'no findings'}."
