"""Airflow's settings of its Celery workers: airflow.cfg and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery.command_line import Said
from prefetch_advisor.lint.kinds.celery.facts import AirflowSetting
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.model.lint import Located

_SECTION = re.compile(r"\[([^\]]+)\]")
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)")
_VARIABLE = re.compile(r"AIRFLOW__([A-Z0-9_]+?)__([A-Z0-9_]+)")
#: of all that Airflow can be told
_WANTED = {
    ("celery", "broker_url"),
    ("celery", "extra_celery_config"),
    ("celery", "task_acks_late"),
    ("celery", "worker_autoscale"),
    ("celery", "worker_concurrency"),
    ("celery", "worker_prefetch_multiplier"),
    ("celery_broker_transport_options", "visibility_timeout"),
    ("core", "default_task_execution_timeout"),
    ("core", "executor"),
}
#: what the file says for them before it is made: a template's or a variable's
_OPEN = re.compile(r"\{\{|\$\{|\$[A-Z]|\{[A-Z_]+\}")


def _read(file: SourceFile) -> Iterator[object]:
    section = ""
    for number, line in enumerate(file.lines, 1):
        if line[:1].isspace() or line.lstrip().startswith(("#", ";")):
            continue  # a line that goes on; none of these settings has one
        if header := _SECTION.match(line):
            section = header[1].strip().lower()
        elif (setting := _SETTING.match(line)) and (section, setting[1].lower()) in _WANTED:
            text = setting[2].strip()
            known = None if _OPEN.search(text) else text
            place = file.place(number, setting.start(2) + 1)
            yield AirflowSetting(section, setting[1].lower(), Located(known, place))


def from_environment(said: Iterable[tuple[str, Said]]) -> Iterator[AirflowSetting]:
    """Those among environment variables."""
    for name, value in said:
        found = _VARIABLE.fullmatch(name)
        if found and (found[1].lower(), found[2].lower()) in _WANTED:
            yield AirflowSetting(found[1].lower(), found[2].lower(), value)


KIND = Kind(
    "airflow.cfg",
    lambda path: path.name == "airflow.cfg",
    lambda data: b"[celery" in data or b"[core]" in data,
    _read,
    comment="# ;",
)
