"""Consumers of unequal speed: a prefetch for each, from timings and from channels."""

from __future__ import annotations

import random

from invented import channel, consumer, per_second, queue, steady
from test_diagnosis import judge, names  # noqa: F401 - a fixture

HOSTS = (("big-1", 2.0), ("big-2", 2.0), ("old-1", 20.0))


def timings(tmp_path, hosts, count=3_000):
    draw = random.Random(2)
    lines = ["queue,host,processing_ms,rtt_ms"]
    for i in range(count):
        host, mean = hosts[i % len(hosts)]
        lines.append(f"tasks,{host},{draw.expovariate(1 / mean):.4f},10.0")
    file = tmp_path / "timings.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_each_host_gets_its_own(advise, tmp_path):
    advice = advise(timings(tmp_path, HOSTS)).only
    own = {row["tag"]: row["recommended_prefetch"] for row in advice["consumers"]}
    # as if each host were sized alone
    for host, mean in HOSTS:
        alone = advise(timings(tmp_path, ((host, mean),), 1_000)).only
        assert abs(own[host] - alone["recommended"]["prefetch"]) <= 1
    (found,) = [f for f in advice["findings"] if f["name"] == "unequal-consumers"]
    assert "old-1: 3" in found["help"]
    assert "more while messages wait" in found["message"]


def test_equal_hosts_share_one(advise, tmp_path):
    advice = advise(timings(tmp_path, (("a", 2.0), ("b", 2.2)))).only
    assert advice["consumers"] == []
    assert "unequal-consumers" not in names(advice)


def test_channels_at_their_limits_show_how_fast_each_is(judge):  # noqa: F811
    # 200/s and 20/s with prefetch 10 over a round trip of 10 ms
    one = queue(unacked=steady(20), consumers=2, ack=per_second(220), publish=per_second(300))
    rates = (200, 20)
    two = [consumer(10, place) for place in range(2)]
    channels = [
        channel(place, unacked=10, ack_rate=float(rate)) for place, rate in enumerate(rates)
    ]
    advice = judge(one, two, "--rtt", "10ms", channels=channels)
    fast, slow = (row["recommended_prefetch"] for row in advice["consumers"])
    assert fast > slow
    assert "unequal-consumers" in names(advice)
