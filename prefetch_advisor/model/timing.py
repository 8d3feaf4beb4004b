"""How long messages took, as one input's rows showed it: samples, moments, quantiles. Seconds."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from prefetch_advisor.model.record import record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int32]
    Counts = npt.NDArray[np.int64]


@record
class Run:
    """Contiguous rows of one consumer, kept as a sample for replay."""

    #: consumer or host column; ``None`` where there is none
    consumer: str | None
    #: seconds, in file order
    processing: Floats
    #: seconds, one for each row; ``None`` where rows have none
    rtt: Floats | None = None


@record
class Buckets:
    """A quantile sketch at rest: see `sources.sampling.Sketch` for what a bucket holds."""

    accuracy: float
    zeros: int
    #: buckets that hold values, in ascending order, and how many each
    numbers: Numbers
    counts: Counts


@record
class Distribution:
    """Moments and quantiles of a figure over all its rows."""

    count: int
    mean: float
    #: standard deviation / mean
    cv: float
    minimum: float
    maximum: float
    p50: float
    p95: float
    p99: float
    #: relative error of the quantiles; 0 where every value was kept
    quantile_error: float = 0.0
    #: for merging inputs; ``None``: the runs beside it hold every value
    buckets: Buckets | None = field(default=None, repr=False, compare=False)


@record
class TimingRow:
    """All the timings of one queue in one input."""

    where: str
    #: ``None``: no such column
    vhost: str | None
    name: str | None
    #: usable rows
    rows: int
    processing: Distribution | None = None
    rtt: Distribution | None = None
    #: samples for replay: runs of at most 1,000 rows, bounded per queue and in all
    runs: tuple[Run, ...] = ()
    #: the rows arrive sorted by duration: their order carries no time
    sorted_by_duration: bool = False
    #: the first and last timestamp, seconds since the epoch
    first_at: float | None = None
    last_at: float | None = None
    #: the times of all its rows in order, seconds from the first on; only where they were wanted
    times: Floats | None = field(default=None, repr=False, compare=False)
    #: messages one consumer worked on at once, from started/finished; ``None`` unknown
    concurrency: float | None = None
    #: distinct consumers or hosts; ``None`` without such a column
    consumers: int | None = None
    mean_bytes: float | None = None
    #: processing times of zero: below the timer's resolution
    zeros: int = 0
    #: the smallest step the timer shows, seconds; ``None`` unknown
    resolution: float | None = None
