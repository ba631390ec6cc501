"""Series of a batch: what the generations of a point found, one file a candidate and regime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.regimes import Regime, regimes_of
from kernelindex.stats import deviation, median, student_t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernelindex.runner.plan import Candidate, Plan, Point

# Half width (95 %, log) of a series' own generation medians beyond which it is unstable.
UNSTABLE_HALF_WIDTH = 0.25
# The anchor after a candidate against after the others, least over as many generations. A
# candidate that draws more power lowers clocks for a while: that is worth a doubt only. So is a
# slower anchor on a host, where threads that wait for more work spin on after a call, and other
# programs come and go: there CPU time out of turn is what accuses (``idleness``).
_SLOWER_DOUBT, _SLOWER_REFUSED, _SLOWER_GENERATIONS = 1.05, 1.3, 3
_TOPICS = ("traits", "trace", "warm", "slope", "audits")


def wanted_passes(point: Point, candidate: Candidate) -> tuple[str, ...]:
    """The passes that are measured of a candidate at a point, in the point's order."""
    return tuple(one for one in point.passes if one in candidate.passes)


def build_series(plan: Plan, done: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """All series of the plan; ``done`` holds each point's finished generations in order."""
    return [
        _Series(plan, point, candidate, regime, done.get(point.id, ())).build()
        for point, candidate, regime in _keys(plan)
    ]


def _keys(plan: Plan) -> Iterator[tuple[Point, Candidate, Regime]]:
    for point in plan.points:
        for candidate in point.candidates:
            for timed_pass in wanted_passes(point, candidate):
                for regime in regimes_of(timed_pass, plan.rules):
                    yield point, candidate, regime


@dataclass(frozen=True, slots=True)
class _Series:
    plan: Plan
    point: Point
    candidate: Candidate
    regime: Regime
    done: Sequence[Mapping[str, Any]]

    def build(self) -> dict[str, Any]:
        """What ``series/<n>.json.gz`` holds (docs/reference/evidence.md names the file)."""
        members = self._members()
        timed = [one["series"].get(self.regime.key()) for one in members]
        samples = [one["samplesNs"] if one else [] for one in timed]
        status, reason, text = self._status(members, samples)
        kept = [one for one in samples if one]
        return {
            "point": self.point.id,
            "candidate": self.candidate.id,
            "pass": self.regime.timed_pass,
            **self.regime.fields(),
            "status": status,
            "reason": reason,
            "text": text,
            "samplesNs": kept,
            "cycles": [one["cycles"] for one in timed if one and one["samplesNs"]],
            "wallNs": [one["wallNs"] for one in timed if one and one["samplesNs"]],
            "telemetry": [one["telemetry"] for one in timed if one and one["samplesNs"]],
            "correctness": self._correctness(members),
            "doubts": self._doubts(members),
            "loaded": _first(one["found"].get("loaded") for one in members),
            **self._topics(members),
        }

    def _members(self) -> list[Mapping[str, Any]]:
        """What each generation kept of the candidate; a later one may not have asked for it."""
        found = (one["members"].get(self.candidate.id) for one in self.done)
        return [one for one in found if one is not None]

    def _status(
        self, members: Sequence[Mapping[str, Any]], samples: Sequence[Any]
    ) -> tuple[str, str, str]:
        timed_pass = self.regime.timed_pass
        failures = [one["failures"].get(timed_pass) for one in members]
        failure = _first(failures)
        if failure is not None:
            status = failure["status"]
            known = "runtime_error" if status == "unsupported" else status
            return known, failure["code"], failure["text"]
        ratios = self._anchor_ratios()
        on_host = self.plan.device == "cpu"
        if not on_host and len(ratios) >= _SLOWER_GENERATIONS and min(ratios) > _SLOWER_REFUSED:
            text = f"the anchor took {min(ratios):.2f} times as long after it in every generation"
            return "suspected_reward_hack", "slows_next", text
        whole = [one for one in samples if len(one) == self.plan.rules.rounds]
        if not whole:
            return "aborted", "not_measured", "the batch ended before it was measured"
        width = own_half_width(whole)
        if width is not None and width > UNSTABLE_HALF_WIDTH:
            text = f"generations differ: half width {width:.1%} of the median"
            return "unstable", "generations_differ", text
        if len(whole) < self.plan.rules.generations:
            missing = f"{len(whole)} of {self.plan.rules.generations} generations were measured"
            return "aborted", "generations_missing", missing
        return "passed", "", ""

    def _correctness(self, members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Per output the worst that any draw and generation showed, and which draw that was."""
        timed_pass, draws = self.regime.timed_pass, list[str]()
        outputs: dict[str, dict[str, Any]] = {}
        for member in members:
            found = member["found"].get("correctness", {}).get(timed_pass, {})
            for draw, results in found.get("draws", {}).items():
                draws += [draw] if draw not in draws else []
                for name, one in results.items():
                    outputs[name] = _worse(outputs.get(name), {**one, "draw": draw})
        checked = sum(one["checked"].get(timed_pass, 0) for one in members)
        return {"outputs": outputs, "draws": draws, "timedCallsChecked": checked}

    def _topics(self, members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        timed_pass = self.regime.timed_pass
        found = {
            topic: _first(one["found"].get(topic, {}).get(timed_pass) for one in members)
            for topic in _TOPICS
        }
        first = _first(one["found"].get("firstCall") for one in members)
        capture = _first(one["found"].get("capture", {}).get(timed_pass) for one in members)
        found["traits"] = {**(found["traits"] or {}), **(capture or {})}
        return {**found, "firstCallNs": first["ns"] if first else None}

    def _doubts(self, members: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        doubts: dict[str, dict[str, Any]] = {}
        for member in members:
            for one in member["doubts"].get(self.regime.timed_pass, ()):
                doubts.setdefault(one["code"], one)
        ratios = self._anchor_ratios()
        if len(ratios) >= _SLOWER_GENERATIONS and min(ratios) > _SLOWER_DOUBT:
            slower = median(ratios)
            text = (
                f"the anchor was {slower:.3f} times slower after this candidate than after others"
            )
            doubts["slows_next"] = {"code": "slows_next", "effect": "note", "text": text}
        return list(doubts.values())

    def _anchor_ratios(self) -> list[float]:
        """By generation: how much longer the anchor took after it than after the others."""
        ratios = []
        for generation in self.done:
            after = generation["anchor"]["after"]
            own = after.get(self.candidate.id)
            others = [x for name, xs in after.items() if name != self.candidate.id for x in xs]
            if own and others:
                ratios.append(median(own) / median(others))
        return ratios


def own_half_width(samples: Sequence[Sequence[Sequence[float]]]) -> float | None:
    """Half width (95 %, log) of a series' own generation medians; None below three of them."""
    logs = [math.log(median([median(one) for one in rounds])) for rounds in samples]
    if len(logs) < 3:
        return None
    error = deviation(logs) / math.sqrt(len(logs))
    return student_t_quantile(0.975, len(logs) - 1) * error


def _worse(kept: dict[str, Any] | None, one: dict[str, Any]) -> dict[str, Any]:
    if kept is None:
        return one
    if kept.get("passed") and not one.get("passed"):
        return one
    if one.get("passed") and not kept.get("passed"):
        return kept
    return max(kept, one, key=lambda result: result.get("frobenius") or 0.0)


def _first(values: Any) -> Any:
    return next((one for one in values if one), None)
