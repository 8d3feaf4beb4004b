"""CSV for spreadsheets, Markdown for comments, and lines for clients: right, and safe to open."""

from __future__ import annotations

import ast
import csv
import io
import json
from dataclasses import replace

import pytest
from advice_builders import ADVICE, make_advice, make_finding, make_report
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_table_report import ODD_NAMES

from prefetch_advisor.commands.group import CLIENTS as OFFERED
from prefetch_advisor.model.advice import Recommended
from prefetch_advisor.model.figures import Concurrency, FigureSource
from prefetch_advisor.reports import REPORTS, ReportOptions, clients
from prefetch_advisor.reports.csv_ import COLUMNS
from prefetch_advisor.reports.escape import legible, visible
from prefetch_advisor.reports.markdown import escaped

HOSTILE = (
    *ODD_NAMES,
    "<script>alert(1)</script>",
    "@octocat see #1 and ![x](http://evil.example/y.png)",
    "http://evil.example www.evil.example",
    "| a | b |",
    "```\nfence",
    "$(rm -rf /)",
    "'; drop --",
)
ANY = st.text(st.characters(codec=None), max_size=40)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_numbers_are_numbers_and_unknown_ones_empty():
    (row,) = rows(REPORTS["csv"](make_report(make_advice()), ReportOptions()))
    assert list(row) == list(COLUMNS)
    assert (row["prefetch"], row["recommended_prefetch"], row["keep_prefetch"]) == (
        "10",
        "2",
        "false",
    )
    assert float(row["processing_time_s"]) == 0.0201
    assert float(row["buffered_time_s"]) == 0.18
    assert row["drain_time_s"] == row["wait_s"] == ""
    assert row["findings"] == "PA105:warning"
    # a negative number is one, a text that begins like it is not
    shrinks = replace(ADVICE, offered_load=-1.5, verdict_reason="-1+2")
    (row,) = rows(REPORTS["csv"](make_report(shrinks), ReportOptions()))
    assert (row["offered_load"], row["reason"]) == ("-1.5", "'-1+2")


@given(ANY)
@settings(deadline=None, max_examples=150)
def test_no_cell_is_a_formula_and_no_name_is_lost(name):
    text = REPORTS["csv"](make_report(make_advice(name)), ReportOptions())
    (row,) = rows(text)
    assert row["queue"].removeprefix("'") == legible(name) or row["queue"] == legible(name)
    for cell in row.values():
        assert not cell.startswith(("=", "+", "@", "\t", "\r"))
        assert not cell.startswith("-") or float(cell) < 0
    assert all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup(name):
    report = make_report(
        make_advice(name, findings=(make_finding(message=f"about {name}"),)), make_advice()
    )
    text = REPORTS["markdown"](report, ReportOptions(client="pika"))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    flat = [child for token in tokens for child in [token, *(token.children or [])]]
    html = {t.content.strip() for t in flat if t.type in ("html_block", "html_inline")}
    assert all(part.startswith(("<details>", "</details>", "<br>")) for part in html), html
    assert not {"link_open", "image", "heading_open"} & {t.type for t in flat} - {"heading_open"}
    assert sum(t.type == "heading_open" for t in flat) == 1
    assert sum(t.type == "fence" for t in flat) == 2
    # a row for each queue, a cell for each column
    assert sum(t.type == "tr_open" for t in flat) == 3
    assert sum(t.type == "td_open" for t in flat) == 14


@given(ANY)
@settings(deadline=None, max_examples=200)
def test_text_is_shown_as_it_is(text):
    shown = visible(text)
    (inline,) = [t for t in MarkdownIt("commonmark").parse("x " + escaped(shown)) if t.children]
    assert {t.type for t in inline.children or ()} <= {"text", "text_special"}
    found = "".join(t.content for t in inline.children or ())
    assert found == f"x {shown}".rstrip(" ")


def test_the_clients_offered_are_those_there_are():
    assert set(OFFERED) == set(clients.CLIENTS)


@pytest.mark.parametrize("client", sorted(clients.CLIENTS))
@pytest.mark.parametrize("name", HOSTILE)
def test_lines_are_printable_and_hold_no_raw_name(client, name):
    pasted = clients.paste(make_advice(name), client)
    assert any("2" in line for line in pasted.lines)
    for line in pasted.lines:
        assert line.isascii() or client in ("pika", "aio-pika")
        assert line.isprintable()
        assert "```" not in line or client in ("pika", "aio-pika", "amqplib", "go", "dotnet")
    if client in ("pika", "aio-pika"):
        code = "\n".join(pasted.lines)
        wrapped = "async def f():\n" + "\n".join(f"    {line}" for line in pasted.lines)
        texts = [n.value for n in ast.walk(ast.parse(wrapped)) if isinstance(n, ast.Constant)]
        assert name in texts, code
    if client in ("amqplib", "dotnet"):
        call = next(line for line in pasted.lines if "onsume" in line)
        literal = call[call.index('"') : call.rindex('"') + 1]
        assert json.loads(literal) == name


def test_celery_multiplies_and_says_what_cannot_be_set():
    pool = replace(
        ADVICE,
        concurrency=Concurrency(4, FigureSource.GIVEN, "--concurrency"),
        recommended=Recommended(prefetch=7, reason="x"),
    )
    pasted = clients.paste(pool, "celery")
    assert pasted.lines[:2] == ("worker_concurrency = 4", "worker_prefetch_multiplier = 2")
    assert any("= 8: 7 cannot be set" in note for note in pasted.notes)


def test_what_is_kept_or_cannot_be_advised_is_said():
    kept = replace(ADVICE, recommended=Recommended(prefetch=9, keep=True))
    assert "prefetch_count=10" in clients.paste(kept, "pika").lines[0]
    none = replace(ADVICE, recommended=Recommended(reason="the round trip is not known"))
    assert clients.paste(none, "go") == ((), ("nothing to set: the round trip is not known",))
    assert "run 5 consumers in all, now 3" in clients.paste(ADVICE, "go").notes


def test_json_has_them_where_they_were_asked_for():
    asked = json.loads(REPORTS["json"](make_report(make_advice()), ReportOptions(client="spring")))
    assert asked["queues"][0]["paste"]["client"] == "spring"
    plain = json.loads(REPORTS["json"](make_report(make_advice()), ReportOptions()))
    assert "paste" not in plain["queues"][0]
