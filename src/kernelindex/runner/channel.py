"""The private channel between the worker and the processes it starts.

One inherited ``socketpair`` (AF_UNIX, stream) a process; its descriptor is the argument of
``--channel``: ``python -m kernelindex.runner.probe --channel 5``. A frame is four bytes of
length (big endian) and that much UTF-8 JSON, one object. The worker sends one request and
waits for its one reply; a reply carries the request's nonce. Numbers are finite: what is
not is sent as null. Unasked-for bytes, a wrong nonce, or a frame over the limit end the
process with ``policy_violation``.

Request  ``{"nonce": <32 hex>, "command": <name>, ...fields}``
Reply    ``{"nonce", "ok": true, ...fields}``
Refusal  ``{"nonce", "ok": false, "status", "code", "text"}``; status as in BenchmarkRun, or
         ``unsupported`` (the candidate does not do this; nothing is wrong)

All keys are snake_case. File names are absolute paths; ``tensor_file`` says what is in them.

Probe (``kernelindex.runner.probe``), in the order the worker sends them
  hello {device, pad_bytes, protocol: <rules as in the plan, snake_case>}
      -> {facts: {python, torch?, triton?, cuda?, driver?, gpu?, cpu, packages, isolation}}
  load {point: <Point as JSON, camelCase as in the plan>, candidate: <likewise>, plan_dir}
      -> {import_ns, source_digest, packages: {name: version}, guards: [finding, ...]}
  inputs {sets: [file, ...], upstream: [file, ...]}
      replaces the sets held; file i of ``sets`` is set i, of ``upstream`` its upstream gradients
      by output name. ``upstream`` is [] where no pass needs gradients.       -> {}
  call {pass, set, refresh, out: file, poison: bool}
      one untimed checked call; writes outputs by name and gradients as ``grad_<input>``
      -> {guards: [finding, ...], outputs: [name, ...], elapsed_ns}
  warm {pass, cache, load, execution, seconds, calls}
      -> {first_call_ns, calls, steady: bool, median_ns, seconds}
  measure {pass, cache, load, execution, calls, refresh, switch_calls, switch_seconds,
           idle_seconds}
      ``calls`` timed calls, or fewer where the regime allows (burst); ``refresh`` is the offset
      by which contents are rolled before them (``judge.refresh``); ``order`` says which set each
      call took
      -> {samples_ns: [...], cycles: [...] | null, order: [set, ...], timed_ns: <the probe's own
          wall clock round the timed part>, telemetry: {...}, guards: [...]}
  kept {out: file}
      writes outputs and gradients of one of the calls just measured, drawn once it was made: no
      request says before it whether a call is judged                      -> {set, refresh}
  block {pass, calls}    the calls back to back, then a device synchronisation  -> {timed_ns}
  trace {pass}           -> {kernels: [{name, share, launches}], busy_ratio, launches}
  traits {pass}          -> {peak_bytes, saved_bytes, deterministic, energy, setup_ns}
  capture {pass}         -> {graph_capturable: bool | null, capture_text}; the last thing asked
  audit {name, pass}     -> {findings: [finding, ...]};  finding: {code, status, text, numbers}
  audits {pass}          -> {names: [...]}  which audits apply
  free {}                gives cached device memory back, after the examination      -> {}
  sentinel {which, calls} -> {samples_ns, nominal_ns}        (trusted probes only)
  selfcheck {}           -> {checks: [{name, passed, text, numbers}], tick_ns, passed,
                             values: {name: number}}                             (trusted only)
  bye {}                 -> {}   and the process ends

The anchor is a probe like any other: ``load {anchor: <Anchor as JSON>}`` instead of point and
candidate, no ``inputs``, pass ``inference``.

Judge (``kernelindex.runner.judge``); trusted, one a point and generation
  hello {device}         -> {facts: {...}}
  point {point, operation}                                                          -> {}
  make {draw, seed: text, sets, dir}
      -> {sets: [file, ...], upstream: [file, ...], digests: [sha256, ...]}
  compare {files: {candidate: file}, pass, draw, set, refresh}
      -> {results: {candidate: {status: passed | incorrect_shape | incorrect_dtype |
          incorrect_numerical | invalid_reference, reason, text, outputs: {name: {passed, finite,
          frobenius, worst_row, max_abs, max_rel, error_ratio, matched}}}}}
      pass ``forward``/``inference`` judges outputs, ``backward`` gradients, ``full`` both.
      The error ratio is to the trusted implementation that the operation names.
  lint {}                -> {findings: [{code, text}]}
  free {}                gives its device memory back before timing starts           -> {}
  bye {}                 -> {}
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_FRAME_BYTES = 32 << 20
_HEAD = struct.Struct(">I")
_TEXT_LIMIT = 4000

Handler = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the other side answered; the fields are data of a process that may be hostile."""

    fields: Mapping[str, Any]
    wall_ns: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The other side refused, with a status of BenchmarkRun or ``unsupported``."""

    status: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Violation:
    """The other side broke the channel's rules; nothing it said or says counts."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """No whole reply came in time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The other side is gone."""

    text: str


Answer = Reply | Refused | Violation | TimedOut | Closed

STATUSES = frozenset(
    (
        "incorrect_shape",
        "incorrect_dtype",
        "incorrect_numerical",
        "compile_error",
        "runtime_error",
        "timeout",
        "resource_exceeded",
        "invalid_reference",
        "policy_violation",
        "suspected_reward_hack",
        "unsupported",
    )
)


class Refusal(Exception):
    """Raised by a handler to answer ``ok: false`` with its status, code and text."""

    def __init__(self, status: str, code: str, text: str) -> None:
        super().__init__(f"{status}: {code}: {text}")
        self.status, self.code, self.text = status, code, text


