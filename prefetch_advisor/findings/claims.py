"""PA5xx: buffers of rows that are claimed from a table of jobs, as settings declare them."""

from prefetch_advisor.findings.rule import PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

_FILE = "prefetch-advisor.toml"


def _buffer(*lines: str) -> str:
    return "\n".join(("[[buffers]]", 'name = "jobs"', *lines, ""))


_LEASED = ("workers = 10", "batch = 20", 'claim-latency = "8ms"', 'lease = "5min"')
WITHOUT_LIMIT = Rule(
    "PA502",
    "claim-without-limit",
    Severity.ERROR,
    "A worker claims all rows that are due: its buffer has no limit.",
    "A claimed row is invisible to every other worker. The first one to ask takes the whole "
    "backlog into its memory: the others idle, the table looks empty, and after a crash all of it "
    "waits for the lease to run out.",
    "Claim with a LIMIT, and only as many rows as the buffer has room for.",
    _buffer("capacity = 0", *_LEASED),
    _buffer("capacity = 20", *_LEASED, 'processing-time = "50ms"'),
    PREFETCH,
    _FILE,
)
TOO_LARGE = Rule(
    "PA503",
    "claim-buffer-too-large",
    Severity.WARNING,
    "Claimed rows wait long in one worker's memory, where no other worker can take them.",
    "Beyond what keeps the workers fed a buffer only hides backlog: other workers idle beside it, "
    "a crash strands its rows until the lease is over, and a clean stop takes as long as it holds.",
    "Lower the capacity to the one named: the rest waits in the table, durable and seen.",
    _buffer("capacity = 2_000", *_LEASED, 'processing-time = "200ms"'),
    _buffer("capacity = 20", *_LEASED, 'processing-time = "200ms"'),
    PREFETCH,
    _FILE,
)
BEYOND_LEASE = Rule(
    "PA504",
    "claim-beyond-lease",
    Severity.WARNING,
    "A claimed row may be done only after its lease: another worker does it again.",
    "A row's lease runs while it waits in the buffer. When it ends before the work does, the row "
    "is given to another worker, and done twice.",
    "Lower the capacity, or give a longer lease where one task alone takes longer.",
    _buffer("capacity = 20", "workers = 2", 'lease = "30s"', 'processing-time = "2s"'),
    _buffer("capacity = 2", "workers = 2", 'lease = "30s"', 'processing-time = "2s"'),
    PREFETCH,
    _FILE,
)
POLL_BOUND = Rule(
    "PA505",
    "poll-bound",
    Severity.WARNING,
    "Between two looks at the table the workers run out of rows.",
    "Where the table is asked once in an interval, even after a claim that was full, no more rows "
    "than one claim brings are done in it, however many workers there are.",
    "Ask again at once after a full claim, shorten the interval, or claim more rows together.",
    _buffer("workers = 32", 'poll-interval = "1s"', 'processing-time = "25ms"'),
    _buffer("workers = 32", 'poll-interval = "20ms"', 'processing-time = "25ms"'),
    PREFETCH,
    _FILE,
)
POOL_BELOW_WORKERS = Rule(
    "PA506",
    "pool-below-workers",
    Severity.WARNING,
    "The workers share fewer connections to the database than they are.",
    "A worker that cannot get a connection cannot finish its row: it waits for the pool, and may "
    "fail by the pool's timeout, while its lease runs.",
    "Give the pool a connection for each worker, and one for the claims.",
    _buffer("workers = 10", "connections = 5"),
    _buffer("workers = 10", "connections = 11"),
    PREFETCH,
    _FILE,
)
STARVES = Rule(
    "PA507",
    "claim-buffer-too-small",
    Severity.WARNING,
    "The workers idle while rows are due: the buffer is empty before a claim brings more.",
    "Every row then pays the latency of its claim. A buffer that holds what is worked on during "
    "one claim hides it.",
    "Raise the capacity, or claim as many rows together as are done in one claim's time.",
    _buffer("capacity = 1", "workers = 4", 'claim-latency = "8ms"', 'processing-time = "2ms"'),
    _buffer(
        "capacity = 90",
        "workers = 4",
        "batch = 40",
        'claim-latency = "8ms"',
        'processing-time = "2ms"',
    ),
    PREFETCH,
    _FILE,
)
RULES = (
    WITHOUT_LIMIT,
    TOO_LARGE,
    BEYOND_LEASE,
    POLL_BOUND,
    POOL_BELOW_WORKERS,
    STARVES,
)
