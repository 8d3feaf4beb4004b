"""1,000 Python files that consume messages, 200,000 lines: lint's reading against ``ast.parse``."""

import ast
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from prefetch_advisor.findings import RULES
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.judges import source
from prefetch_advisor.lint.kinds.python import KIND

FILES = 1_000
LINES = 200
#: times what ast.parse needs
AT_MOST = 1.5
#: modules of Python's own, whose functions stand beside the consumers, as code does
BESIDE = ("argparse", "calendar", "configparser", "csv", "difflib", "mailbox", "shelve", "zipfile")


def functions() -> list[str]:
    """Functions and classes of Python's own library, as text."""
    found = []
    for name in BESIDE:
        text = Path(__import__(name).__file__).read_text()
        lines = text.splitlines()
        found += [
            "\n".join(lines[node.lineno - 1 : node.end_lineno])
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]
    return [text for text in found if text.count("\n") < LINES - 60]


def texts() -> list[str]:
    """Files of about 200 lines: a consumer out of the rules' examples, and other code."""
    draw = random.Random(7)
    examples = [
        text for rule in RULES if rule.file == "worker.py" for text in (rule.bad, rule.good)
    ]
    beside = functions()
    found = []
    for number in range(FILES):
        parts, lines = [], examples[number % len(examples)].count("\n")
        while lines < LINES - 10:
            part = draw.choice(beside)
            if lines + part.count("\n") < LINES + 40:
                parts.append(part)
                lines += part.count("\n") + 3
        found.append("\n\n\n".join([*parts, examples[number % len(examples)]]))
    return found


def main() -> None:
    """Print the comparison."""
    every = texts()
    lines = sum(text.count("\n") for text in every)
    with tempfile.TemporaryDirectory() as folder:
        ratios = []
        for _ in range(7):
            parsed, read, facts = 0.0, 0.0, list[object]()
            for number, text in enumerate(every):  # in turn: the machine is not always as fast
                name = f"worker{number}.py"
                started = time.process_time()
                ast.parse(text)
                between = time.process_time()
                file = SourceFile(name, text, Path(folder) / name)
                if KIND.holds(text.encode()):
                    facts += KIND.read(file)
                parsed += between - started
                read += time.process_time() - between
            ratios.append((read / parsed, read, parsed))
        found = len(list(source.judge(facts)))
    middle = statistics.median(ratios)
    print(
        f"{FILES:,} files of consumers, {lines:,} lines: {len(facts):,} facts, {found:,} findings"
    )
    print(
        f"  read in {middle[1]:.2f} s, ast.parse {middle[2]:.2f} s: {middle[0]:.2f} times "
        f"(range {min(ratios)[0]:.2f} to {max(ratios)[0]:.2f}; bound {AT_MOST})"
    )


if __name__ == "__main__":
    main()
