"""The catalogue of findings: one code, one name, one meaning, for ever; shared by every command."""

import difflib
import re

from prefetch_advisor.findings import (
    apps,
    broker_files,
    buffers,
    celery,
    claims,
    consumers,
    declared,
    inputs,
    source,
)
from prefetch_advisor.findings.rule import Rule

#: in code order
RULES: tuple[Rule, ...] = (
    inputs.NO_DATA,
    inputs.NO_RATES,
    inputs.INCONSISTENT_INPUT,
    inputs.TOO_FEW_SAMPLES,
    inputs.NOT_JUDGED,
    inputs.UNPARSABLE_FILE,
    inputs.STALE_SUPPRESSION,
    inputs.INVALID_SETTING,
    consumers.UNBOUNDED_PREFETCH,
    consumers.AUTO_ACK,
    consumers.PREFETCH_BELOW_ROUND_TRIP,
    consumers.PREFETCH_TOO_LARGE,
    consumers.ADD_CONSUMERS,
    consumers.MORE_CONSUMERS,
    consumers.NO_ACKS,
    consumers.ACKS_HELD,
    consumers.ACK_TIMEOUT_RISK,
    consumers.GLOBAL_QOS,
    consumers.QUORUM_2000,
    consumers.SINGLE_ACTIVE,
    consumers.UNEQUAL,
    consumers.NO_CONSUMERS,
    consumers.POLLING,
    consumers.REDELIVERY_LOOP,
    consumers.PRIORITIES_DEFEATED,
    consumers.MEMORY_OVER_BUDGET,
    consumers.BELOW_CONCURRENCY,
    consumers.BATCH_NOT_BELOW,
    consumers.EARLY_ACK,
    consumers.ABOVE_LIMIT,
    consumers.UNUSED_QOS,
    consumers.LATE_QOS,
    consumers.REDELIVERIES,
    consumers.NOTHING_DELIVERED,
    consumers.PREFETCH_GROWS,
    consumers.POLLED_TOO,
    source.QOS_AFTER_CONSUME,
    source.QOS_WITH_AUTO_ACK,
    source.CONSUME_WITHOUT_QOS,
    source.QOS_ON_OTHER_CHANNEL,
    source.SWAPPED_ARGUMENTS,
    source.ABOVE_PROTOCOL,
    source.ACK_MISSING_ON_ERROR,
    source.POLLING_LOOP,
    source.BLOCKING_HANDLER,
    source.GLOBAL_QOS,
    source.ACK_BEFORE_WORK,
    source.BATCH_EXCEEDS,
    source.PRIORITY_BEHIND,
    source.NEVER_ACKED,
    declared.UNBOUNDED_PREFETCH,
    declared.AUTO_ACK,
    declared.PREFETCH_BELOW_ROUND_TRIP,
    declared.PREFETCH_TOO_LARGE,
    declared.ADD_CONSUMERS,
    declared.ACK_TIMEOUT_RISK,
    declared.GLOBAL_QOS,
    declared.QUORUM_2000,
    declared.SINGLE_ACTIVE,
    declared.UNEQUAL,
    declared.PRIORITIES_DEFEATED,
    declared.MEMORY_OVER_BUDGET,
    declared.BELOW_CONCURRENCY,
    declared.BATCH_NOT_BELOW,
    declared.STREAM_NEEDS_PREFETCH,
    declared.EARLY_ACK,
    declared.ABOVE_PROTOCOL,
    *celery.RULES,
    *apps.RULES,
    *broker_files.RULES,
    buffers.UNBOUNDED_HANDOFF,
    *claims.RULES,
)


_BARE_NUMBER = re.compile(r"[0-9]{3}")
_CODE = re.compile(r"pa[0-9]*|[0-9]+")


def find(text: str) -> list[Rule]:
    """The rules with this code or name; "101", "pa101", "Unbounded_Prefetch" will do.

    There are several where a running queue and a file are judged by the same name.
    """
    wanted = _normal(text)
    if _BARE_NUMBER.fullmatch(wanted):
        wanted = f"pa{wanted}"
    return [rule for rule in RULES if wanted in (rule.code.lower(), rule.name)]


