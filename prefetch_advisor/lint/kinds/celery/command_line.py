"""Command lines of workers, found among the words of a command, and their options."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from prefetch_advisor.lint.kinds.celery.facts import BrokerSaid, Variable, WorkerCommand
from prefetch_advisor.lint.kinds.celery.shell_words import (
    Placed,
    Word,
    assignment,
    commands,
    scripts,
)
from prefetch_advisor.lint.kinds.celery.values import broker
from prefetch_advisor.model.lint import Located

Said = Located[str | None]
Environment = Mapping[str, Said]

#: short options of ``celery`` and ``celery worker`` that take a value, by their long names
_SHORT = {
    "A": "app",
    "I": "include",
    "O": "optimization",
    "P": "pool",
    "Q": "queues",
    "S": "statedb",
    "X": "exclude-queues",
    "b": "broker",
    "c": "concurrency",
    "f": "logfile",
    "l": "loglevel",
    "n": "hostname",
    "s": "schedule",
}
_FLAGS = {
    *("detach", "disable-prefetch", "task-events", "events", "purge", "discard", "without-gossip"),
    *("without-mingle", "without-heartbeat", "beat", "no-color", "quiet", "version", "help"),
    *("skip-checks", "no-execv"),
}
_DRAMATIQ_SHORT = {"p": "processes", "t": "threads", "Q": "queues", "P": "path"}
#: after these ``celery`` is the name of a package or a service
_OF_OTHERS = {"install", "add", "start", "stop", "restart", "reload", "status", "enable"}


def workers(
    text: str, placed: Placed, subject: str, environment: Environment | None = None
) -> Iterator[object]:
    """The workers that shell text starts."""
    for words in commands(text, placed):
        yield from workers_in(words, subject, environment)


def workers_in(
    words: Sequence[Word], subject: str, environment: Environment | None = None
) -> Iterator[object]:
    """The workers that a command starts, itself or by a script that is one of its words."""
    yield from workers_of(words, subject, environment)
    for command in scripts(words):
        yield from workers_of(command, subject, environment)


def workers_of(
    words: Sequence[Word], subject: str, environment: Environment | None = None
) -> Iterator[object]:
    """The worker that one command starts, if it starts one; the variables it sets for it."""
    own = dict(environment or {})
    for word in words:
        if set_ := assignment(word):
            name, value = set_
            own[name] = Located(value.text if value.known else None, value.place)
            yield from variables([(name, own[name])])
    for start, word in enumerate(words):
        if not word.known or (start and words[start - 1].text in _OF_OTHERS):
            continue
        name = PurePosixPath(word.text).name
        if name == "celery":
            found = _celery(words, start, subject, own)
        elif name in ("dramatiq", "dramatiq-gevent"):
            found = _dramatiq(words, start, subject, own)
        else:
            continue
        if found is not None:
            yield found
            yield from _brokers(found)
            return


def variables(said: Iterable[tuple[str, Said]]) -> Iterator[object]:
    """Facts of the environment variables among these that say something of consumers."""
    for name, value in said:
        if name.lower().startswith("dramatiq_"):
            yield Variable(name, value)
        elif name.endswith("BROKER_URL") and "AIRFLOW" not in name:
            kind = broker(value.value or "")
            yield from [BrokerSaid(kind, value.place)] if kind else []


def _brokers(command: WorkerCommand) -> Iterator[BrokerSaid]:
    said = command.option("broker") if command.program == "celery" else None
    if said and said.value and (kind := broker(said.value)):
        yield BrokerSaid(kind, said.place)


class _Options:
    """Options read as click and argparse read them, in the order of the words."""

    def __init__(self, short: Mapping[str, str], flags: set[str]) -> None:
        self._short = short
        self._flags = flags
        self.found: list[tuple[str, Said]] = []
        self.arguments: list[Word] = []
        self.complete = True

    def read(self, words: Iterable[Word], until: Collection[str] = ()) -> str:
        """Read words up to one of the arguments ``until``; that one, empty for any other.

        Without them, up to the end.
        """
        rest = iter(words)
        for word in rest:
            if not word.known and not word.text.startswith("-"):
                # it may be an option, or several
                self.complete = False
            elif word.text.startswith("--") and len(word.text) > 2:
                self._long(word, rest)
            elif word.text.startswith("-") and len(word.text) > 1:
                self._letters(word, rest)
            elif until:
                return word.text if word.text in until else ""
            else:
                self.arguments.append(word)
        return ""

    def _add(self, name: str, word: Word | None, text: str | None) -> None:
        if word is not None:
            self.found.append((name, Located(text if word.known else None, word.place)))

    def _long(self, word: Word, rest: Iterator[Word]) -> None:
        name, equals, value = word.text[2:].partition("=")
        if equals:
            self._add(name, word, value)
        elif name in self._flags:
            self._add(name, word, "")
        elif (value_word := next(rest, None)) is not None:
            self._add(name, value_word, value_word.text)

    def _letters(self, word: Word, rest: Iterator[Word]) -> None:
        for at, letter in enumerate(word.text[1:], 2):
            name = self._short.get(letter)
            if name is None:
                continue  # a flag, more letters may follow
            attached = word.text[at:]
            if attached or not word.known:
                self._add(name, word, attached)
            elif (value_word := next(rest, None)) is not None:
                self._add(name, value_word, value_word.text)
            return


def _celery(
    words: Sequence[Word], start: int, subject: str, environment: Environment
) -> WorkerCommand | None:
    options = _Options(_SHORT, _FLAGS)
    rest = iter(words[start + 1 :])
    command = options.read(rest, until=("worker", "multi"))
    if not command or not options.complete:
        return None
    place = words[start].place
    options.read(rest)
    starts = options.arguments[0].text in ("start", "restart") if options.arguments else False
    if command == "multi" and not starts:
        return None
    return WorkerCommand(
        place,
        "celery",
        subject,
        tuple(options.found),
        tuple(environment.items()),
        options.complete,
    )


def _dramatiq(
    words: Sequence[Word], start: int, subject: str, environment: Environment
) -> WorkerCommand | None:
    options = _Options(_DRAMATIQ_SHORT, {"watch-use-polling", "use-spawn", "verbose"})
    options.read(words[start + 1 :])
    if not options.arguments or (start and words[start - 1].text not in _before_program(words)):
        return None
    return WorkerCommand(
        words[start].place,
        "dramatiq",
        subject,
        tuple(options.found),
        tuple(environment.items()),
        options.complete,
    )


def _before_program(words: Sequence[Word]) -> set[str]:
    """What may stand before the program ``dramatiq``, which is also the name of other things."""
    runners = {"exec", "run", "-m", "--", "env", "nohup", "time"}
    return runners | {word.text for word in words if assignment(word)}
