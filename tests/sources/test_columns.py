"""Names of columns."""

import pytest

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.columns import Role, lay_out, read_name, unused_note


@pytest.mark.parametrize(
    ("name", "role", "unit"),
    [
        ("processing_ms", Role.PROCESSING, "ms"),
        ("Processing Time (ms)", Role.PROCESSING, "ms"),
        ("processingTimeMs", Role.PROCESSING, "ms"),
        ("duration [us]", Role.PROCESSING, "us"),
        ("Duration-Seconds", Role.PROCESSING, "s"),
        ("service.time.ns", Role.PROCESSING, "ns"),
        ("P", Role.PROCESSING, None),
        ("RTT_ms", Role.RTT, "ms"),
        ("round-trip", Role.RTT, None),
        ("rtt_network_ms", Role.RTT, "ms"),
        ("ack_delay_ms", Role.ACK_DELAY, "ms"),
        ("cycle_ms", Role.CYCLE, "ms"),
        ("Queue Name", Role.QUEUE, None),
        ("consumer_tag", Role.CONSUMER, None),
        ("ts_us", Role.TIMESTAMP, "us"),
        ("size_bytes", Role.BYTES, None),
        ("latency_ms", None, "ms"),
        ("ping_ms", None, "ms"),
    ],
)
def test_names_tell_role_and_unit(name: str, role: Role | None, unit: str | None):
    assert read_name(name)[:2] == (role, unit)


def test_two_columns_of_one_meaning_are_refused_by_name():
    with pytest.raises(InputError, match=r"t\.csv: two columns for the processing time: .*p_ms.*"):
        lay_out(["p_ms", "duration_ms"], "t.csv")


def test_host_and_tag_tell_consumers_apart_together():
    layout = lay_out(["p_ms", "host", "consumer_tag"], "t.csv")
    assert [column.name for column in layout.consumers] == ["host", "consumer_tag"]


def test_no_processing_time_lists_what_was_found_and_what_is_accepted():
    with pytest.raises(InputError) as error:
        lay_out(["queue", "latency_ms", "cycle_ms"], "t.csv")
    for part in ("'latency_ms'", "'cycle_ms'", "service_time", "wait in the queue"):
        assert part in str(error.value)


def test_ping_is_never_a_round_trip_and_this_is_said():
    layout = lay_out(["p_ms", "ping_ms", "note"], "t.csv")
    assert layout.of(Role.RTT) is None
    note = unused_note(layout, "t.csv")
    assert note is not None
    assert "'ping_ms', 'note'" in note
    assert "lower bound" in note


def test_cycle_beside_a_round_trip_is_not_used():
    assert lay_out(["p_ms", "rtt_ms", "cycle_ms"], "t.csv").of(Role.CYCLE) is None
    assert lay_out(["p_ms", "cycle_ms"], "t.csv").of(Role.CYCLE) is not None
    assert lay_out(["rtt_ms", "cycle_ms"], "t.csv").from_cycle