def near(text: str) -> list[str]:
    """Codes or names that ``text`` may have meant; for the start of a code its whole family."""
    wanted = _normal(text)
    if _CODE.fullmatch(wanted):
        code = wanted if wanted.startswith("pa") else f"pa{wanted}"
        family = [r.code for r in RULES if r.code.lower().startswith(code)]
        codes = [r.code for r in RULES]
        kin = [each for each in codes if each[:3] == code.upper()[:3]]
        return family or difflib.get_close_matches(code.upper(), kin or codes, 5, 0.7)
    names = list(dict.fromkeys(r.name for r in RULES))
    close = difflib.get_close_matches(wanted, names, 3, 0.5)
    holding = [name for name in names if len(wanted) > 2 and wanted in name and name not in close]
    return [*close, *holding][:5]


def _normal(text: str) -> str:
    return "-".join(text.lower().replace("_", " ").replace("-", " ").split())


def listed() -> str:
    """A line for each rule: code, severity, name and what is the matter."""
    wide = max(len(r.name) for r in RULES)
    return "".join(
        f"{r.code}  {r.severity.name.lower():7}  {r.name:{wide}}  {r.what}\n" for r in RULES
    )


def explain(rule: Rule) -> str:
    """What ``prefetch-advisor explain`` prints for a rule."""

    def indented(text: str) -> str:
        return "\n".join(f"    {line}" for line in text.splitlines())

    where = f", {rule.file}" if rule.file else ""
    return (
        f"{rule.code} {rule.name} ({rule.severity.name.lower()})\n\n"
        f"{rule.what}\n\n"
        f"Why: {rule.why}\n\n"
        f"What to do: {rule.fix}\n\n"
        f"Bad{where}:\n{indented(rule.bad)}\n\n"
        f"Good{where}:\n{indented(rule.good)}\n\n"
        f"See {rule.url}\n"
    )


def document(lint: bool = False) -> str:
    """The catalogue as docs/findings.md has it; with ``lint``, its rules as docs/rules.md has."""
    rules = [rule for rule in RULES if _of_lint(rule) is lint]
    if not lint:
        return (
            "# Findings\n\n"
            "What `advise` may find; what `lint` may is in [rules.md](rules.md). `prefetch-advisor "
            "explain CODE` prints the same. A code is never used again.\n\n"
            "Written by `python -m prefetch_advisor.findings > docs/findings.md`.\n"
        ) + "".join(map(_section, rules))
    listed = "".join(
        f"| [{r.code}](#{r.code.lower()}-{r.name}) | {r.name} | {r.severity.name.lower()} | "
        f"{r.what} |\n"
        for r in rules
    )
    return (
        "# Rules of lint\n\n"
        "Each with a file that breaks it and one that does not. `prefetch-advisor explain CODE` "
        "prints the same. A code is never used again.\n\n"
        "Written by `python -m prefetch_advisor.findings --lint > docs/rules.md`.\n\n"
        f"| code | name | severity | what |\n| --- | --- | --- | --- |\n{listed}"
    ) + "".join(map(_section, rules))


def _of_lint(rule: Rule) -> bool:
    return bool(rule.file) or rule.code >= "PA2"


#: the language of a file, for those who colour it
_LANGUAGES = {
    "conf": "ini",
    "config": "erlang",
    "cfg": "ini",
    "ini": "ini",
    "json": "json",
    "py": "python",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
}


def _section(rule: Rule) -> str:
    language = _LANGUAGES.get(rule.file.rpartition(".")[2], "text")
    where = f", `{rule.file}`" if rule.file else ""

    def example(title: str, text: str) -> str:
        # a fence longer than any in the text
        runs = re.findall(r"`{3,}", text)
        fence = "`" * (max(map(len, runs), default=2) + 1)
        body = text.removesuffix("\n")
        return f"{title}{where}:\n\n{fence}{language}\n{body}\n{fence}\n\n"

    return (
        f"\n## {rule.code} {rule.name}\n\n"
        f"{rule.severity.name.capitalize()}. {rule.what}\n\n"
        f"{rule.why}\n\n"
        f"**What to do:** {rule.fix}\n\n"
        f"{example('Bad', rule.bad)}{example('Good', rule.good)}"
        f"See <{rule.url}>.\n"
    )
