"""The probe's commands: what each request of the worker does (see ``runner.channel``)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Handler, Refusal
from kernelindex.runner.probe import checking, loading
from kernelindex.runner.probe.arrays import write_outputs
from kernelindex.runner.probe.facts import describe_environment
from kernelindex.runner.probe.failures import as_refusal
from kernelindex.runner.probe.graphs import GraphWork
from kernelindex.runner.probe.guards import Guards
from kernelindex.runner.probe.machine import make_pad, open_session
from kernelindex.runner.probe.measuring import Regime

if TYPE_CHECKING:
    from kernelindex.runner.probe.choosing import Kept
    from kernelindex.runner.probe.state import Session
    from kernelindex.runner.probe.work import Work

Request = Mapping[str, Any]


class Commands:
    """Handlers by command; ``hello`` comes first and makes everything that must be trusted."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._guards: Guards | None = None
        self._kept: tuple[Request, Kept] | None = None

    def handlers(self) -> dict[str, Handler]:
        """Every command by its name, except ``bye``, which the channel answers."""
        names = (
            *("hello", "load", "inputs", "call", "warm", "measure", "kept", "block", "issue"),
            *("trace", "traits", "capture", "audits", "audit", "free", "sentinel", "selfcheck"),
        )
        return {name: getattr(self, name) for name in names}

    @property
    def session(self) -> Session:
        """The session; refuses before ``hello``."""
        if self._session is None:
            raise Refusal("unsupported", "no_hello", "say hello first")
        return self._session

    @property
    def guards(self) -> Guards:
        """The guards, captured in ``hello`` or before the candidate was imported."""
        if self._guards is None:
            raise Refusal("unsupported", "no_load", "load a candidate first")
        return self._guards

    def hello(self, request: Request) -> dict[str, Any]:
        """Make timer and sensors, allocate the pad, tell the environment."""
        device = str(request["device"])
        session = open_session(device, request.get("protocol") or {})
        session.notes["pad"] = make_pad(device, int(request.get("pad_bytes") or 0))
        self._session = session
        timer = session.meter.timer
        facts = describe_environment(device, session.meter.sensors, timer.tick_ns)
        facts["timer"] = timer.to_fields()
        return {"facts": facts}

    def load(self, request: Request) -> dict[str, Any]:
        """Import the candidate, or the anchor; guards are captured just before."""
        if "anchor" in request:
            return loading.load_anchor(self.session, request["anchor"])
        candidate = loading.read_candidate(self.session, request)
        if candidate.interface == "torch":
            loading.import_torch()
        self._guards = Guards.capture(
            self.session.device, uses_torch=candidate.interface == "torch"
        )
        loaded = loading.load_function(self.session, request)
        found = [one.to_json() for one in self._guards.loaded()]
        return {
            "import_ns": loaded.import_ns,
            "source_digest": loaded.source_digest,
            "packages": loaded.packages,
            "guards": found,
        }

    def inputs(self, request: Request) -> dict[str, Any]:
        """Replace the sets held by those of these files."""
        self._let_go()
        loading.load_sets(self.session, request["sets"], request.get("upstream") or [])
        return {}

    def call(self, request: Request) -> dict[str, Any]:
        """One checked call."""
        work, timed_pass = self._work(request), str(request["pass"])
        with as_refusal(f"{timed_pass} call"):
            checked = checking.run_checked(self.session, self.guards, work, request)
        path = Path(str(request["out"]))
        names = write_call(path, checked.timed_pass, checked.outputs, checked.gradients, request)
        return {"guards": checked.findings, "outputs": names, "elapsed_ns": checked.elapsed_ns}

    def warm(self, request: Request) -> dict[str, Any]:
        """Warm up one pass in one regime."""
        with self._begun(request) as (work, key):
            warmed = self.session.meter.warm(
                work, key, regime_of(request), float(request["seconds"]), int(request["calls"])
            )
        return {
            "first_call_ns": warmed.first_call_ns,
            "calls": warmed.calls,
            "steady": warmed.steady,
            "median_ns": warmed.median_ns,
            "seconds": warmed.seconds,
        }

    def measure(self, request: Request) -> dict[str, Any]:
        """Timed calls of one pass in one regime; what one of them left is kept for ``kept``."""
        with self._begun(request) as (work, key):
            measured = self.session.meter.measure(
                work,
                key,
                regime_of(request),
                int(request["calls"]),
                switch_calls=int(request.get("switch_calls") or 0),
                switch_seconds=float(request.get("switch_seconds") or 0.0),
                idle_seconds=_number(request, "idle_seconds", 0.1),
            )
            measured.taken.last = None
        self._kept = None if measured.kept is None else (request, measured.kept)
        return {**measured.to_fields(), "guards": self._timed_findings()}

    def kept(self, request: Request) -> dict[str, Any]:
        """Write what the call that was kept of the last measurement left."""
        if self._kept is None:
            raise Refusal("unsupported", "nothing_kept", "measure first; one call of it is kept")
        (measured, kept), self._kept = self._kept, None
        timed_pass = str(measured["pass"])
        write_call(Path(str(request["out"])), timed_pass, kept.outputs, kept.gradients, measured)
        return {"set": kept.set, "refresh": int(measured.get("refresh") or 0)}

    def block(self, request: Request) -> dict[str, Any]:
        """Calls back to back for the worker's own clock."""
        with self._begun(request) as (work, _):
            begun = time.perf_counter_ns()
            self.session.meter.block(work, int(request["calls"]))
            return {"timed_ns": time.perf_counter_ns() - begun}

    def issue(self, request: Request) -> dict[str, Any]:
        """Calls back to back that nobody waits for, for the worker's own clock."""
        with self._begun(request) as (work, _):
            self.session.meter.issue(work, int(request["calls"]))
        return {}

    def trace(self, request: Request) -> dict[str, Any]:
        """What ran on the device in one untimed call."""
        with self._begun(request) as (work, key):
            return checking.describe_trace(self.session, work, key)

    def traits(self, request: Request) -> dict[str, Any]:
        """Memory, determinism and energy of one pass; ``capture`` may spoil and is asked last."""
        with self._begun(request) as (work, _):
            return checking.describe_traits(self.session, work, str(request["pass"]))

    def capture(self, request: Request) -> dict[str, Any]:
        """Whether the pass can be captured as a CUDA graph; the last thing to ask of a process."""
        if not self.session.device.startswith("cuda"):
            return {"graph_capturable": None, "capture_text": "no graphs on this device"}
        with self._begun({**request, "execution": "eager"}) as (work, _):
            return checking.describe_capture(work)

    def audits(self, request: Request) -> dict[str, Any]:
        """Names of the audits that apply to a pass."""
        from kernelindex.runner.probe.audits import applicable

        return {
            "names": applicable(checking.make_bench(self.session, self._work(request), request))
        }

    def audit(self, request: Request) -> dict[str, Any]:
        """Run one audit."""
        from kernelindex.runner.probe.audits import run_audit

        bench = checking.make_bench(self.session, self._work(request), request)
        with as_refusal(f"audit {request['name']}"):
            findings = run_audit(str(request["name"]), bench)
        return {"findings": [one.to_json() for one in findings]}

    def free(self, request: Request) -> dict[str, Any]:
        """Give back device memory that is cached and not used."""
        self._let_go()
        checking.give_back(self.session.device)
        return {}

    def sentinel(self, request: Request) -> dict[str, Any]:
        """Samples of one of the trusted pieces of work that the floor is read from."""
        from kernelindex.runner.calibration.sentinels import measure_sentinel

        return measure_sentinel(self.session, str(request["which"]), int(request["calls"]))

    def selfcheck(self, request: Request) -> dict[str, Any]:
        """Whether timer and flush do what they should on this device, now."""
        from kernelindex.runner.calibration.selfcheck import check_session

        return check_session(self.session).to_fields()

    def _work(self, request: Request) -> Work:
        return loading.find_work(self.session, str(request["pass"]))

    @contextmanager
    def _begun(self, request: Request) -> Iterator[tuple[Work, str]]:
        """The work of a request, begun in its mode; what it raises becomes a refusal."""
        self._let_go()
        timed_pass = str(request["pass"])
        key = f"{timed_pass}/{request.get('execution', 'eager')}"
        with as_refusal(timed_pass):
            work = self._executed(request, timed_pass)
            with work.mode():
                try:
                    work.begin(int(request.get("refresh") or 0))
                    yield work, key
                finally:
                    work.end()

    def _executed(self, request: Request, timed_pass: str) -> Work:
        work = self._work(request)
        if request.get("execution") != "graph":
            return work
        if not self.session.device.startswith("cuda"):
            raise Refusal("unsupported", "no_graphs", "CUDA graphs need a CUDA device")
        kept = self.session.notes.setdefault("graphs", {})
        if timed_pass not in kept:
            point = self.session.point
            moves = point is not None and point.gradients == "non_leaf"
            kept[timed_pass] = GraphWork(work, capture_anew=moves or timed_pass == "backward")
        graph_work: Work = kept[timed_pass]
        return graph_work

    def _let_go(self) -> None:
        """Of what earlier calls left: outputs that guards hold keep autograd's graphs alive."""
        self._kept = None
        if self._guards is not None:
            self._guards.forget()

    def _timed_findings(self) -> list[dict[str, Any]]:
        return [] if self._guards is None else [one.to_json() for one in self._guards.timed()]


def write_call(
    path: Path,
    timed_pass: str,
    outputs: Mapping[str, Any],
    gradients: Mapping[str, Any],
    request: Request,
) -> list[str]:
    """Write what the judge compares for a pass: of ``backward`` the gradients only."""
    values = dict(gradients) if timed_pass == "backward" else {**outputs, **gradients}
    write_outputs(path, values, {"pass": timed_pass, "refresh": int(request.get("refresh") or 0)})
    return sorted(values)


def _number(request: Request, name: str, default: float) -> float:
    value = request.get(name)
    return default if value is None else float(value)


def regime_of(request: Request) -> Regime:
    """The regime that a request names; what it leaves out is cold, sustained, eager."""
    return Regime(
        str(request.get("cache") or "cold"),
        str(request.get("load") or "sustained"),
        str(request.get("execution") or "eager"),
    )