class Channel:
    """The worker's end: one request at a time, every failure a value."""

    def __init__(self, end: socket.socket, limit_bytes: int = MAX_FRAME_BYTES) -> None:
        self._end = end
        self._limit = limit_bytes
        self._broken: Violation | Closed | TimedOut | None = None

    def request(self, command: str, timeout_s: float, **fields: Any) -> Answer:
        """Send one command and wait for its reply; after a failure the channel stays failed."""
        if self._broken is not None:
            return self._broken
        answer = self._exchange(command, fields, timeout_s)
        if isinstance(answer, Violation | Closed | TimedOut):
            self._broken = answer
        return answer

    def fileno(self) -> int:
        """The descriptor, to wait on several channels at once."""
        return self._end.fileno()

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def _exchange(self, command: str, fields: Mapping[str, Any], timeout_s: float) -> Answer:
        if select.select([self._end], [], [], 0)[0]:
            return self._unasked()
        nonce = secrets.token_hex(16)
        started = time.perf_counter_ns()
        try:
            self._end.settimeout(timeout_s)
            send_frame(self._end, {"nonce": nonce, "command": command, **fields})
            body = receive_frame(self._end, self._limit, time.monotonic() + timeout_s)
        except TimeoutError:
            return TimedOut(timeout_s)
        except FrameError as error:
            return Violation("malformed_reply", str(error))
        except OSError as error:
            return Closed(str(error))
        if body is None:
            return Closed("the process closed its channel")
        return _answer(body, nonce, time.perf_counter_ns() - started)

    def _unasked(self) -> Violation | Closed:
        try:
            peeked = self._end.recv(1, socket.MSG_PEEK)
        except OSError as error:
            return Closed(str(error))
        if not peeked:
            return Closed("the process closed its channel")
        return Violation("forged_reply", "bytes came before they were asked for")


def _answer(body: Mapping[str, Any], nonce: str, wall_ns: int) -> Answer:
    if body.get("nonce") != nonce:
        return Violation("forged_reply", "a reply without the nonce of its request")
    fields = {key: value for key, value in body.items() if key not in ("nonce", "ok")}
    if body.get("ok") is True:
        return Reply(fields, wall_ns)
    status = fields.get("status")
    if body.get("ok") is not False or status not in STATUSES:
        return Violation("forged_reply", "a reply that is neither answer nor refusal")
    code, text = str(fields.get("code", ""))[:200], str(fields.get("text", ""))[:_TEXT_LIMIT]
    return Refused(status, code, text)


class FrameError(ValueError):
    """Raised when bytes on the channel are not a frame."""


def send_frame(end: socket.socket, body: Mapping[str, Any]) -> None:
    """Write one frame; raises ValueError for a number that is not finite."""
    data = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    end.sendall(_HEAD.pack(len(data)) + data)


def receive_frame(
    end: socket.socket, limit_bytes: int = MAX_FRAME_BYTES, deadline: float | None = None
) -> dict[str, Any] | None:
    """One frame, or None at the end; raises FrameError, or TimeoutError at ``deadline``.

    ``deadline`` is on ``time.monotonic`` and bounds the whole frame, however it drips.
    """
    head = _receive(end, _HEAD.size, deadline)
    if head is None:
        return None
    (size,) = _HEAD.unpack(head)
    if size > limit_bytes:
        raise FrameError(f"a frame of {size} bytes; at most {limit_bytes} are taken")
    data = _receive(end, size, deadline)
    if data is None:
        return None
    return _parse(data)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame that is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise FrameError("a frame that is not a JSON object")
    return body


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def _receive(end: socket.socket, size: int, deadline: float | None) -> bytes | None:
    parts, wanted = [], size
    while wanted:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            end.settimeout(left)
        part = end.recv(min(wanted, 1 << 20))
        if not part:
            return None
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def serve(descriptor: int, handlers: Mapping[str, Handler]) -> None:
    """Answer requests on an inherited socket until ``bye`` or the worker is gone.

    A handler returns the reply's fields, or raises Refusal. Anything else it raises is
    answered as ``runtime_error`` with the exception's class as code.
    """
    with socket.socket(fileno=descriptor) as end:
        end.settimeout(None)
        end.set_inheritable(False)
        while (request := receive_frame(end)) is not None:
            nonce, command = request.pop("nonce", ""), request.pop("command", "")
            _send_answer(end, nonce, _handle(handlers, command, request))
            if command == "bye":
                return


def _handle(
    handlers: Mapping[str, Handler], command: str, request: Mapping[str, Any]
) -> Mapping[str, Any]:
    handler = handlers.get(command)
    if handler is None:
        if command == "bye":
            return {"ok": True}
        return refusal("unsupported", "unknown_command", f"no command {command!r} here")
    try:
        return {"ok": True, **handler(request)}
    except Refusal as error:
        return refusal(error.status, error.code, error.text)
    except Exception as error:
        return refusal("runtime_error", type(error).__name__, str(error))


def refusal(status: str, code: str, text: str) -> dict[str, Any]:
    """The fields of a reply that refuses."""
    return {"ok": False, "status": status, "code": code[:200], "text": text[:_TEXT_LIMIT]}


def _send_answer(end: socket.socket, nonce: object, fields: Mapping[str, Any]) -> None:
    try:
        send_frame(end, {**fields, "nonce": nonce})
    except (ValueError, TypeError) as error:
        text = f"the reply is not JSON: {error}"
        send_frame(end, {**refusal("runtime_error", "reply_not_json", text), "nonce": nonce})
