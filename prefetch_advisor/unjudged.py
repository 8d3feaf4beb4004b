"""Queues that cannot be judged: only timed, down, too young, or with their figures not read."""

from prefetch_advisor.case import Case, Outcome
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Severity, Verdict

#: states in which a queue's figures mean nothing
DOWN = frozenset({"down", "crashed", "stopped", "minority", "terminated", "nodedown"})
_DEPTH_MISSING = "messages_ready and messages_unacknowledged of the queue"
#: how long the broker takes to show what changed
_SECONDS = "a few seconds: ask again in 15 s"
_AGAIN = "Ask again in 15 s."
CONSUMERS_MISSING = "the queue's consumers: rabbitmqctl list_consumers or /api/consumers"


def timings_only(case: Case) -> Outcome | None:
    if case.row is not None or case.observation.consumers is not None:
        return None
    return Outcome(
        Verdict.UNKNOWN,
        "no broker figures were read for it, so only the sizing is judged",
        "low",
        missing=("the queue's depth, consumers and rates, for a verdict",),
        findings=(
            inputs.NOT_JUDGED.finding(
                case.observation.key.name,
                "sized from its processing time alone; whether it is limited today is not known",
                "Read /api/queues and /api/consumers (or rabbitmqctl list_queues and "
                "list_consumers) beside it.",
                Severity.INFO,
            ),
        ),
    )


def unknown(case: Case) -> Outcome | None:
    row, name = case.row, case.observation.key.name
    if row is not None and row.state is not None and row.state.lower() in DOWN:
        finding = inputs.NOT_JUDGED.finding(name, f"the queue is {row.state}")
        reason = f"the queue is {row.state}: its figures mean nothing until it runs"
        return Outcome(Verdict.UNKNOWN, reason, "high", findings=(finding,))
    if row is not None and row.young and case.ready is None:
        reason = (
            "it was declared, or its node started, a few seconds ago: the broker has no figures "
            "of it yet"
        )
        finding = inputs.NO_DATA.finding(name, reason, _AGAIN)
        return Outcome(Verdict.UNKNOWN, reason, "low", (_SECONDS,), findings=(finding,))
    if case.just_came:
        reason = (
            f"some of its consumers just came: {len(case.observation.consumers or ())} listed, "
            f"{case.consumer_count} counted yet, so its figures are from before"
        )
        finding = inputs.NO_DATA.finding(name, reason, _AGAIN)
        return Outcome(Verdict.UNKNOWN, reason, "low", (_SECONDS,), findings=(finding,))
    if case.ready is None or case.unacked is None:
        finding = inputs.NO_DATA.finding(name, "its depth (ready and unacked) is not in the input")
        reason = "how many messages are ready and unacked is not in the input"
        return Outcome(Verdict.UNKNOWN, reason, "low", (_DEPTH_MISSING,), findings=(finding,))
    if case.consumer_count is None:
        finding = inputs.NO_DATA.finding(name, "its consumers are not in the input")
        reason = "how many consumers it has is not in the input"
        return Outcome(Verdict.UNKNOWN, reason, "low", (CONSUMERS_MISSING,), findings=(finding,))
    return None
