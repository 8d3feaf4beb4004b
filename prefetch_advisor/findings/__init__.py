"""The catalogue of findings: one code, one name, one meaning, for ever; shared by every command."""

import difflib

from prefetch_advisor.findings import consumers, inputs
from prefetch_advisor.findings.rule import Rule

#: in code order
RULES: tuple[Rule, ...] = (
    inputs.NO_DATA,
    inputs.NO_RATES,
    inputs.INCONSISTENT_INPUT,
    inputs.TOO_FEW_SAMPLES,
    inputs.NOT_JUDGED,
    consumers.UNBOUNDED_PREFETCH,
    consumers.AUTO_ACK,
    consumers.PREFETCH_BELOW_ROUND_TRIP,
    consumers.PREFETCH_TOO_LARGE,
    consumers.ADD_CONSUMERS,
    consumers.MORE_CONSUMERS,
    consumers.NO_ACKS,
    consumers.ACKS_HELD,
    consumers.GLOBAL_QOS,
    consumers.QUORUM_2000,
    consumers.SINGLE_ACTIVE,
    consumers.UNEQUAL,
    consumers.NO_CONSUMERS,
    consumers.POLLING,
    consumers.REDELIVERY_LOOP,
    consumers.PRIORITIES_DEFEATED,
    consumers.BELOW_CONCURRENCY,
    consumers.EARLY_ACK,
    consumers.ABOVE_LIMIT,
    consumers.UNUSED_QOS,
    consumers.LATE_QOS,
)


def find(text: str) -> Rule | None:
    """The rule with this code or name, in any case."""
    wanted = text.strip().lower()
    return next((r for r in RULES if wanted in (r.code.lower(), r.name)), None)


def near(text: str) -> list[str]:
    """Names that ``text`` may have meant."""
    return difflib.get_close_matches(text.strip().lower(), [r.name for r in RULES], 3, 0.5)


def listed() -> str:
    """Every code with its name, for an error message."""
    return ", ".join(f"{r.code} {r.name}" for r in RULES)


def explain(rule: Rule) -> str:
    """What ``prefetch-advisor explain`` prints for a rule."""

    def indented(text: str) -> str:
        return "\n".join(f"    {line}" for line in text.splitlines())

    return (
        f"{rule.code} {rule.name} ({rule.severity.name.lower()})\n\n"
        f"{rule.what}\n\n"
        f"Why: {rule.why}\n\n"
        f"What to do: {rule.fix}\n\n"
        f"Bad:\n{indented(rule.bad)}\n\n"
        f"Good:\n{indented(rule.good)}\n\n"
        f"See {rule.url}\n"
    )
