"""One object that watches a candidate from before its import to its last checked call."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelindex.runner.cheats.codes import Finding
from kernelindex.runner.probe.guards import outputs as forms
from kernelindex.runner.probe.guards.device import DeviceWatch, watch_device
from kernelindex.runner.probe.guards.flags import (
    FlagValues,
    RandomStates,
    process_flags,
    torch_flags,
)
from kernelindex.runner.probe.guards.identities import Identities
from kernelindex.runner.probe.guards.leftovers import (
    Mark,
    known_threads,
    mark_return,
    watch_after_return,
)
from kernelindex.runner.probe.state import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.probe.state import CheckedCall

_NAMED = 8  # at most this many patched names are told


@dataclass(slots=True)
class Before:
    """What was noted just before a checked call."""

    fingerprints: dict[str, int]
    states: RandomStates | None
    flags: FlagValues
    started_ns: int


@dataclass(slots=True)
class Guards:
    """Everything captured before the candidate's import, and the outputs still held."""

    device: str
    identities: Identities
    flags: FlagValues
    threads: frozenset[int]
    watch: DeviceWatch | None
    uses_torch: bool
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    noted: Before | None = None

    @classmethod
    def capture(cls, device: str, *, uses_torch: bool = True) -> Guards:
        """Capture identities, flags and threads; nothing of the candidate may be imported yet."""
        import_module("kernelindex.runner.probe.audits")  # so that its clocks are true ones
        flags = process_flags() + (torch_flags(device) if uses_torch else [])
        watch = watch_device() if device.startswith("cuda") else None
        return cls(
            device=device,
            identities=Identities.capture(),
            flags=FlagValues.capture(flags),
            threads=known_threads(),
            watch=watch,
            uses_torch=uses_torch,
        )

    def loaded(self) -> list[Finding]:
        """What the candidate's import changed; flags are put back and told as a doubt."""
        return self._patched() + self._changed(self.flags, "flags_changed_on_import")

    def timed(self) -> list[Finding]:
        """What changed in a timed part, its mode left: cheap, without touching the outputs."""
        return self._patched() + self._changed(self.flags, "flags_changed")

    def before(self, call: CheckedCall) -> None:
        """Note the inputs' bits and the random states, and let the device become idle."""
        given = {**call.inputs, **{f"upstream {k}": v for k, v in call.upstream.items()}}
        prints = {name: forms.fingerprint(tensor) for name, tensor in given.items()}
        states = RandomStates.capture(self.device) if self.uses_torch else None
        if self.watch is not None:
            self.watch.settle()
        # A call runs in a mode of its own (without gradients, say), so flags are read here anew.
        flags = FlagValues.capture(list(self.flags.flags))
        self.noted = Before(prints, states, flags, time.perf_counter_ns())

    def after(self, call: CheckedCall) -> list[Finding]:
        """Judge one call; to be called at once when the candidate has returned."""
        mark, noted = mark_return(), self.noted
        if noted is None:
            raise RuntimeError("Guards.after without Guards.before; call before() first")
        took_ns = time.perf_counter_ns() - noted.started_ns
        made = {**call.outputs, **call.gradients}
        whole = {name: tensor for name, tensor in made.items() if self._readable(tensor)}
        early = {name: forms.snapshot(tensor) for name, tensor in whole.items()}
        findings = self._late(whole, early, took_ns, mark)
        findings += self._patched() + self._changed(noted.flags, "flags_changed")
        findings += self._mutated(call, noted)
        findings += self._forms(call, made)
        findings += self._touched(call)
        findings += self._sharing(call)
        if call.poisoned:
            findings += self._unwritten(whole)
        self._put_back(noted)
        self.held.setdefault(call.timed_pass, {}).update(whole)
        return findings

    def forget(self) -> None:
        """Let go of the outputs of earlier calls, so that timing has their memory."""
        self.held.clear()

    def _patched(self) -> list[Finding]:
        names = self.identities.changed()
        if not names:
            return []
        told = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        return [Finding("patched_function", f"replaced: {told}", {"count": len(names)})]

    def _changed(self, flags: FlagValues, code: str) -> list[Finding]:
        changed = flags.changed()
        findings = [
            Finding(code, f"{name} was {then} and is {now}; it was put back")
            for name, (then, now) in changed.items()
        ]
        if changed:
            flags.put_back()
        findings += [
            Finding("cache_redirected", f"{name} was {then!r} and is {now!r}; it was put back")
            for name, (then, now) in flags.redirected().items()
        ]
        return findings + self._persisting()

    def _persisting(self) -> list[Finding]:
        seen = self.watch.persisting_l2_bytes() if self.watch is not None else 0
        if not seen:
            return []
        text = f"{seen} bytes of L2 are set aside to persist; wanted none, as before"
        return [Finding("l2_persistence", text, {"bytes": seen})]

    def _late(
        self, whole: Mapping[str, Any], early: dict[str, Any], took_ns: int, mark: Mark
    ) -> list[Finding]:
        findings = self.watch.left_running(took_ns) if self.watch is not None else []
        late = watch_after_return(took_ns, self.threads, mark)
        if late is not None:
            text = f"{late.who} computed {late.cpu_ns / 1e6:.1f} ms in the "
            text += f"{late.watched_ns / 1e6:.0f} ms after the call had returned"
            findings.append(Finding("work_after_return", text, {"cpuNs": late.cpu_ns}))
        if self.watch is not None:
            self.watch.synchronize()
        return findings + [
            Finding("changed_after_return", f"{name} was written after the call had returned")
            for name, tensor in whole.items()
            if not forms.same_bits(tensor, early.pop(name))
        ]

    def _mutated(self, call: CheckedCall, noted: Before) -> list[Finding]:
        given = {**call.inputs, **{f"upstream {k}": v for k, v in call.upstream.items()}}
        return [
            Finding("input_mutated", f"{name} is not what it was before the call")
            for name, tensor in given.items()
            if forms.fingerprint(tensor) != noted.fingerprints[name]
        ]

    def _forms(self, call: CheckedCall, made: Mapping[str, Any]) -> list[Finding]:
        seen = [forms.check_form(name, made[name], call.case, self.device) for name in made]
        return _missing(call) + [finding for finding in seen if finding is not None]

    def _touched(self, call: CheckedCall) -> list[Finding]:
        """Outputs of another type are told by ``_forms`` already."""
        ours = {f"upstream {k}": v for k, v in call.upstream.items()}
        ours |= {f"the leaf of {k}": v for k, v in call.leaves.items() if v is not call.inputs[k]}
        plain = {k: v for k, v in call.gradients.items() if self._readable(v)}
        plain |= {k: v for k, v in call.outputs.items() if self._readable(v)}
        seen = [
            forms.check_untouched(name, tensor)
            for name, tensor in ({**call.inputs, **ours, **plain}).items()
        ]
        return [finding for finding in seen if finding is not None]

    def _sharing(self, call: CheckedCall) -> list[Finding]:
        outputs = {n: t for n, t in call.outputs.items() if self._readable(t)}
        gradients = {n: t for n, t in call.gradients.items() if self._readable(t)}
        made = {**outputs, **gradients}
        given = {name: t for name, t in call.inputs.items() if self._readable(t)}
        held = {f"{n} of the call before": t for n, t in self._held(call).items()}
        findings = forms.check_sharing(made, given, "output_aliased", "the input")
        # A gradient may be the upstream gradient itself (of an addition); an output may not.
        findings += forms.check_sharing(outputs, call.upstream, "output_aliased", "the gradient of")
        findings += forms.check_mutual(made)
        # In backward the outputs are those of a forward that ran once, outside.
        fresh = gradients if call.timed_pass == "backward" else made
        return findings + forms.check_sharing(fresh, held, "output_reused", "the")

    def _held(self, call: CheckedCall) -> dict[str, Any]:
        return self.held.get(call.timed_pass, {})

    def _unwritten(self, whole: Mapping[str, Any]) -> list[Finding]:
        return [
            Finding("output_unwritten", f"{name} still holds what its memory was filled with")
            for name, tensor in whole.items()
            if not forms.is_array(tensor) and forms.holds_poison(tensor, POISON_BYTE)
        ]

    def _put_back(self, noted: Before) -> None:
        if noted.states is not None:
            noted.states.put_back()
        self.noted = None

    def _readable(self, tensor: Any) -> bool:
        return forms.is_plain(tensor)


def _missing(call: CheckedCall) -> list[Finding]:
    """Outputs that were not returned, and inputs that got no gradient."""
    findings = []
    wanted = [spec.name for spec in call.case.operation.outputs]
    if call.timed_pass != "backward" and (absent := [n for n in wanted if n not in call.outputs]):
        count = len(call.result) if isinstance(call.result, tuple | list) else 1
        text = f"{count} output(s) of type {type(call.result).__name__} and none for "
        findings.append(Finding("output_count", f"{text}{', '.join(absent)}; wanted {wanted}"))
    if call.timed_pass in {"backward", "full"}:
        findings += [
            Finding("gradient_missing", f"{name} got no gradient; wanted one of its shape")
            for name in call.leaves
            if f"grad_{name}" not in call.gradients
        ]
    return findings
