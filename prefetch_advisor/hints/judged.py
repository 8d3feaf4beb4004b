"""A queue with its verdict and advice: what the findings beside the verdict look at."""

from __future__ import annotations

from collections.abc import Sequence

from prefetch_advisor.bounds import Bound
from prefetch_advisor.case import Case, Outcome
from prefetch_advisor.model.advice import Current, Recommended
from prefetch_advisor.model.figures import Estimates
from prefetch_advisor.model.observation import ChannelRow
from prefetch_advisor.model.record import record
from prefetch_advisor.unequal import Own

#: a buffered time is far above what feeding needs from 1 s and 10 times that need on
LONG_BUFFER = 1.0
MUCH = 10
#: seconds that no message should wait behind others while another consumer may be idle
VERY_LONG_BUFFER = 60.0


@record
class Judged:
    """A queue with its verdict and advice, ready for the findings beside them."""

    case: Case
    outcome: Outcome
    estimates: Estimates
    current: Current
    recommended: Recommended
    #: channels that set a prefetch and consume nothing
    unused_channels: Sequence[ChannelRow] = ()
    #: why more consumers would not share the work
    barred: str | None = None
    #: bounds that no prefetch can keep together
    conflict: tuple[Bound, Bound] | None = None
    #: a prefetch for each of unequal consumers
    own: Own | None = None

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.case.observation.key.name

    @property
    def prefetch_now(self) -> str:
        """The prefetch in force, in a word or two."""
        if self.current.prefetch is not None:
            return f"{self.current.prefetch}"
        active = self.case.force.active
        values = sorted({c.row.prefetch for c in active if c.row.prefetch is not None})
        return ", ".join(map(str, values)) or "unknown"
