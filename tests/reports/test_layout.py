from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from prefetch_advisor.reports.escape import units, visible
from prefetch_advisor.reports.layout import Cell, Column, Grid, clipped, fit, laid_out, shortened

COLUMNS = (
    Column("queue", kind="name", least=16),
    Column("verdict"),
    Column("ready", right=True, leaves=1),
    Column("why", kind="prose", least=20, leaves=2),
)


def grid(*names: str) -> Grid:
    why = "a sentence that goes on for longer than most terminals are wide"
    rows = ((Cell(name), Cell("round-trip-bound"), Cell("1,234,567"), Cell(why)) for name in names)
    return Grid(COLUMNS, tuple(rows))


def lines(what: Grid, width: int) -> list[str]:
    fitted = fit(what, width, cell_len)
    laid = laid_out(what, fitted, "…", cell_len)
    return ["".join(cell.text for cell in line) for line in laid]


@settings(deadline=None, max_examples=200)
@given(
    st.text(
        st.one_of(st.characters(codec="utf-8"), st.sampled_from("漢e\u0301\x1bש")), max_size=30
    ),
    st.integers(4, 20),
)
def test_a_shortened_name_fits_and_keeps_its_ends_whole(name: str, width: int) -> None:
    shown = visible(name)
    short = shortened(shown, width, "~", cell_len)
    assert cell_len(short) <= width
    if cell_len(shown) <= width:
        assert short == shown
        return
    splits = [place for place, part in enumerate(units(short)) if part == "~"]
    parts = units(shown)
    assert any(
        units(short)[:place] == parts[:place]
        and units(short)[place + 1 :] == parts[len(parts) - (len(units(short)) - place - 1) :]
        for place in splits
    )


def test_a_long_name_loses_its_middle() -> None:
    assert shortened("orders.eu-west-1.worker.retry", 15, "...", cell_len) == "orders....retry"
    assert shortened("漢字キュー", 7, "…", cell_len) == "漢字…ー"


def test_prose_is_cut_between_words() -> None:
    assert clipped("consumers wait for the round trip", 20, "…", cell_len) == "consumers wait for…"
    assert clipped("short", 20, "…", cell_len) == "short"
    assert clipped("wwwwwwwwwwwwwwwwwwww", 10, "…", cell_len) == "wwwwwwwww…"


@settings(deadline=None, max_examples=100)
@given(st.integers(46, 200), st.integers(1, 255))
def test_no_number_is_cut_and_no_line_too_long(width: int, length: int) -> None:
    titles, row = lines(grid("n" * length), width)
    assert max(cell_len(titles), cell_len(row)) <= width
    assert "round-trip-bound" in row
    assert ("1,234,567" in row) == ("ready" in titles)
    assert row.split()[0].count("n") >= min(length, 15)


def test_columns_leave_in_their_order_as_the_width_shrinks() -> None:
    shown = {width: lines(grid("tasks"), width)[0].split() for width in (120, 60, 30)}
    assert shown[120] == ["queue", "verdict", "ready", "why"]
    assert shown[60] == ["queue", "verdict", "ready", "why"]
    assert shown[30] == ["queue", "verdict"]
    assert lines(grid("a" * 40), 60)[0].split() == ["queue", "verdict", "ready"]


def test_a_name_is_complete_before_there_is_room_for_prose() -> None:
    name = "orders.eu-west-1.retry.delayed"
    titles, row = lines(grid(name), 60)
    assert row.startswith(name)
    assert "why" not in titles


def test_names_that_differ_in_their_middle_are_told_apart() -> None:
    names = ("production.orders.eu.retry-queue", "production.orders.us.retry-queue")
    first, second = lines(grid(*names), 52)[1:]
    assert first.split()[0] != second.split()[0]


def test_wide_letters_keep_columns_under_each_other() -> None:
    _, *rows = lines(grid("漢字キュー", "tasks", "e\u0301te\u0301"), 80)
    assert len({cell_len(row[: row.index("round")]) for row in rows}) == 1


def test_a_right_to_left_name_is_isolated_within_its_column() -> None:
    _, first, second = lines(grid("שלום", "tasks"), 80)
    assert first.startswith("\u2068שלום\u2069 ")
    assert cell_len(first[: first.index("round")]) == second.index("round")
