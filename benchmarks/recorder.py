"""What the recorder adds to a message: a handler that does nothing, with and without it.

It must stay below 5 microseconds a message.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prefetch_advisor.recorder import Recorder

MESSAGES, TIMES = 50_000, 9
BODY = b"x" * 100


def each(handler: Callable[..., object]) -> float:
    """Seconds for one message."""
    start = time.perf_counter()
    for _ in range(MESSAGES):
        handler(None, None, None, BODY)
    return (time.perf_counter() - start) / MESSAGES


def main() -> None:
    """Print the comparison."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "timings.csv")
        timed = recorder.pika(lambda *_: None, "tasks")
        added = []
        for _ in range(TIMES):
            added.append(each(timed) - each(lambda *_: None))
            # as its thread does, meanwhile the consumer has something else to do
            recorder.flush()
        micro = [1e6 * value for value in added]
        print(
            f"recorder: {statistics.median(micro):.2f} us a message more "
            f"({min(micro):.2f} to {max(micro):.2f}; must stay below 5)"
        )


if __name__ == "__main__":
    main()
