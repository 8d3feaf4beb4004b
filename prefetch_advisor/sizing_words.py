"""Why this prefetch, as sentences with the numbers in them."""

from __future__ import annotations

from prefetch_advisor.bounds import Bound
from prefetch_advisor.config import DIMINISHING_RETURNS, MAX_PREFETCH
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.advice import Fed, Rule
from prefetch_advisor.model.record import record
from prefetch_advisor.units import duration, percent

#: seconds; below it client and broker spend as much on a message as the work does
BATCHES_BELOW = 0.0002


@record
class Choice:
    """What was advised and what it was chosen from."""

    #: seconds
    processing: float
    #: seconds
    rtt: float
    handling: Handling
    rule: Rule
    fed: Fed
    #: before what limits it
    wanted: int
    advised: int
    busy_share: float
    #: samples that are too few to tell the fed prefetch; ``None``: enough, or none needed
    few_samples: int | None
    #: today's prefetch where it is good enough, and its busy share
    kept: int | None
    kept_share: float | None
    #: the bounds that decided
    limited: Bound | None = None
    raised: Bound | None = None


def reason_for(choice: Choice) -> str:
    """The reason, and what else must be known to use the number; each a sentence."""
    sentences = [_main(choice)]
    if choice.kept is not None and choice.kept_share is not None and choice.kept != choice.advised:
        sentences.append(
            f"the present {choice.kept:,} is good enough:"
            f" busy {percent(choice.kept_share)} of the time"
        )
    if choice.advised > DIMINISHING_RETURNS:
        sentences.append(
            f"above {DIMINISHING_RETURNS} a nearer broker, or acking several messages at once,"
            " is the better cure"
        )
    if choice.processing < BATCHES_BELOW:
        sentences.append(
            f"below {duration(BATCHES_BELOW)} of work messages travel in batches, and what client"
            " and broker spend on each decides: more that buffers a few milliseconds costs"
            " nothing, so measure it"
        )
    return "; ".join(sentences)


def _main(choice: Choice) -> str:
    advised, rule, k = choice.advised, choice.rule, choice.handling.workers
    busy = f"busy {percent(choice.busy_share)} of the time"
    work = f"{duration(choice.processing)} of work, {duration(choice.rtt)} of round trip"
    if choice.limited is not None:
        return _limited(choice, choice.limited, busy, work)
    if choice.few_samples is not None and choice.fed.range is not None and not choice.raised:
        low, high = choice.fed.range
        return (
            f"{choice.few_samples:,} samples cannot tell {low:,} from {high:,}"
            f" (90 % interval, best guess {choice.fed.prefetch:,}): the upper end is advised"
        )
    if choice.raised is not None and choice.raised.name == "batch":
        return f"{choice.raised.words}: {advised:,} keep a consumer {busy} ({work})"
    if choice.raised is not None:
        return f"{k:,} workers need {k:,} messages at hand, or some never get one ({work})"
    if choice.handling.kind == "loop":
        return (
            f"acks leave only when the loop turns, so all that is buffered and one round trip take"
            f" turns: {advised:,} keep it {busy} ({work}), the rule's {rule.prefetch:,} only"
            f" {percent(rule.busy_share)}; handing the work to a thread is better, the rule holds"
            " then"
        )
    if advised == k < rule.prefetch:
        return _no_buffer(choice, busy, work)
    if advised > rule.prefetch:
        why = "the times vary"
        if choice.handling.batch > 1:
            why = f"acks leave for {choice.handling.batch:,} messages at once"
        return (
            f"{why}: the rule's {rule.prefetch:,} would keep a consumer busy"
            f" {percent(rule.busy_share)} of the time, {advised:,} keep it {busy} ({work})"
        )
    if advised < rule.prefetch:
        gain = percent(max(0.0, rule.busy_share - choice.busy_share))
        return (
            f"{advised:,} keep a consumer {busy} ({work}); the rule's {rule.prefetch:,} would add"
            f" {gain}, and what waits in a client no other consumer can take"
        )
    return (
        f"{advised:,} keep a consumer {busy} ({work})"
        if advised > 1
        else (f"1 keeps a consumer {busy} ({work})")
    )


def _limited(choice: Choice, bound: Bound, busy: str, work: str) -> str:
    """An upper bound decides, and what that costs."""
    if bound.name == "protocol":
        return (
            f"{choice.wanted:,} would be needed ({work}), and the protocol carries at most"
            f" {MAX_PREFETCH:,}, which keep a consumer {busy}"
        )
    return (
        f"{choice.wanted:,} would be needed ({work}), but {bound.words}: {choice.advised:,},"
        f" which keep a consumer {busy}"
    )


def _no_buffer(choice: Choice, busy: str, work: str) -> str:
    """Long tasks: what the rule would add only waits."""
    wait = duration(choice.processing)
    if choice.handling.workers == 1:
        return (
            f"one message keeps a consumer {busy} ({work}); a second would wait {wait} behind"
            " a busy consumer while another idles"
        )
    return (
        f"{choice.handling.workers:,} messages keep the {choice.handling.workers:,} workers {busy}"
        f" ({work}); one more would wait {wait} behind busy workers while another consumer idles"
    )
