"""What a client spends on a message beside the handler: decoding the delivery, sending the ack.

By its definition the processing time ends with the ack, and in a blocking client that covers nearly
all of it: with pika 1.3, acks sent by the timed handler and messages at hand, 2 to 4 us passed from
its return to its next start. Where the work alone was timed, the rest is missing, some 50 us.
"""

from __future__ import annotations

from dataclasses import replace

from prefetch_advisor.model.figures import Figure, FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.model.timing import Run
from prefetch_advisor.statistics import mean_interval
from prefetch_advisor.units import duration

#: seconds; from there on 50 us are within 5 % of the processing time
_SHORT = 0.001
_TIMED = (FigureSource.MEASURED, FigureSource.GIVEN)
_IN_IT = Figure(0.0, FigureSource.ASSUMED, "within the processing time, as where the ack is timed")


def with_cost(processing: ProcessingTime | None, cost: float | None) -> ProcessingTime | None:
    """P and all of its samples longer by ``cost`` seconds, where P was measured or given.

    Of P that is inferred from acks the cost is a part already. ``None``: not told, taken as 0.
    """
    if processing is None or processing.source not in _TIMED:
        return processing
    if cost is None:
        return replace(processing, client_cost=_IN_IT)
    mean, samples = processing.mean + cost, processing.samples
    # it adds nothing to the standard deviation
    cv = None if processing.cv is None else processing.cv * processing.mean / mean
    return replace(
        processing,
        mean=mean,
        origin=f"{processing.origin} + {duration(cost)} of the client (--client-cost)",
        ci95=None if cv is None or not samples else mean_interval(mean, cv, samples),
        cv=cv,
        p50=_longer(processing.p50, cost),
        p95=_longer(processing.p95, cost),
        p99=_longer(processing.p99, cost),
        runs=tuple(Run(run.consumer, run.processing + cost, run.rtt) for run in processing.runs),
        client_cost=Figure(cost, FigureSource.GIVEN, "--client-cost"),
    )


def _longer(seconds: float | None, cost: float) -> float | None:
    return None if seconds is None else seconds + cost


def cost_note(
    processing: ProcessingTime | None, rtt: RoundTrip | None, given: float | None
) -> str | None:
    """What is to be said of the cost; ``None`` where it was given, or hardly matters."""
    timed = processing is not None and processing.source in _TIMED
    if given is not None:
        if timed or not given:
            return None
        return (
            "--client-cost is not added: no processing time was measured or given, and one that "
            "is inferred from acks contains it"
        )
    if processing is None or not timed or processing.mean >= _SHORT:
        return None
    seen = rtt.client_cost if rtt is not None else None
    size = "some 50 us in pika" if seen is None else f"{duration(seen)} of CPU time by the probe"
    return (
        f"a message takes only {duration(processing.mean)}: what the client spends on one beside "
        f"the work ({size}) counts, and is taken to be in it, as it is where the ack is timed "
        "too; otherwise --client-cost adds it"
    )
