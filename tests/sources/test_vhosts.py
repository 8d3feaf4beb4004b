"""Lists that name no vhost and cannot be of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import ConsumerRow, Intake, QueueRow, SourceKind
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.combine import combine
from prefetch_advisor.sources.vhosts import refuse_mixed_vhosts

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
CTL = SourceKind.RABBITMQCTL


def queues(where: str, names: str, vhost: str | None = None) -> Intake:
    return Intake(where, queues=tuple(QueueRow(CTL, where, vhost, name) for name in names.split()))


@pytest.mark.parametrize("interval", [None, 5.0])
@pytest.mark.parametrize("listed", ["queues", "consumers"])
def test_json_of_two_vhosts_is_no_series(interval: float | None, listed: str) -> None:
    first = "list_queues_small" if listed == "queues" else "list_consumers_default"
    names = [str(CAPTURES / f"4.3/ctl/{name}.json") for name in (first, f"list_{listed}_vhost2")]
    found = read_inputs(names, InputOptions())
    with pytest.raises(InputError) as error:
        combine(found, interval=interval)
    assert str(error.value).startswith(f"{names[0]} and {names[1]}: two lists of {listed}")
    assert "the table form (its preamble names the vhost), or one vhost a run" in str(error.value)


def test_lists_that_can_be_of_one_vhost_are_taken() -> None:
    for second in ("a b c", "a", "d e", "a b d", "a b c d e f", "c b x"):
        refuse_mixed_vhosts([queues("1", "a b c"), queues("2", second)])
    refuse_mixed_vhosts([queues("1", "work amq.gen-a amq.gen-b"), queues("2", "work amq.gen-c")])
    refuse_mixed_vhosts([queues("1", "a b c", "/"), queues("2", "a x y", "other")])
    series = [str(path) for path in sorted((CAPTURES / "4.3/series").glob("ctl_list_queues_*"))]
    assert series
    refuse_mixed_vhosts(read_inputs(series, InputOptions()))


def test_any_two_lists_are_compared() -> None:
    lists = [queues("1", "a b c"), queues("2", "d e f"), queues("3", "a x y z")]
    with pytest.raises(InputError, match=r"^1 and 3: .* only 1 of 6 queues in common"):
        refuse_mixed_vhosts(lists)
    consumers = tuple(ConsumerRow(CTL, "4", None, name, "tag") for name in ["a", "p", "q"])
    refuse_mixed_vhosts([lists[0], Intake("4", consumers=consumers)])
