import re
import unicodedata
from typing import Any

import pytest
from advice_builders import make_advice, make_finding, make_report
from rich.cells import cell_len

from prefetch_advisor.model.advice import (
    ConsumerAdvice,
    Current,
    Fed,
    Limit,
    Observed,
    QueueAdvice,
    Recommended,
    Report,
    Severity,
    Verdict,
)
from prefetch_advisor.model.figures import (
    Concurrency,
    Figure,
    FigureSource,
    ProcessingTime,
    RoundTrip,
)
from prefetch_advisor.model.observation import Broker, QueueKey
from prefetch_advisor.reports import REPORTS, ReportOptions
from prefetch_advisor.reports.escape import units, visible
from prefetch_advisor.reports.overview import COLUMNS

ODD_NAMES = (
    "odd name with spaces",
    "очередь",
    "[red]alert[/red]",
    "tab\there",
    "ansi\x1b[31mred\x1b[0m",
    " ",
    "\u200b",
    'comma,"quote"\'s;semi',
    "-leading-dash",
    "[bold",
    "{curly} %s %d",
    "漢字キュー",
    "漢字キュー" * 20,
    "=cmd()",
    "very-long-" + "x" * 200,
    "L" * 255,
    "e\u202ecod\u202c",
    "שלום עולם 12",
    b"not utf-8 \xff\xfe".decode("utf-8", "surrogateescape"),
    "new\nline",
    "back\\slash",
    "",
)


def table(report: Report, **options: Any) -> str:
    return REPORTS["table"](report, ReportOptions(**options))


