"""When a point has been measured enough; the rule is the plan's, fixed before the first call."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from kernelindex.stats import median, paired_log_ratio

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kernelindex.runner.plan import Rules


def wants_another(
    done: Sequence[Mapping[str, Any]], rules: Rules, subjects: Collection[str] = ()
) -> bool:
    """Whether a point needs another generation after those ``done``.

    Between the plan's least and most, another one is wanted while the widest 95 % interval
    of any pair of candidates in one regime is wider than the target. A point whose every
    candidate was refused is done; so is one whose every subject was, where it has some.
    """
    if done and not _anyone_left(done[-1], subjects):
        return False
    if len(done) < rules.generations:
        return True
    if len(done) >= rules.max_generations:
        return False
    return widest_half_width(done) > rules.half_width_target


def _anyone_left(generation: Mapping[str, Any], among: Collection[str]) -> bool:
    """Whether one of these candidates, or any where none are named, has a pass not refused."""
    members = generation["members"]
    return any(_open_passes(one) for name, one in members.items() if not among or name in among)


def _open_passes(member: Mapping[str, Any]) -> set[str]:
    measured = {regime.split("/")[0] for regime in member["series"]}
    return measured - set(member["failures"])


def widest_half_width(done: Sequence[Mapping[str, Any]]) -> float:
    """The largest half width of log ratios over pairs; infinite with one generation."""
    if len(done) < 2:
        return float("inf")
    medians = _medians(done)
    widest = 0.0
    for by_candidate in medians.values():
        complete = [one for one in by_candidate.values() if len(one) == len(done)]
        for first, second in combinations(complete, 2):
            widest = max(widest, paired_log_ratio(first, second).half_width())
    return widest


def _medians(done: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, list[list[float]]]]:
    """Round medians, regime > candidate > generation > round."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for generation in done:
        for candidate, member in generation["members"].items():
            for regime, series in member["series"].items():
                rounds = [median(one) for one in series["samplesNs"] if one]
                if rounds and regime.split("/")[0] not in member["failures"]:
                    found.setdefault(regime, {}).setdefault(candidate, []).append(rounds)
    return found
