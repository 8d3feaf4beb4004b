"""Files that are hardly Python, hardly finished, or huge: none stops lint, none is guessed at."""

from __future__ import annotations

import json
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_python_libraries import WRONG
from test_python_right import RIGHT
from test_python_six_ways import WAYS
from told import lint_text, written

from prefetch_advisor.lint import run
from prefetch_advisor.lint.settings import Settings

CONSUMER = """\
import pika

def handle(ch, method, properties, body):
    ch.basic_ack(method.delivery_tag)

channel = pika.BlockingConnection().channel()
channel.basic_consume("tasks", handle)
"""


def told(files: dict[str, str | bytes]) -> list[tuple[str, int]]:
    return [(each.finding.code, each.place.line) for each in lint_text(files)]


@pytest.mark.parametrize(
    "text",
    [
        "import pika\nprint 'python 2'\nchannel.basic_qos(10)\n",
        "import pika\nexcept Exception, e:\n    channel.basic_qos(10)\n",
        "import pika\n{% if x %}\nchannel.basic_qos(10)\n{% endif %}\n",
        "import pika\nchannel.basic_qos(10\n",
        "import pika # basic_qos\0\n",
        "pika.basic_qos" + "(" * 5_000,
        "pika.basic_qos\nx = " + "-" * 50_000 + "1\n",
        "pika.basic_qos\nx = " + "a." * 20_000 + "b\n",
        "pika.basic_qos\n" + "".join(f"{' ' * n}if x:\n" for n in range(150)) + " " * 150 + "y\n",
        "pika\nbasic_qos = 9" + "9" * 6_000,
        "",
        "\ufeff",
    ],
)
def test_what_is_no_python_is_no_finding(text):
    assert told({"worker.py": text}) == []


def test_a_file_that_is_left_out_is_told():
    with written({"worker.py": "import pika\nprint 'basic_qos'\n"}) as root:
        read = run.read(["."], root, Settings(base=root))
    (note,) = read.notes
    assert note.startswith(
        "worker.py: left out from line 2 on: not the Python that this one reads: "
    )


def test_a_mark_at_the_start_and_any_line_ends_leave_places_right():
    assert told({"worker.py": "\ufeff" + CONSUMER}) == [("PA203", 7)]
    assert told({"worker.py": CONSUMER.replace("\n", "\r\n")}) == [("PA203", 7)]
    assert told({"worker.py": CONSUMER.replace("\n", "\r")}) == [("PA203", 7)]
    accents = CONSUMER.replace("channel.basic_consume", "é = 1; channel.basic_consume")
    (found,) = lint_text({"worker.py": accents})
    assert (found.place.line, found.place.column) == (7, 8)


def test_stubs_and_tests_are_not_read():
    for name in ("worker.pyi", "test_worker.py", "tests/worker.py", "conftest.py"):
        assert told({name: CONSUMER}) == []


def notebook(*cells: tuple[str, str], split: bool = True) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "cells": [
                {
                    "cell_type": kind,
                    "metadata": {"source": ["x"]},
                    "outputs": [{"source": "basic_consume"}],
                    "source": text.splitlines(keepends=True) if split else text,
                }
                for kind, text in cells
            ],
        },
        indent=1,
    )


@pytest.mark.parametrize("split", [True, False])
def test_cells_of_a_notebook_are_read_and_told_by_the_lines_of_its_file(split):
    first, second = CONSUMER.split("channel = ")
    text = notebook(
        ("markdown", "channel.basic_consume('x', handle)"),
        ("code", "%pip install pika\n!ls\n"),
        ("code", first),
        ("code", "%%bash\nchannel.basic_qos(10)"),
        ("code", "this is broken"),
        ("code", f"channel = {second}await something()\n"),
        split=split,
    )
    lines = text.splitlines()
    wanted = next(
        number
        for number, line in enumerate(lines, 1)
        if "basic_consume" in line and "tasks" in line
    )
    assert told({"work.ipynb": text}) == [("PA203", wanted)]


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": ["basic_qos", 1, {}, {"cell_type": "code"}]}',
        '{"cells": {"basic_qos": 1}}',
        '["basic_qos"]',
        '{"basic_qos"',
        "[" * 9_000 + '"basic_qos"',
    ],
)
def test_what_is_no_notebook_is_told_as_such_or_not_at_all(text):
    assert {code for code, _ in told({"work.ipynb": text})} <= {"PA006"}


def test_a_file_of_14_000_lines_is_read_in_a_moment():
    beside = "".join(
        f"def function_{n}(value):\n    if value:\n        return other_{n}(value)\n"
        f"    for each in value:\n        print(each)\n    return None\n\n"
        for n in range(2_000)
    )
    assert told({"worker.py": beside + CONSUMER}) == [("PA203", 14_007)]


def test_calls_that_multiply_are_not_followed_for_ever():
    chain = "".join(
        f"def step_{n}(channel):\n" + f"    step_{n + 1}(channel)\n" * 5 for n in range(30)
    )
    last = "def step_30(channel):\n    channel.basic_consume('q', handle)\n"
    assert told({"worker.py": f"import pika\n{chain}{last}step_0(pika.channel())\n"}) == []


@pytest.mark.parametrize(
    "package",
    ["pika", "aio_pika", "aiormq", "kombu", "amqp", "celery", "dramatiq", "faststream", "nameko"],
)
def test_libraries_themselves_have_no_error(package, pytestconfig):
    beside = Path(sys.prefix) / "sources-to-lint"  # by tests/run
    found = PathFinder.find_spec(package, [*sys.path, str(beside)])
    if found is None or not found.submodule_search_locations:
        assert not pytestconfig.getoption("--require-broker"), f"{package} is not installed"
        pytest.skip(f"{package} is not installed")
    root = Path(next(iter(found.submodule_search_locations)))
    report = run.report(run.read(["."], root, Settings(base=root)), Settings(base=root))
    assert report.files > 1
    assert [each for each in report.findings if each.severity.name == "ERROR"] == []


TEXTS = [
    *(text for ways in WAYS.values() for text in ways.values()),
    *(text for _, text in WRONG.values()),
    *RIGHT.values(),
]
PIECES = st.sampled_from(
    [
        *("\n", "    ", "(", ")", "[", "]", ":", ",", "*", "**", "lambda: ", "await ", "async "),
        *("yield ", "return\n", "raise\n", "break\n", "if x:\n", "try:\n", "except:\n", "self."),
        *("global channel\n", "del channel\n", "for x in y:\n", "while True:\n", "None", "0"),
        *("match x:\n", "channel.basic_qos(", "channel.basic_consume(", "functools.partial("),
        *(
            "import pika\n",
            "from . import x\n",
            "class A(A):\n",
            "@property\n",
            "\ufeff",
            "é",
            "\r",
        ),
    ]
)


@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), PIECES), max_size=5),
    st.sampled_from(TEXTS),
)
@settings(deadline=None, max_examples=400)
def test_text_that_is_nearly_python_stops_nothing(text, splices, other):
    for where, gone, new in splices:
        at = int(where * len(text))
        text = text[:at] + new + text[at + gone :]
    for found in lint_text({"worker.py": text, "other.py": other}):
        assert found.place.line >= 1
        assert found.place.column >= 1


@given(
    st.lists(st.sampled_from([line for text in TEXTS for line in text.splitlines()]), max_size=30)
)
@settings(deadline=None, max_examples=200)
def test_any_lines_of_consumers_stop_nothing(lines):
    lint_text({"worker.py": "\n".join(lines)})
    lint_text({"worker.ipynb": notebook(("code", "\n".join(lines)), split=len(lines) % 2 == 0)})
