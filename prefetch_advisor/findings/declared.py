"""PA3xx: consumers as settings declare them.

PA3nn says of settings what PA1nn says of a running queue, under the same name and in the same
words; its examples are the whole of a settings file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from prefetch_advisor.findings import consumers
from prefetch_advisor.findings.rule import CONFIRMS, DOCS, Rule
from prefetch_advisor.model.advice import Severity

FILE = "prefetch-advisor.toml"
_OPTION = re.compile(r"--(?=[a-z])")


def _queue(*lines: str) -> str:
    return "\n".join(("[[queues]]", 'name = "tasks"', *lines, ""))


def _declared(twin: Rule, bad: str, good: str, **more: Any) -> Rule:
    """The rule of settings beside that of a running queue: options are keys here."""
    return replace(
        twin,
        code=f"PA3{twin.code[3:]}",
        fix=_OPTION.sub("", twin.fix),
        bad=bad,
        good=good,
        file=FILE,
        **more,
    )


_STEADY = ('processing-time = "20ms"', 'rtt = "1ms"')
_NEAR_MISS = ('processing-time = "0.6ms"', 'rtt = "11ms"')
_LOAD = (*_STEADY, 'arrival-rate = "180/s"', "prefetch = 2")

UNBOUNDED_PREFETCH = _declared(
    consumers.UNBOUNDED_PREFETCH,
    _queue("prefetch = 0"),
    _queue("prefetch = 20"),
)
AUTO_ACK = _declared(
    consumers.AUTO_ACK,
    _queue("prefetch = 10", 'ack = "auto"'),
    _queue("prefetch = 10", 'ack = "manual"'),
)
PREFETCH_BELOW_ROUND_TRIP = _declared(
    consumers.PREFETCH_BELOW_ROUND_TRIP,
    _queue("prefetch = 1", *_NEAR_MISS),
    _queue("prefetch = 20", *_NEAR_MISS),
)
PREFETCH_TOO_LARGE = _declared(
    consumers.PREFETCH_TOO_LARGE,
    _queue("prefetch = 500", 'processing-time = "200ms"', 'rtt = "1ms"'),
    _queue("prefetch = 2", 'processing-time = "200ms"', 'rtt = "1ms"'),
)
ADD_CONSUMERS = _declared(
    consumers.ADD_CONSUMERS,
    _queue(*_LOAD, "consumers = 3"),
    _queue(*_LOAD, "consumers = 5"),
)
ACK_TIMEOUT_RISK = _declared(
    consumers.ACK_TIMEOUT_RISK,
    _queue("prefetch = 1", 'processing-time = "20min"', 'consumer-timeout = "30min"'),
    _queue("prefetch = 1", 'processing-time = "20min"', 'consumer-timeout = "2h"'),
)
GLOBAL_QOS = _declared(
    consumers.GLOBAL_QOS,
    _queue('type = "quorum"', "prefetch = 25", "global-qos = true"),
    _queue('type = "quorum"', "prefetch = 25"),
)
QUORUM_2000 = _declared(
    consumers.QUORUM_2000,
    _queue('type = "quorum"', "prefetch = 0"),
    _queue('type = "quorum"', "prefetch = 20"),
)
SINGLE_ACTIVE = _declared(
    consumers.SINGLE_ACTIVE,
    _queue("prefetch = 2", "single-active-consumer = true", "consumers = 3"),
    _queue("prefetch = 2", "single-active-consumer = true", "consumers = 2"),
)
UNEQUAL = _declared(
    consumers.UNEQUAL,
    _queue("prefetch = 3", 'rtt = "50ms"', 'machines = { fast = "5ms", slow = "50ms" }'),
    _queue(
        "prefetch = { fast = 11, slow = 2 }",
        'rtt = "50ms"',
        'machines = { fast = "5ms", slow = "50ms" }',
    ),
)
PRIORITIES_DEFEATED = _declared(
    consumers.PRIORITIES_DEFEATED,
    _queue("prefetch = 8", "priorities = 5", 'processing-time = "200ms"'),
    _queue("prefetch = 2", "priorities = 5", 'processing-time = "200ms"'),
)
MEMORY_OVER_BUDGET = _declared(
    consumers.MEMORY_OVER_BUDGET,
    _queue("prefetch = 1000", 'message-bytes = "300KB"', 'memory-budget = "256MB"'),
    _queue("prefetch = 400", 'message-bytes = "300KB"', 'memory-budget = "256MB"'),
)
BELOW_CONCURRENCY = _declared(
    consumers.BELOW_CONCURRENCY,
    _queue("prefetch = 4", "concurrency = 16"),
    _queue("prefetch = 16", "concurrency = 16"),
)
BATCH_NOT_BELOW = _declared(
    consumers.BATCH_NOT_BELOW,
    _queue("prefetch = 10", "batch = 10"),
    _queue("prefetch = 20", "batch = 10"),
)
STREAM_NEEDS_PREFETCH = Rule(
    "PA321",
    "stream-needs-prefetch",
    Severity.ERROR,
    "A stream is read without a prefetch.",
    "Over AMQP 0-9-1 the broker refuses such a consumer: its channel is closed with 406.",
    "Set a prefetch; 100 or more suits most streams.",
    _queue('type = "stream"', "prefetch = 0"),
    _queue('type = "stream"', "prefetch = 100"),
    DOCS + "streams#consuming",
    file=FILE,
)
EARLY_ACK = _declared(
    consumers.EARLY_ACK,
    _queue("prefetch = 10", 'ack = "early"'),
    _queue("prefetch = 10", 'ack = "manual"'),
)
ABOVE_PROTOCOL = Rule(
    "PA326",
    "prefetch-above-65535",
    Severity.ERROR,
    "The prefetch is larger than the protocol can carry.",
    "It is sent in 16 bits. Clients refuse a larger number, cut it (65,536 becomes 0: no limit), "
    "or send 0.",
    "Set the advised prefetch; 65,535 is the largest there is.",
    _queue("prefetch = 65536"),
    _queue("prefetch = 50"),
    CONFIRMS + "#channel-qos-prefetch",
    file=FILE,
)

#: by the code of the twin
TWINS: dict[str, Rule] = {
    f"PA1{rule.code[3:]}": rule
    for rule in (
        UNBOUNDED_PREFETCH,
        AUTO_ACK,
        PREFETCH_BELOW_ROUND_TRIP,
        PREFETCH_TOO_LARGE,
        ADD_CONSUMERS,
        ACK_TIMEOUT_RISK,
        GLOBAL_QOS,
        QUORUM_2000,
        SINGLE_ACTIVE,
        UNEQUAL,
        PRIORITIES_DEFEATED,
        MEMORY_OVER_BUDGET,
        BELOW_CONCURRENCY,
        BATCH_NOT_BELOW,
        EARLY_ACK,
    )
}