def row(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


OVERVIEW = """\
RabbitMQ 4.3.6
ALARM: memory on rabbit@a; publishers are blocked meanwhile
Read: queues.json, consumers.json
queue         verdict           ready     unacked  prefetch  consumers    busy %
sc.stalled    stalled           1,556         1/1     1 → -      1 → -         -
sc.unbounded  unbounded             0  6,994/none     0 → -      1 → 3         -
sc.rtt_bound  round-trip-bound  4,731         1/1    1 → 19          1   5 → 100
tasks         processing-bound  1,204       30/30    10 → 2      3 → 5  99 → 100
sc.healthy    keeping-up            0        2/40        20          2       100
unacked/limit, now → advised (one figure: no change); -: not known, --details
says why. No room for "why".

5 queues: 1 error, 1 warning.
error     PA107 no-acks: sc.stalled: 1 unacked and no ack in 60 s
warning   PA105 add-consumers: tasks: 3 consumers can work off 149/s, 190/s
          arrive
"""


def captured() -> list[QueueAdvice]:
    """A few queues as real brokers show them."""
    return [
        make_advice(),
        make_advice(
            "sc.healthy",
            verdict=Verdict.KEEPING_UP,
            observed=Observed(consumers=2, prefetch=(20,), ready=0, unacked=2),
            limit=Limit(40, "per-consumer", "measured", "2 consumers x 20"),
            current=Current(prefetch=20, consumers=2, busy_share=1.0),
            recommended=Recommended(prefetch=20, consumers=2, keep=True, busy_share=1.0),
            findings=(),
        ),
        make_advice(
            "sc.rtt_bound",
            verdict=Verdict.ROUND_TRIP_BOUND,
            observed=Observed(consumers=1, prefetch=(1,), ready=4731, unacked=1),
            limit=Limit(1, "per-consumer", "measured", "1 consumer x 1"),
            current=Current(prefetch=1, consumers=1, busy_share=0.054),
            recommended=Recommended(prefetch=19, consumers=1, busy_share=0.998),
            findings=(),
        ),
        make_advice(
            "sc.unbounded",
            verdict=Verdict.UNBOUNDED,
            observed=Observed(consumers=1, prefetch=(0,), ready=0, unacked=6994),
            limit=Limit(None, "none", "measured", "prefetch 0"),
            current=Current(prefetch=0, consumers=1),
            recommended=Recommended(consumers=3, reason="the round trip is not known"),
            findings=(),
        ),
        make_advice(
            "sc.stalled",
            verdict=Verdict.STALLED,
            observed=Observed(consumers=1, prefetch=(1,), ready=1556, unacked=1),
            limit=Limit(1, "per-consumer", "measured", "1 consumer x 1"),
            current=Current(prefetch=1, consumers=1),
            recommended=Recommended(reason="acks are missing", consumers_reason="they would stall"),
            findings=(
                make_finding(
                    code="PA107",
                    name="no-acks",
                    severity=Severity.ERROR,
                    message="1 unacked and no ack in 60 s",
                ),
            ),
        ),
    ]


def test_the_overview_has_a_line_for_each_queue_the_worst_first() -> None:
    report = make_report(
        *captured(),
        broker=Broker(version="4.3.6", alarms=("memory on rabbit@a",)),
        inputs=("queues.json", "consumers.json"),
    )
    assert table(report, width=80) == OVERVIEW


DETAIL = """\
RabbitMQ 4.0.5
queue  verdict           ready  unacked  prefetch  consumers     busy %
tasks  processing-bound  1,204    30/30   10 -> 2     3 -> 5  99 -> 100

tasks
  verdict      processing-bound (confidence high)
               Consumers are busy all the time: more prefetch changes nothing,
               more consumers (or concurrency) would.
  why          each consumer works 99 % of the time (49.4/s x 20.1 ms)
  prefetch     10 -> 2
               2 keep a consumer busy at this round trip; what is above waits in
               the client
  consumers    3 -> 5 (fewer than 4 never keep up)
               5 x 20.1 ms work off 190/s at 76 %
  busy share   99 % -> 100 % (while messages wait)
  utilisation  127 % -> 76 % (offered load / workers)
  buffered     180 ms -> 20.1 ms (how long the last prefetched message waits in
               the client)
  seen         3 consumers with prefetch 10 on a classic queue
  messages     1,204 ready, 30 unacked
  limit        30 unacked at most (per-consumer; measured: 3 consumers x 10)
  rates        published 190/s, delivered 148/s, acked 148/s, grows by 41.8/s
  window       full (at the limit with messages waiting) in 13 of 13 samples
               over 60 s
  P            processing time 20.1 ms (measured: 1,000 rows of timings.csv);
               mean between 20 ms and 20.2 ms at 95 %; CV 0.02; p50 20.1 ms p95
               20.4 ms p99 20.6 ms
  R            round trip 1 ms (given: --rtt)
  k            concurrency 1 (assumed: one message at a time; --concurrency if
               more)
  A            arrival rate 190/s (inferred: departures + growth over 60 s);
               offered load A x P = 3.82 busy workers
  rule         ceil(1 x (20.1 ms + 1 ms) / 20.1 ms) = 2, busy 100 % with these
               processing times
  fed          2 is the smallest prefetch that reaches the target busy share
  R*           your prefetch covers round trips up to 180 ms
  warning      PA105 add-consumers: 3 consumers can work off 149/s, 190/s arrive
               Do: run 5 consumers
               See https://www.rabbitmq.com/docs/consumers
"""


def test_one_queue_comes_with_its_reasoning() -> None:
    text = table(make_report(make_advice()), width=80, unicode=False)
    assert text == DETAIL


@pytest.mark.parametrize("width", [60, 80, 132])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("details", [True, False])
def test_odd_names_stay_in_their_line_and_can_be_recognised(
    width: int, unicode: bool, details: bool
) -> None:
    queues = [make_advice(name) for name in ODD_NAMES]
    text = table(make_report(*queues), width=width, unicode=unicode, details=details)
    assert text.encode("utf-8" if unicode else "ascii")
    for line in text.splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()
        for char in line:
            assert unicodedata.category(char)[0] != "C" or char in "\u2068\u2069"
    rows = text.splitlines()[2 : 2 + len(ODD_NAMES)]
    for name, line in zip(ODD_NAMES, rows, strict=True):
        parts = units(visible(name, ascii_only=not unicode))
        shown = line.replace("\u2068", "").replace("\u2069", "")
        # two escapes or wide letters at its start, or six letters; and one or four at its end
        plain = all(cell_len(part) == 1 for part in parts)
        first, last = (6, 4) if plain else (2, 1)
        assert shown.startswith("".join(parts[:first]))
        assert "".join(parts[-last:]) in shown
        assert "processing-bound" in line


def test_the_reasoning_begins_with_the_whole_name() -> None:
    for name in ODD_NAMES:
        text = table(make_report(make_advice(name)), width=80)
        heading = text.split("\n\n")[1].split("\n  verdict")[0]
        joined = heading.replace("\n", "").replace("\u2068", "").replace("\u2069", "")
        assert joined.replace(" ", "") == visible(name).replace(" ", "")


def test_hostile_text_is_escaped_wherever_it_can_stand() -> None:
    evil = "\x1b]0;owned\x07 [bold red]x[/] \u202e\r\n\udcff"
    consumers = (
        ConsumerAdvice(evil, evil, 1, "manual", True, 1.0),
        ConsumerAdvice("other", evil, 2, "auto", False, 1.0),
    )
    finding = make_finding(subject=evil, message=evil, help=evil, url=evil)
    queue = make_advice(
        evil,
        evil,
        type=evil,
        verdict_reason=evil,
        missing=(evil,),
        notes=(evil,),
        limit=Limit(1, "per-consumer", "measured", evil),
        processing_time=ProcessingTime(0.02, FigureSource.GIVEN, evil),
        rtt=RoundTrip(0.001, FigureSource.GIVEN, evil),
        concurrency=Concurrency(1, FigureSource.GIVEN, evil),
        arrival_rate=Figure(1, FigureSource.GIVEN, evil),
        recommended=Recommended(2, 5, reason=evil, consumers_reason=evil),
        consumers=consumers,
        findings=(finding,),
    )
    report = make_report(
        queue, findings=(finding,), inputs=(evil,), broker=Broker(evil, None, False, (evil,))
    )
    for unicode in (True, False):
        text = table(report, width=100, unicode=unicode)
        assert all(line.isprintable() for line in text.splitlines())
        assert text.count("[bold red]x[/]") >= 12


def test_colour_adds_nothing_but_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    report = make_report(*(make_advice(name) for name in ODD_NAMES), make_advice())
    plain = table(report, width=90, details=True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    coloured = table(report, width=90, details=True, colour=True)
    assert "\x1b[33m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_only_the_options_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    report = make_report(make_advice())
    expected = table(report, width=80)
    for name, value in (("COLUMNS", "200"), ("FORCE_COLOR", "1"), ("TTY_COMPATIBLE", "1")):
        monkeypatch.setenv(name, value)
    assert table(report, width=80) == expected


def test_verdict_then_worst_finding_then_depth_give_the_order() -> None:
    error = make_finding(severity=Severity.ERROR)
    text = table(
        make_report(
            make_advice("idle", verdict=Verdict.IDLE, findings=(error,)),
            make_advice("small", observed=Observed(ready=1, unacked=1)),
            make_advice("large", observed=Observed(ready=1, unacked=900)),
            make_advice("bad", observed=Observed(), findings=(error,)),
            make_advice("stalled", verdict=Verdict.STALLED, findings=()),
        )
    )
    names = [line.split()[0] for line in text.splitlines()[2:7]]
    assert names == ["stalled", "bad", "large", "small", "idle"]


def test_at_most_fifty_queues_are_shown_and_the_rest_is_counted() -> None:
    queues = [make_advice(f"q{place:03}") for place in range(60)]
    queues += [make_advice(f"i{place:03}", verdict=Verdict.IDLE) for place in range(1000)]
    report = make_report(*queues)
    text = table(report)
    assert len(re.findall("^q[0-9]{3} ", text, re.MULTILINE)) == 50
    words = " ".join(text.split())
    assert "50 of 1,060 queues are shown" in words
    assert "Left out: 10 processing-bound, 1,000 idle." in words
    assert "--all" in words
    every = table(report, all_queues=True)
    assert len(re.findall("^[qi][0-9]{3} ", every, re.MULTILINE)) == 1060
    assert "Left out" not in every


def test_the_vhost_is_named_only_where_it_tells_something() -> None:
    assert row(table(make_report(make_advice(), make_advice("other"))), "tasks ")
    assert row(table(make_report(make_advice("tasks", "a/b c"))), "a/b c: tasks ")
    both = table(make_report(make_advice(), make_advice("tasks", "staging")))
    assert row(both, "/: tasks ")
    assert row(both, "staging: tasks ")


def test_the_broker_is_named_where_there_are_several() -> None:
    queues = (make_advice(key=QueueKey(f"rabbit@{name}", "/", "q")) for name in "ab")
    text = table(make_report(*queues))
    assert row(text, "rabbit@a: q ")
    assert row(text, "rabbit@b: q ")


def test_unknown_is_a_dash_and_the_reason_is_in_the_details() -> None:
    queue = make_advice(
        observed=Observed(consumers=3, prefetch=(0, 5, 50)),
        limit=Limit(None, "unknown", "assumed"),
        processing_time=None,
        rtt=RoundTrip(0.0002, FigureSource.BOUND, "TCP connect", side="at least"),
        arrival_rate=None,
        offered_load=None,
        current=Current(consumers=3),
        rule=None,
        fed=None,
        missing=("round trip: --rtt",),
        recommended=Recommended(
            reason="the round trip is only a bound", consumers_reason="the arrival rate is unknown"
        ),
        findings=(),
    )
    text = table(make_report(queue), unicode=False)
    assert row(text, "tasks ").split()[1:] == [
        *("processing-bound", "-", "-", "0-50", "->", "-", "3", "->", "-", "-")
    ]
    words = " ".join(text.split())
    for reason in (
        "prefetch 0-50 -> no advice the round trip is only a bound",
        "consumers 3 -> no advice the arrival rate is unknown",
        "3 consumers with prefetch 0, 5, 50",
        "P processing time not known",
        "R round trip at least 0.2 ms (a bound, so nothing is computed from it: TCP connect)",
        "missing round trip: --rtt",
    ):
        assert reason in words
    assert "ceil" not in words


def test_what_is_kept_is_one_figure() -> None:
    queue = make_advice(
        recommended=Recommended(2, 4, keep=True, keep_consumers=True, busy_share=1.0), findings=()
    )
    text = table(make_report(queue))
    assert row(text, "tasks ").split()[4:7] == ["10", "3", "99"]
    assert "prefetch     10, no change" in text
    assert "consumers    3, no change" in text


def test_a_range_and_what_an_exponential_would_need_are_said() -> None:
    words = " ".join(table(make_report(make_advice(fed=Fed(26, (18, 30), 23)))).split())
    assert "these samples allow 18 to 30 (90 % interval)" in words
    assert "23 if the processing times varied like an exponential" in words


def test_a_range_and_a_limit_that_are_not_known_are_said_to_be_that() -> None:
    absent: Any = None
    text = table(make_report(make_advice(fed=Fed(26, absent), limit=absent)))
    assert "what range the samples allow is not known" in " ".join(text.split())
    assert "limit        not known\n" in text
    assert " 30/- " in text
    limit = Limit(None, "unknown", "measured", "no list of consumers was read")
    text = table(make_report(make_advice(limit=limit)))
    assert "limit        not known (no list of consumers was read)\n" in text


@pytest.mark.parametrize("width", range(40, 133, 4))
def test_columns_are_never_closer_than_two_spaces(width: int) -> None:
    unknown = make_advice(
        observed=Observed(),
        limit=Limit(None, "unknown", "measured"),
        current=Current(),
        recommended=Recommended(prefetch=2, busy_share=1.0),
        findings=(),
    )
    queues = [*captured(), unknown, make_advice("n" * 30)]
    lines = table(make_report(*queues, broker=Broker()), width=width).splitlines()
    titles = lines[0].split("  ")
    assert titles[0] == "queue"
    columns = [place.start() for place in re.finditer(r"(?<=  )\S", lines[0])]
    shown = [title.strip() for title in titles if title.strip()]
    assert len(columns) + 1 == len(shown)
    assert set(shown) <= {column.title for column in COLUMNS}
    if "why" not in shown:
        for line in lines[1 : len(queues) + 1]:
            cells = re.split(r" {2,}", line.strip())
            assert len(cells) == len(shown)
    for line in lines:
        assert cell_len(line) <= width


def test_consumers_are_listed_only_where_they_differ() -> None:
    def consumer(tag: str, prefetch: int, rate: float = 10.0) -> ConsumerAdvice:
        channel = f"10.0.0.{prefetch}:4{tag} -> 10.0.0.1:5672 (1)"
        return ConsumerAdvice(tag, channel, prefetch, "manual", True, rate)

    alike = tuple(consumer(f"{place:04}", 10) for place in range(3))
    assert "channel" not in table(make_report(make_advice(consumers=alike)))
    unequal = (*alike, consumer("slow", 10, rate=4.0))
    assert "10.0.0.10:4slow (1)" in table(make_report(make_advice(consumers=unequal)))
    many = tuple(consumer(f"{place:04}", place) for place in range(30))
    text = table(make_report(make_advice(consumers=many)))
    assert len(re.findall("^  00[0-9]{2} ", text, re.MULTILINE)) == 20
    assert "and 10 consumers more" in text


def test_findings_of_many_queues_are_gathered_by_kind() -> None:
    text = table(make_report(*(make_advice(f"q{place}") for place in range(6))), width=100)
    assert "6 queues: 6 warnings." in text
    assert row(text, "warning ") == "warning   PA105 add-consumers (x6): q0, q1, q2, q3 and 2 more"


def test_the_directory_of_the_files_is_named_once() -> None:
    same = make_report(make_advice(), inputs=tuple(f"/var/tmp/saved/{n}.json" for n in "abcdef"))
    assert "Read: a.json, b.json, c.json, d.json and 2 more in /var/tmp/saved" in table(same)
    apart = make_report(make_advice(), inputs=("a/q.csv", "b/q.csv"))
    assert "Read: a/q.csv, b/q.csv" in table(apart)


def test_one_consumer_more_is_one() -> None:
    consumers = tuple(
        ConsumerAdvice(f"c{place}", None, place, "manual", True, 1.0) for place in range(21)
    )
    assert "and 1 consumer more" in table(make_report(make_advice(consumers=consumers)))


def test_consumers_fit_into_a_narrow_terminal() -> None:
    consumers = tuple(
        ConsumerAdvice(
            f"consumer-{place}",
            "10.0.0.1:4000 -> 10.0.0.2:5672 (1)",
            place,
            "manual",
            False,
            1234.0,
            65_535,
        )
        for place in range(3)
    )
    text = table(make_report(make_advice(consumers=consumers)), width=40)
    grid = text[text.index("\n  consumer ") + 1 :].splitlines()
    assert len(grid) == 4
    assert all(cell_len(line) <= 40 for line in grid)


@pytest.mark.parametrize("path", ["/dev/fd/", "/proc/self/fd/"])
def test_process_substitution_is_named_as_it_was_given(path: str) -> None:
    report = make_report(make_advice(), inputs=(f"{path}63", f"{path}62"))
    assert f"Read: {path}63, {path}62\n" in table(report)


@pytest.mark.parametrize("width", [40, 50, 59])
def test_a_url_stands_alone_where_the_width_is_small(width: int) -> None:
    url = make_finding().url
    lines = table(make_report(make_advice()), width=width).splitlines()
    alone = next(line for line in lines if url in line)
    assert alone.strip() == url
    assert cell_len(alone) <= max(width, len(url))


def test_a_url_is_never_broken() -> None:
    url = "https://www.rabbitmq.com/docs/" + "a" * 60
    text = table(make_report(make_advice(findings=(make_finding(url=url),))), width=60)
    assert url in text


def test_no_number_is_parted_from_its_unit_at_a_line_end() -> None:
    for width in range(60, 100):
        for line in table(make_report(make_advice()), width=width).splitlines():
            assert not re.match(r"\s*(%|ms|s)\b", line)
            assert cell_len(line) <= width


def test_no_queue_at_all_still_says_so() -> None:
    assert "0 queues: no findings." in table(make_report())
