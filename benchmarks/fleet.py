"""A large broker: JSON advice for 10,000 queues and 20,000 consumers, against parsing the files."""

import copy
import json
import tempfile
from pathlib import Path

from pairs import advisor, compare, python, run

CAPTURES = Path(__file__).parent.parent / "tests" / "data" / "captures" / "4.3" / "api"
QUEUES, CONSUMERS = 10_000, 2


def make(folder: Path) -> tuple[str, str]:
    """Real queues and consumers of a broker, copied under new names."""
    queues = [q for q in json.loads((CAPTURES / "queues.json").read_text()) if q["vhost"] == "/"]
    listed = json.loads((CAPTURES / "consumers.json").read_text())
    by_queue: dict[str, list[dict]] = {}
    for consumer in listed:
        by_queue.setdefault(consumer["queue"]["name"], []).append(consumer)
    many, readers = [], []
    for number in range(QUEUES):
        queue = copy.deepcopy(queues[number % len(queues)])
        models = by_queue.get(queue["name"]) or listed
        queue["name"] = f"{number}.{queue['name']}"
        queue["consumers"] = CONSUMERS
        many.append(queue)
        for place in range(CONSUMERS):
            consumer = copy.deepcopy(models[place % len(models)])
            consumer["queue"]["name"] = queue["name"]
            consumer["channel_details"]["name"] += f".{number}.{place}"
            readers.append(consumer)
    paths = folder / "queues.json", folder / "consumers.json"
    paths[0].write_text(json.dumps(many))
    paths[1].write_text(json.dumps(readers))
    return str(paths[0]), str(paths[1])


def main() -> None:
    """Print the comparison."""
    with tempfile.TemporaryDirectory() as folder:
        paths = make(Path(folder))
        parse = f"import json\nfor path in {paths!r}: json.load(open(path))"
        compare(
            f"advise --format json on {QUEUES:,} queues, {QUEUES * CONSUMERS:,} consumers",
            lambda: run(advisor("advise", *paths, "--format", "json")),
            {"json.load of the files": lambda: run(python(parse))},
            at_most=5,
            times=7,
        )


if __name__ == "__main__":
    main()
