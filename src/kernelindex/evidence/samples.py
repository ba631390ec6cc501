"""Raw samples of one series, and the numbers of a run that must follow from them.

A series file holds ``samplesNs``: generation > round > sample, ns. Rounds without a sample
and generations without a round, empty or null, are passed over. A run states whole ns, so a
number counts as equal within half a nanosecond of rounding.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.stats import finite_number, median, round_medians

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_UNPACKED = 128 << 20
ROUNDING_NS = 0.5000001

Samples = tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a run that its samples decide, in ns.

    ``median_ns`` is the median of all samples; ``round_medians_ns`` generation > round.
    """

    count: int
    median_ns: float
    round_medians_ns: tuple[tuple[float, ...], ...]


def summarize(samples: Samples) -> Summary:
    """The numbers of these samples; needs one sample a round."""
    pool = [value for rounds in samples for one in rounds for value in one]
    return Summary(len(pool), median(pool), round_medians(samples))


def read_series(data: bytes) -> Any:
    """The JSON of a series file (gzip), within 128 MiB; raises ValueError."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, MAX_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"it does not unpack ({error})") from error
    if unpacker.unconsumed_tail or unpacker.unused_data or not unpacker.eof:
        raise ValueError(f"it is no single gzip stream of at most {MAX_UNPACKED} bytes")
    return orjson.loads(text)


def read_samples(series: Any, field: str = "samplesNs") -> Samples:
    """The samples of a series; raises ValueError where one is no positive finite number."""
    rows = series.get(field) if isinstance(series, dict) else None
    if rows is None:
        return ()
    kept = (tuple(_round(one) for one in _list(rounds) if one) for rounds in _list(rows) if rounds)
    return tuple(rounds for rounds in kept if rounds)


def sample_problems(run: Mapping[str, Any], data: bytes) -> Iterator[str]:
    """Where the ``spec`` of a run says otherwise than the series file it names."""
    try:
        samples = read_samples(read_series(data))
        found = summarize(samples) if samples else None
    except ValueError as error:
        yield f"the samples cannot be read: {error}"
        return
    count = found.count if found else 0
    for name, stated in (("samples.count", _get(run, "samples", "count")),
                         ("timing.samples", _get(run, "timing", "samples"))):  # fmt: skip
        if stated is not None and stated != count:
            yield f"{name} is {stated}, there are {count}"
    if found is not None:
        yield from _timing_problems(run.get("timing") or {}, found)
    elif run.get("timing"):
        yield "it states a time and has no samples"


def _timing_problems(timing: Mapping[str, Any], found: Summary) -> Iterator[str]:
    stated = timing.get("latencyNs", {}).get("median")
    if stated is not None and abs(stated - found.median_ns) > ROUNDING_NS:
        yield f"latencyNs.median is {stated}, of the samples it is {found.median_ns:.1f}"
    rounds = timing.get("roundMediansNs")
    if rounds is not None and not _same_rounds(rounds, found.round_medians_ns):
        yield "roundMediansNs are not the medians of the samples"


def _same_rounds(stated: Any, found: tuple[tuple[float, ...], ...]) -> bool:
    if [len(one) for one in stated] != [len(one) for one in found]:
        return False
    return all(
        abs(a - b) <= ROUNDING_NS
        for rounds, wanted in zip(stated, found, strict=True)
        for a, b in zip(rounds, wanted, strict=True)
    )


def _round(values: Any) -> tuple[float, ...]:
    found = [finite_number(one) for one in _list(values)]
    good = tuple(one for one in found if one is not None and one > 0.0)
    if len(good) != len(found):
        raise ValueError("a sample is no positive number")
    return good


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is wanted")
    return value


def _get(spec: Mapping[str, Any], part: str, name: str) -> Any:
    return (spec.get(part) or {}).get(name)
