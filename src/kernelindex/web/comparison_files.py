"""A comparison as a file: Markdown for an issue, CSV for a sheet."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from kernelindex.resolve.compare_words import apart_words, pair_numbers
from kernelindex.text import show_hidden
from kernelindex.web import paths
from kernelindex.web.show import value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.dossier import ComparedField, Comparison, PairVerdict, RunLine

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#!~&$@])")
NUMBERS = {
    "low": "ratio to run 1, lower end of its 95 % interval",
    "high": "ratio to run 1, upper end of its 95 % interval",
    "margin": "margin, relative",
}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_markdown(comparison: Comparison) -> str:
    """Verdicts, then a table with a column for each run."""
    runs = comparison.runs
    names = _names(runs)
    head = ["", *(_plain(f"{place}. {name}") for place, name in enumerate(names, 1))]
    rows = [["value", *map(_value, runs)]]
    rows += [_row(one, len(runs)) for one in _fields(comparison)]
    rows.append(["run", *(f"`{run.digest}`" for run in runs)])
    lines = [
        "# Comparison of " + " and ".join(map(_plain, names)),
        "",
        *(_bullet(one) for one in comparison.verdicts),
    ]
    if comparison.first_difference:
        lines.append(f"- First material difference: {_plain(comparison.first_difference)}")
    table = [head, ["---"] * len(head), *rows]
    lines += ["", *("| " + " | ".join(row) + " |" for row in table), ""]
    return "\n".join(lines)


def to_csv(comparison: Comparison) -> str:
    """A line for each property, a column for each run; texts that look like formulas are quoted."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    runs = comparison.runs
    writer.writerow(
        ["property", "material", "same", *(f"run {n}" for n in range(1, len(runs) + 1))]
    )
    writer.writerow(["run", "no", "no", *(run.digest for run in runs)])
    writer.writerow(["page", "no", "no", *(paths.run(run.digest) for run in runs)])
    numbers = [run.primary.value if run.primary else "" for run in runs]
    writer.writerow(["value", "no", _yes(len(set(numbers)) == 1), *numbers])
    for one in _fields(comparison):
        cells = (_cell(text or "") for text in one.values)
        writer.writerow([one.name, _yes(one.material), _yes(one.same), *cells])
    verdicts = ["", *(one.verdict for one in comparison.verdicts)]
    writer.writerow(["verdict against run 1", "no", "no", *verdicts])
    ratios = ["", *(one.ratio or "" for one in comparison.verdicts)]
    writer.writerow(["ratio to run 1", "no", "no", *ratios])
    for name, said in NUMBERS.items():
        numbers = [getattr(one, name) for one in comparison.verdicts]
        if any(number is not None for number in numbers):
            writer.writerow(
                [said, "no", "no", "", *("" if one is None else str(one) for one in numbers)]
            )
    return out.getvalue()


def _bullet(pair: PairVerdict) -> str:
    (numbers,) = pair_numbers([pair])
    said = f"{pair.text} {numbers.text}." if numbers else pair.text
    return f"- {_plain(said)}"


def _fields(comparison: Comparison) -> list[ComparedField]:
    """The properties; the value has a line of its own."""
    return [one for one in comparison.fields if one.name != "value"]


def _names(runs: Sequence[RunLine]) -> list[str]:
    """What ran and on what, with what tells it from others of the same name."""
    words = apart_words(runs, with_hardware=False)
    return [
        f"{run.implementation.title}{f' ({apart})' if apart else ''} on {run.hardware}"
        for run, apart in zip(runs, words, strict=True)
    ]


def _value(run: RunLine) -> str:
    primary = run.primary
    return value(primary.value, primary.unit) if primary else "none"


def _row(one: ComparedField, count: int) -> list[str]:
    label = one.name if one.same else f"**{one.name}** (differs)"
    return [label, *(_plain(one.values[place] or "not stated") for place in range(count))]


def _plain(text: str) -> str:
    """Text in which nothing is markup, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(show_hidden(text).split()))


def _cell(text: str) -> str:
    shown = show_hidden(text)
    return "'" + shown if shown.startswith(_FORMULA_STARTS) else shown


def _yes(value: bool) -> str:
    return "yes" if value else "no"
