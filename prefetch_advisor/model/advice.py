"""What the tool says: verdicts, findings, recommendations; reports render it, nothing else."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Literal

from prefetch_advisor.model.figures import Concurrency, Figure, ProcessingTime, RoundTrip
from prefetch_advisor.model.observation import Ack, Broker, QueueKey
from prefetch_advisor.model.record import record

Confidence = Literal["high", "medium", "low"]
#: what may decide a prefetch other than feeding
BoundName = Literal[
    "concurrency",
    "batch",
    "ack-timeout",
    "memory",
    "buffered-time",
    "protocol",
    # of buffers of claimed rows
    "lease",
    "shutdown",
]


class Verdict(StrEnum):
    """What a queue's consumers are limited by; the order is that of the table report."""

    STALLED = "stalled"
    UNBOUNDED = "unbounded"
    NO_CONSUMERS = "no-consumers"
    HOARDING = "hoarding"
    ROUND_TRIP_BOUND = "round-trip-bound"
    PROCESSING_BOUND = "processing-bound"
    AT_LIMIT = "at-limit"
    DELIVERY_LIMITED = "delivery-limited"
    POLLING = "polling"
    UNKNOWN = "unknown"
    KEEPING_UP = "keeping-up"
    IDLE = "idle"


class Severity(IntEnum):
    """Severity of a finding, comparable."""

    INFO = 1
    WARNING = 2
    ERROR = 3


@record
class Finding:
    """A judged fact. Code, name and url come from the catalogue; the rest is this instance's."""

    code: str
    name: str
    severity: Severity
    #: queue or consumer as a person calls it (unescaped)
    subject: str
    #: the fact, with its numbers
    message: str
    #: what to do
    help: str
    #: the broker's documentation
    url: str


@record
class Limit:
    """The most unacked deliveries the queue's active consumers may hold."""

    #: ``None``: unlimited or unknown, see ``kind``
    value: int | None
    #: per-consumer, channel, quorum-default, credit, mixed, none (unlimited), internal, unknown
    kind: str
    source: str
    #: how it is made up, for a person: "3 consumers x 10"
    origin: str = ""


@record
class Observed:
    """The broker's figures that the verdict rests on."""

    consumers: int | None = None
    #: the distinct prefetch values of its consumers, sorted
    prefetch: tuple[int, ...] = ()
    ready: int | None = None
    unacked: int | None = None
    ack_rate: float | None = None
    deliver_rate: float | None = None
    deliver_no_ack_rate: float | None = None
    get_rate: float | None = None
    publish_rate: float | None = None
    redeliver_rate: float | None = None
    #: ready + unacked, per second
    growth: float | None = None
    #: seconds between the first and last sample; 0 for one
    window: float | None = None
    samples: int = 0
    #: share of the samples with ready > 0 and unacked at the limit
    full_share: float | None = None


@record
class Rule:
    """ceil(k (P + R) / P), and the busy share it gives these processing times."""

    prefetch: int
    busy_share: float


@record
class Fed:
    """The smallest prefetch that reaches the target busy share."""

    prefetch: int
    #: 90 % interval of bootstrap replays
    #: ``None``: one sample tells nothing of it
    range: tuple[int, int] | None
    #: what it would be if the times, known only by their mean, varied like an exponential
    if_exponential: int | None = None


@record
class Current:
    """Today's settings and what they give."""

    #: ``None``: unknown or differing between consumers
    prefetch: int | None = None
    consumers: int | None = None
    busy_share: float | None = None
    utilisation: float | None = None
    #: seconds the last prefetched message waits in the client
    buffered_time: float | None = None
    #: R*: the longest round trip that the present prefetch covers, constant times
    rtt_covered: float | None = None


@record
class Recommended:
    """The advice; a figure is ``None`` when it cannot be told, and ``reason`` says why."""

    prefetch: int | None = None
    consumers: int | None = None
    #: floor(a / k) + 1: below it the backlog grows for ever
    least_consumers: int | None = None
    #: the present prefetch is good enough: do not flap
    keep: bool = False
    limited_by: BoundName | None = None
    lower_bound_by: BoundName | None = None
    busy_share: float | None = None
    utilisation: float | None = None
    buffered_time: float | None = None
    #: mean wait of a message, seconds
    wait: float | None = None
    #: why this prefetch, or why none
    reason: str = ""
    #: why this count of consumers, or why none
    consumers_reason: str = ""
    #: the present count of consumers is good enough
    keep_consumers: bool = False


@record
class ConsumerAdvice:
    """One consumer of a queue."""

    tag: str
    channel: str | None
    prefetch: int | None
    ack: Ack | None
    active: bool | None
    #: departures per second of its channel, where that serves this queue only
    rate: float | None
    recommended_prefetch: int | None = None


@record
class QueueAdvice:
    """Everything the tool has to say of one queue."""

    key: QueueKey
    type: str | None
    verdict: Verdict
    verdict_reason: str
    confidence: Confidence
    #: judged from a single sample
    snapshot: bool
    #: figures that would be needed, each with the option that supplies it
    missing: tuple[str, ...]
    observed: Observed
    #: ``None``: no consumer is active
    limit: Limit | None
    processing_time: ProcessingTime | None
    rtt: RoundTrip | None
    concurrency: Concurrency
    arrival_rate: Figure | None
    #: arrival rate x processing time, in busy workers
    offered_load: float | None
    drain_time: float | None
    current: Current
    rule: Rule | None
    fed: Fed | None
    recommended: Recommended
    consumers: tuple[ConsumerAdvice, ...] = ()
    findings: tuple[Finding, ...] = ()
    #: what the change costs and gains, and other things worth a sentence
    notes: tuple[str, ...] = ()


@record
class Report:
    """The whole answer."""

    broker: Broker
    queues: tuple[QueueAdvice, ...]
    #: findings about inputs as a whole
    findings: tuple[Finding, ...] = ()
    generated_at: str = ""
    #: files read
    inputs: tuple[str, ...] = ()
