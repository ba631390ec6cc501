"""Why no controlled run says anything of a run that was measured again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.policy.facts import Profile, TimedPass
from kernelindex.resolve.wording import short_revision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernelindex.catalog.rows import RunRow


def why_unjudged(run: RunRow, again: Sequence[RunRow]) -> str:
    """In words, why none of the runs that repeat ``run`` is held against it."""
    passed = [one for one in again if one.status == "passed"]
    if not again:
        return "the batch ended before anything was measured"
    if not passed:
        ended = dict.fromkeys(one.status.replace("_", " ") for one in again)
        return f"the rerun did not pass: {', '.join(ended)}"
    if run.profile == Profile.CONTROLLED:
        return _of_a_controlled_run(run, passed)
    if run.cohort_key is None:
        said = [str(one["text"]) for one in run.reasons if one.get("text")]
        return f"the run stands in no group: {'; '.join(said) or run.status.replace('_', ' ')}"
    differs = [list(_differences(run, one)) for one in passed]
    if all(differs):
        return "; ".join(dict.fromkeys(text for one in differs for text in one))
    return (
        "another run of the same line, revision and software is the one that is shown of its group,"
        " and reruns are held against that"
    )


def _of_a_controlled_run(run: RunRow, passed: Sequence[RunRow]) -> str:
    """Reruns judge what a source reported; two controlled runs are compared."""
    newest = passed[-1]
    differs = [*_differences(run, newest), *_surroundings(run, newest)]
    found = f"what differs: {'; '.join(differs)}" if differs else "the two are of one group"
    return (
        f"that run was itself measured by this harness, and reruns judge what others reported;"
        f" {found}. `ki compare {_short(run)} {_short(newest)}` sets the two side by side"
    )


def _differences(run: RunRow, again: RunRow) -> Iterator[str]:
    """What keeps two runs from speaking of each other at all."""
    if run.line["id"] != again.line["id"]:
        yield f"other code: {run.line['title']} was published, {again.line['title']} is rerun"
    if run.shape_key != again.shape_key:
        was, now = _shape(run), _shape(again)
        yield f"another shape: {was} was published, {now} is rerun"
    if run.timed_pass not in (again.timed_pass, TimedPass.UNSTATED):
        yield f"another pass: {run.timed_pass} was published, {again.timed_pass} is rerun"
    if (run.metric, run.unit) != (again.metric, again.unit):
        was, now = f"{run.metric} in {run.unit}", f"{again.metric} in {again.unit}"
        yield f"another metric: {was} was published, {now} is rerun"


def _surroundings(run: RunRow, again: RunRow) -> Iterator[str]:
    """What keeps two controlled runs out of one group, or tells them apart in it."""
    if run.revision != again.revision:
        was, now = short_revision(run.revision), short_revision(again.revision)
        yield f"revision {was} was measured, {now} is rerun"
    if run.device != again.device:
        was, now = _device(run), _device(again)
        yield f"the device: {was}, rerun on {now}" if was != now else "how the device is set up"
    if run.cohort_key != again.cohort_key and run.protocol != again.protocol:
        was, now = _protocol(run), _protocol(again)
        yield f"the protocol: {was}, rerun as {now}" if was != now else "rules of the protocol"
    if run.stack != again.stack:
        names = sorted(
            name
            for name in {*run.stack, *again.stack}
            if run.stack.get(name) != again.stack.get(name)
        )
        yield f"the software: {', '.join(names)}"


def _shape(run: RunRow) -> str:
    axes = " ".join(f"{name}={size}" for name, size in run.axes.items())
    types = " ".join(dict.fromkeys(map(str, run.dtypes.values())))
    return " ".join(filter(None, [axes, types, run.distribution or "no stated distribution"]))


def _device(run: RunRow) -> str:
    return str(run.device.get("label") or run.device.get("product") or "an unnamed device")


def _protocol(run: RunRow) -> str:
    return f"{run.protocol.get('name')} {run.protocol.get('version') or ''}".strip()


def _short(run: RunRow) -> str:
    return run.digest.removeprefix("sha256:")[:12]
