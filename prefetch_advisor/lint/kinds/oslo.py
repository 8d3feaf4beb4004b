"""oslo.messaging (OpenStack): [oslo_messaging_rabbit] rabbit_qos_prefetch_count.

``executor_thread_pool_size`` is no concurrency in the sense of ``Consumer``: servers of RPC ack a
message when a thread takes it up, so that a prefetch of 1 keeps all threads at work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.model.lint import Consumer, Located, Place

_SECTION = "oslo_messaging_rabbit"
_KEY = "rabbit_qos_prefetch_count"
_HEADER = re.compile(r"\[([^\]]+)\]")
_SETTING = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".conf", ".ini")


def _holds(data: bytes) -> bool:
    return b"[oslo_messaging_rabbit]" in data


def _read(file: SourceFile) -> Iterator[object]:
    if "{%" in file.text or "{{" in file.text:
        yield Skipped(file.place(1), "a template, not the settings that it makes")
        return
    inside = False
    section: Place | None = None
    prefetch: tuple[str, Place] | None = None
    for number, line in enumerate(file.lines, 1):
        header = _HEADER.match(line)
        if header:
            inside = header[1].strip() == _SECTION
            section = section or (file.place(number) if inside else None)
        elif inside:
            setting = _SETTING.match(line)
            if setting and setting[1] == _KEY:
                prefetch = setting[2].strip(), file.place(number, setting.start(2) + 1)
    if section is not None:
        yield Consumer(
            _SECTION, "oslo.messaging", section, prefetch=_limit(prefetch, section), setting=_KEY
        )


def _limit(said: tuple[str, Place] | None, section: Place) -> Located[int] | None:
    """The last one said; another file of the service may say it too, so its absence is no proof."""
    if said is None:
        return Located(0, section, f"without {_KEY} there is no limit", certain=False)
    text, place = said
    return Located(int(text), place) if re.fullmatch(r"[0-9]{1,12}", text) else None


KIND = Kind("settings of oslo.messaging", _named, _holds, _read)
