import pytest
from test_sizing import sized

from prefetch_advisor.sizing_words import reason_for


@pytest.mark.parametrize(
    ("processing", "rtt", "concurrency", "present", "words"),
    [
        (0.005, 0.001, 1, None, ["2 keep a consumer busy 100 %", "5 ms of work", "1 ms of round"]),
        (0.004, 0.1, 1, 25, ["26 keep", "the present 25 is good enough: busy 96 %"]),
        (0.00005, 0.04, 1, None, ["785 keep", "the rule's 801 would add 2 %", "above 300"]),
        (0.00005, 0.001, 1, None, ["below 0.2 ms of work messages travel in batches"]),
        (10.0, 0.001, 1, None, ["one message keeps a consumer busy >99.9 %"]),
        (10.0, 0.001, 4, None, ["4 messages keep the 4 workers busy", "one more would wait 10 s"]),
        (0.02, 0.0, 1, None, ["1 keeps a consumer busy 100 %"]),
        (0.02, 0.0, 100, None, ["100 workers need 100 messages at hand"]),
    ],
)
def test_the_reason_has_the_numbers(
    processing: float, rtt: float, concurrency: int, present: int | None, words: list[str]
) -> None:
    reason = sized(processing, rtt, concurrency, present).reason
    for word in words:
        assert word in reason


def test_what_is_not_the_case_is_not_said() -> None:
    reason = sized(0.004, 0.1, present=100).reason
    assert "good enough" not in reason
    assert "above 300" not in reason
    assert "batches" not in reason
    assert reason_for.__doc__
