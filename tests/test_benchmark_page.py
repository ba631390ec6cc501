"""The page of measured figures: a part that is measured replaces its own rows alone."""

from __future__ import annotations

from benchmarks.report import Figure, as_markdown, update_page

SERVED = Figure(work="run page over HTTP", value="6.00 ms", target="<= 6 ms")
IMPORTED = Figure(work="import 8,000 runs", value="5.0 s")
PAGE = (
    f"# Measured\n\nWords.\n\n{as_markdown([IMPORTED])}\n"
    f"## Serving\n\n{as_markdown([SERVED])}\nEnd.\n"
)


def test_a_figure_replaces_its_own_row_and_nothing_else() -> None:
    faster = Figure(work=SERVED.work, value="5.00 ms", target="<= 6 ms", note="quiet")
    page = update_page(PAGE, [faster], "Unused.")
    assert page == PAGE.replace("| 6.00 ms | <= 6 ms |  |  |", "| 5.00 ms | <= 6 ms |  | quiet |")


def test_a_figure_without_a_row_follows_at_the_end_below_its_title() -> None:
    new = Figure(work="memory", value="90 MB")
    page = update_page(PAGE, [SERVED, new], "`make bench` on: a machine.")
    assert page == f"{PAGE}\n`make bench` on: a machine.\n\n{as_markdown([new])}"


def test_measuring_the_same_again_changes_nothing() -> None:
    assert update_page(PAGE, [SERVED, IMPORTED], "Unused.") == PAGE
