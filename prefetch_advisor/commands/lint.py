"""``lint``: check what a repository says about its consumers, and report it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefetch_advisor.commands import output
from prefetch_advisor.errors import AdvisorError, ExitCode, UsageError
from prefetch_advisor.findings import inputs
from prefetch_advisor.lint import baseline
from prefetch_advisor.lint import run as linting
from prefetch_advisor.lint import settings as lint_settings
from prefetch_advisor.lint.selection import UnknownFinding
from prefetch_advisor.lint.settings import Loaded, Settings
from prefetch_advisor.lint.settings_file import repository_root
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding

_STDOUT = "-"


@dataclass(frozen=True, slots=True)
class LintOptions:
    """Everything the command line said; ``None``: nothing, so the settings file or the default."""

    paths: tuple[str, ...]
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    settings: Path | None = None
    show_settings: bool = False
    baseline: Path | None = None
    write_baseline: bool = False
    fail_on: str | None = None
    exit_zero: bool = False
    format: str = "text"
    output: Path | None = None


def build(options: dict[str, Any]) -> LintOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: a finding that does not exist, an empty value, options that exclude each other.
    """
    for name in ("settings", "baseline", "output"):
        if options[name] == "":
            raise UsageError(f"--{name} is empty: give a value, or leave the option out")
    if "" in options["paths"]:
        raise UsageError("a PATH is empty: give a file or directory, or leave it out")
    to, format_ = options["output"], options["format_"]
    if options["write_baseline"] and (to is not None or format_ is not None):
        raise UsageError("--write-baseline reports nothing: leave --output and --format out")
    file = None if to in (None, _STDOUT) else Path(to)
    return LintOptions(
        paths=options["paths"] or (".",),
        select=_codes("--select", options["select"]),
        ignore=_codes("--ignore", options["ignore"]),
        settings=_path(options["settings"]),
        show_settings=options["show_settings"],
        baseline=_path(options["baseline"]),
        write_baseline=options["write_baseline"],
        fail_on=options["fail_on"],
        exit_zero=options["exit_zero"],
        format=format_ or _default_format(file),
        output=file,
    )


def _default_format(file: Path | None) -> str:
    """For those who read the standard output: inside GitHub Actions, its own log reader."""
    return "github" if file is None and os.environ.get("GITHUB_ACTIONS") == "true" else "text"


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _codes(option: str, texts: Sequence[str]) -> tuple[str, ...] | None:
    if not texts:
        return None
    try:
        codes = lint_settings.codes(texts)
    except UnknownFinding as error:
        raise UsageError(f"{option}: {error}; all: prefetch-advisor explain --list") from None
    if not codes:
        raise UsageError(f"{option} is empty: give a value, or leave the option out")
    return codes


def run(options: LintOptions) -> int:
    """Lint, report. Returns the exit code.

    Raises:
        AdvisorError: a path, settings or baseline that cannot be read, an unwritable file.
    """
    here = _here()
    loaded = _settings(options, here)
    settings = loaded.settings
    if options.show_settings:
        output.write(shown(settings), options.output)
        return ExitCode.OK
    if options.write_baseline and settings.baseline is None:
        raise UsageError("--write-baseline needs --baseline FILE, or a baseline in the settings")
    read = linting.read(options.paths, here, settings)
    read.notes[:0] = loaded.notes
    also = [_broken(each.path, each.lines, error) for each, error in loaded.broken]
    written = options.output or (settings.baseline if options.write_baseline else None)
    if written is not None:
        locations = [str(file.location) for file, _ in read.files.values()]
        output.refuse_inputs(written, [*locations, *map(str, _used(options, settings))], None)
    if options.write_baseline:
        return _write_baseline(settings, linting.report(read, settings, also))
    known: dict[str, baseline.Entry] = {}
    if settings.baseline is not None:
        known = baseline.read(settings.baseline, str(settings.baseline))
    report = linting.report(read, settings, also, known)
    output.remark(report.notes)
    from prefetch_advisor.reports.lint import renderer

    place = output.report_options(options.output, details=False, all_queues=False)
    place = replace(place, prefix=_prefix(here))
    output.write(renderer(options.format)(report, place), options.output)
    least = None if settings.fail_on == "never" else Severity[settings.fail_on.upper()]
    failed = least is not None and any(found.severity >= least for found in report.findings)
    return ExitCode.FINDINGS if failed and not options.exit_zero else ExitCode.OK


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise AdvisorError(f"the working directory cannot be used: {error.strerror}") from None


def _used(options: LintOptions, settings: Settings) -> list[Path]:
    """The files that were read beside those linted."""
    baselines = [] if options.write_baseline else [settings.baseline]
    return [path for path in (options.settings, *baselines) if path is not None]


def _settings(options: LintOptions, here: Path) -> Loaded:
    """The settings of the file, with what the command line says in their place."""

    def printed(path: str) -> str:
        return os.path.relpath(path, here).replace(os.sep, "/")

    if options.settings is not None:
        loaded = Loaded(lint_settings.load_file(here / options.settings, str(options.settings)))
    else:
        loaded = lint_settings.load(here, printed)
    settings = loaded.settings
    if settings.baseline is not None:
        relative = Path(printed(str(settings.baseline)))
        settings = replace(settings, baseline=relative)
    given = {
        key: value
        for key in ("select", "ignore", "baseline", "fail_on")
        if (value := getattr(options, key)) is not None
    }
    said = {key.replace("_", "-"): f"--{key.replace('_', '-')}" for key in given}
    settings = replace(settings, **given, origins={**settings.origins, **said})
    return replace(loaded, settings=settings)


def _broken(path: str, lines: Sequence[str], error: Any) -> LintFinding:
    """A settings file that cannot be parsed, which may lie outside what is linted."""
    from prefetch_advisor.lint.files import SourceFile

    finding = inputs.UNPARSABLE_FILE.finding(path, f"its settings cannot be read: {error}")
    place = SourceFile(path, "", Path()).place(error.line, error.column)
    text = lines[error.line - 1] if 0 < error.line <= len(lines) else ""
    return LintFinding(finding, place, text)


def _write_baseline(settings: Settings, report: Any) -> int:
    assert settings.baseline is not None
    output.write(baseline.text(report.findings), settings.baseline)
    many = len(report.findings)
    output.remark([*report.notes, f"{settings.baseline}: {many:,} findings written"])
    return ExitCode.OK


def _prefix(here: Path) -> str:
    relative = here.relative_to(repository_root(here)).as_posix()
    return "" if relative == "." else f"{relative}/"


def shown(settings: Settings) -> str:
    """The settings in force, as a file that says the same, each with where it was said."""

    def listed(texts: Sequence[str]) -> str:
        return f"[{', '.join(map(json.dumps, texts))}]"

    ignores = [
        f"{json.dumps(pattern)} = {listed(codes)}" for pattern, codes in settings.per_file_ignores
    ]
    lines = {
        "select": listed(settings.select or ("PA",)),
        "ignore": listed(settings.ignore),
        "per-file-ignores": f"{{ {', '.join(ignores)} }}" if ignores else "{}",
        "exclude": listed(settings.exclude),
        "baseline": json.dumps(str(settings.baseline or "")),
        "fail-on": json.dumps(settings.fail_on),
    }
    if settings.baseline is None:
        del lines["baseline"]
    return "[lint]\n" + "".join(
        f"{key} = {value}  # {settings.origin(key)}\n" for key, value in lines.items()
    )
