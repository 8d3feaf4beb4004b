"""Files of environment variables: .env, those of systemd and compose, /etc/default/celeryd."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery import airflow
from prefetch_advisor.lint.kinds.celery.command_line import Said, variables, workers_of
from prefetch_advisor.lint.kinds.celery.shell_words import Word, assignment, commands
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.model.lint import Located

_WORTH = re.compile(rb"(?i:dramatiq)_|CELERY|BROKER_URL|AIRFLOW__")


def _read(file: SourceFile) -> Iterator[object]:
    said: list[tuple[str, Said]] = []
    for words in commands(file.text, file.place_at):
        for word in words:
            found = assignment(word)
            if found is None:
                continue
            name, value = found
            said.append((name, Located(value.text if value.known else None, value.place)))
            if name == "CELERYD_OPTS":
                yield from _options(value)
    yield from variables(said)
    yield from airflow.from_environment(said)


def _options(value: Word) -> Iterator[object]:
    """The options that Celery's init script gives every worker."""
    options = next(commands(value.text, value.within), [])
    words = [Word("celery", value.place), Word("worker", value.place), *options]
    yield from workers_of(words, "CELERYD_OPTS")


def _named(path: PurePosixPath) -> bool:
    name = path.name
    return (
        name.startswith(".env")
        or name.endswith(".env")
        or (name.startswith("celery") and not path.suffix)
    )


KIND = Kind("file of environment variables", _named, lambda d: _WORTH.search(d) is not None, _read)
