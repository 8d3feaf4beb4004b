"""Consumers of any client: the rules that need no framework, and the figures of a declared queue.

A consumer whose queue is declared in settings is judged with what they know of it: how long a
message takes, the round trip, its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from prefetch_advisor.findings import declared
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.judges import known
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import Consumer, LintFinding, Located


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """What is wrong with the prefetch and the acks of consumers."""
    consumers = [fact for fact in facts if isinstance(fact, Consumer)]
    if not consumers:
        return
    # here: most trees have none, and sizing is a large import
    from prefetch_advisor.lint.declared import machines, rules
    from prefetch_advisor.lint.declared.timings import TimingFiles

    files = TimingFiles()
    queues = known.declared(facts)
    named = {queue.name.value for queue in queues}
    read = dict.fromkeys(one.queue for one in consumers if one.queue and one.queue not in named)
    queues += known.undeclared(facts, read)
    default = known.default_prefetch(facts)
    for consumer in consumers:
        if default is not None and _sends_none(consumer):
            consumer = replace(consumer, prefetch=replace(default, place=consumer.place))
        if _says_nothing(consumer):
            continue
        queue = _with_figures(consumer, queues)
        # what is wrong with the file is told with the queue
        timings, _ = files.row(queue)
        if queue.machines is None:
            found = rules.of_prefetch(queue, timings)
        else:
            found = machines.of_machines(queue)
        yield from (_in_its_words(_of_batch(one), consumer) for one in found)


def _of_batch(found: LintFinding) -> LintFinding:
    """A batch of a framework may also end by a timer: it never fills, and that is all."""
    if found.finding.code != declared.BATCH_NOT_BELOW.code:
        return found
    message = found.finding.message.replace(": nothing is ever acked", "")
    severity = min(found.finding.severity, Severity.WARNING)
    return replace(found, finding=replace(found.finding, message=message, severity=severity))


def _says_nothing(consumer: Consumer) -> bool:
    """Automatic ack without a prefetch is how replies are read; no prefetch at all is not known."""
    early = consumer.ack is not None and consumer.ack.value == "early"
    return consumer.prefetch is None and not early


def _sends_none(consumer: Consumer) -> bool:
    """Whether its 0 stands nowhere: the client was told no limit, and so asks for none."""
    limit = consumer.prefetch
    if limit is None or limit.value or limit.certain:
        return False
    return limit.place == consumer.place


def _in_its_words(found: LintFinding, consumer: Consumer) -> LintFinding:
    """The finding with how the prefetch came about, and the setting that changes it."""
    said, limit = found.finding, consumer.prefetch
    if limit is not None and limit.origin and found.place == limit.place:
        said = replace(said, message=f"{said.message}; {limit.origin}")
    unlimited = declared.UNBOUNDED_PREFETCH
    if consumer.setting and said.code == unlimited.code and said.help == unlimited.fix:
        said = replace(said, help=f"Set {consumer.setting} to a number above 0.")
    return replace(found, finding=said)


def _with_figures(consumer: Consumer, queues: Sequence[DeclaredQueue]) -> DeclaredQueue:
    """The consumer's own settings, over those that the one declared queue of its name has."""
    of_name = [queue for queue in queues if queue.name.value == consumer.queue]
    name = Located(consumer.subject, consumer.place)
    # its findings are told there, and lines are those of that file
    said = consumer.prefetch or consumer.ack
    place = said.place if said is not None else consumer.place
    base = of_name[0] if len(of_name) == 1 else DeclaredQueue(name, place, Path())
    concurrency: Located[int | str] | None = base.concurrency
    if consumer.concurrency is not None:
        one = consumer.concurrency
        concurrency = Located(one.value, one.place, one.origin, one.certain)
    return replace(
        base,
        name=name,
        place=place,
        prefetch=consumer.prefetch,
        ack=consumer.ack or base.ack,
        concurrency=concurrency,
        batch=consumer.batch or base.batch,
        global_qos=None,
    )
