"""The other passes of a run: forward, backward and full of one candidate, measured alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.policy.cohorts import device_key, shape_key
from kernelindex.policy.doubts import PassTimes
from kernelindex.policy.entries import entry_key, representative
from kernelindex.policy.facts import RunFacts, TimedPass
from kernelindex.policy.limits import latency_ns

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kernelindex.policy.samples import Samples

TRAINING = (TimedPass.FORWARD, TimedPass.BACKWARD, TimedPass.FULL)
SHARED_RULES = frozenset(("cache", "load", "execution"))
"""Rules that must agree; those about gradients differ between passes by nature."""


def sibling_passes(runs: Iterable[RunFacts]) -> dict[str, PassTimes]:
    """Run digest -> times of the three passes, for runs whose candidate has all three.

    Siblings agree in shape, device, harness, line, revision, stack and, where they are
    controlled, batch. Give passed runs of any passes; of several runs of one pass the
    representative counts.
    """
    groups: dict[Hashable, dict[TimedPass, list[RunFacts]]] = {}
    for run in runs:
        if run.timed_pass in TRAINING and run.status == "passed" and latency_ns(run):
            groups.setdefault(_setting(run), {}).setdefault(run.timed_pass, []).append(run)
    found: dict[str, PassTimes] = {}
    for passes in groups.values():
        if len(passes) == len(TRAINING):
            times = _times(passes)
            found |= {run.digest: times for members in passes.values() for run in members}
    return found


def _setting(run: RunFacts) -> Hashable:
    rules = tuple(rule for rule in run.protocol.rules if rule[0] in SHARED_RULES)
    return (
        shape_key(run.shape),
        device_key(run.device),
        (run.protocol.profile, run.protocol.name, run.protocol.version, rules, run.source),
        run.primary.key if run.primary else None,
        entry_key(run),
        _batch(run.samples),
    )


def _batch(samples: Samples | None) -> str | None:
    return samples.batch if samples else None


def _times(passes: dict[TimedPass, list[RunFacts]]) -> PassTimes:
    forward, backward, full = (latency_ns(representative(passes[one])) or 0.0 for one in TRAINING)
    return PassTimes(forward_ns=forward, backward_ns=backward, full_ns=full)
