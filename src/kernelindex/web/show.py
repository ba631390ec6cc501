"""Small pieces of text that several pages print."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from markupsafe import Markup, escape

from kernelindex.ids import parse_prefix
from kernelindex.resolve.numbers import half_of, scale_for, signed_time, significant
from kernelindex.text import show_hidden
from kernelindex.units import format_bytes, format_flops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.resolve.answer import DoubtRef, LimitRef, ShapeRef, Spread

_WHOLE = re.compile(r"-?[0-9,]*")


def align(numbers: Sequence[str]) -> tuple[Markup, ...]:
    """Numbers whose decimal points stand below each other in a right-aligned column.

    What a number lacks to the longest tail of the column follows it unseen, as the very
    characters that are wider elsewhere, so any font of tabular figures aligns.
    """
    tails = [number[len(_WHOLE.match(number)[0]) :] for number in numbers]  # type: ignore[index]
    longest = max(tails, key=len, default="")
    return tuple(
        _padded(number, longest[len(tail) :]) for number, tail in zip(numbers, tails, strict=True)
    )


def _padded(number: str, rest: str) -> Markup:
    safe = escape(show_hidden(number))
    return Markup("%s<i>%s</i>") % (safe, rest) if number and rest else safe


@lru_cache(maxsize=4096)
def value(number: float, unit: str, interval: Spread | None = None) -> str:
    """One number with the unit that suits it, in the digits of its interval: ``64.0 ms``."""
    return scale_for([number], unit).with_unit(number, half_of(interval))


def exact(number: float, unit: str) -> str:
    """The unrounded number with its unit: ``63,962,017 ns``."""
    whole = int(number) if float(number).is_integer() else number
    return f"{whole:,} {unit}" if unit else f"{whole:,}"


def flops(count: int) -> str:
    """An amount of floating point work: ``618.5 GFLOP``."""
    return format_flops(count)


def traffic(count: int) -> str:
    """An amount of memory traffic: ``0.670 GB``."""
    return format_bytes(count, binary=False)


def words(token: str) -> str:
    """A token as words: ``source_native`` is ``source native``."""
    return token.replace("_", " ")


def pairs(mapping: Mapping[str, Any]) -> str:
    """``a=1 b=2`` of a flat mapping."""
    return " ".join(f"{name}={item}" for name, item in mapping.items())


def shape(shape: ShapeRef) -> str:
    """The axes of a shape; of a suite, which has none, the digits that tell it from others."""
    kind, _, digest = (shape.distribution or "").partition(":sha256:")
    suite = f", {digest[:8]}" if kind == "suite" else ""
    return pairs(shape.axes) or f"a suite of shapes{suite}"


def names(aliases: Sequence[str]) -> list[str]:
    """Aliases that are words: a digest and its first digits have a line of their own."""
    return [alias for alias in aliases if parse_prefix(alias) is None]


def document(data: object) -> str:
    """A JSON document for reading: two spaces, keys in the order stored."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()


def sentence(text: str) -> str:
    """``text`` with a capital and a full stop."""
    said = text.strip()
    if not said:
        return ""
    return said[0].upper() + said[1:] + ("" if said[-1] in ".!?" else ".")


def named_sentence(text: str) -> str:
    """``text`` with a full stop; it begins with a name, which keeps its letters."""
    said = text.strip()
    return said + ("" if not said or said[-1] in ".!?" else ".")


def doubt_label(doubt: DoubtRef, beside_ns: float | None = None) -> str:
    """The class of a doubt, and its size with sign where known: ``shifts about +1.0 ms``."""
    if doubt.effect == "blocks":
        return "blocks a claim"
    if doubt.shift_ns:
        return f"shifts it, about {signed_time(doubt.shift_ns, beside_ns)}"
    return "shifts it" if doubt.effect == "shifts" else "note"


def more_doubts(found: Sequence[DoubtRef], beside_ns: float | None = None) -> str:
    """``+6 notes``, and the size of those that shift the number."""
    counted = f"+{len(found)} {'note' if len(found) == 1 else 'notes'}"
    shifts = [one.shift_ns for one in found if one.shift_ns]
    if not shifts:
        return counted
    sizes = " and ".join(signed_time(size, beside_ns) for size in shifts)
    return f"{counted}, one of which shifts the number by about {sizes}"


def limit_words(limit: LimitRef) -> str:
    """Achieved rate and both percentages, each labelled, an absent one said to be absent."""
    rates = (
        f"{significant(limit.tflops)} TFLOP/s" if limit.tflops else "",
        f"{significant(limit.tbps)} TB/s" if limit.tbps else "",
    )
    said = [rate for rate in rates if rate]
    peak = {"compute": "compute peak", "memory": "memory bandwidth"}.get(limit.bound or "", "peak")
    if limit.percent_nominal is not None:
        said.append(f"{significant(limit.percent_nominal)} % of the nominal {peak}")
        attainable = limit.percent_attainable
        said.append(
            "the attainable one is not measured here"
            if attainable is None
            else f"{significant(attainable)} % of the attainable one"
        )
    return "; ".join(said)


def attainable_place(limit: LimitRef) -> float | None:
    """Where the attainable peak stands, in percent of the nominal one."""
    if not limit.percent_attainable or not limit.percent_nominal:
        return None
    return round(100 * limit.percent_nominal / limit.percent_attainable, 2)


def samples_words(count: int | None) -> str:
    """How many samples stand behind a number."""
    if count is None:
        return "samples not stated"
    return "one sample" if count == 1 else f"{count:,} samples"
