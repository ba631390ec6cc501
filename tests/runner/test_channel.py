import json
import select
import socket
import threading
import time
from contextlib import suppress

import pytest

from kernelindex.runner.channel import (
    Channel,
    Closed,
    Refusal,
    Refused,
    Reply,
    TimedOut,
    Violation,
    receive_frame,
    send_frame,
    serve,
)

PATIENT_S = 60.0  # what is answered at once


def answering(answer) -> Channel:
    """A channel whose other side runs ``answer(socket, request)`` once a request."""
    ours, theirs = socket.socketpair()

    def run() -> None:
        with theirs, suppress(OSError):
            while (request := receive_frame(theirs)) is not None:
                if answer(theirs, request) == "stop":
                    return

    threading.Thread(target=run, daemon=True).start()
    return Channel(ours, limit_bytes=1 << 16)


def serving(**handlers) -> Channel:
    ours, theirs = socket.socketpair()
    threading.Thread(target=serve, args=(theirs.detach(), handlers), daemon=True).start()
    return Channel(ours)


def raising(error: Exception):
    def handler(request):
        raise error

    return handler


def test_reply_carries_the_fields_and_our_clock() -> None:
    channel = serving(add=lambda request: {"sum": request["a"] + request["b"]})
    answer = channel.request("add", PATIENT_S, a=2, b=3)

    assert isinstance(answer, Reply)
    assert answer.fields == {"sum": 5}
    assert answer.wall_ns > 0
    channel.close()


def test_refusals_come_as_values() -> None:
    error = Refusal("compile_error", "ptxas", "no luck")
    channel = serving(build=raising(error), bug=raising(KeyError("x")))

    assert channel.request("build", PATIENT_S) == Refused("compile_error", "ptxas", "no luck")
    assert channel.request("bug", PATIENT_S) == Refused("runtime_error", "KeyError", "'x'")
    unknown = channel.request("dance", PATIENT_S)
    assert isinstance(unknown, Refused)
    assert unknown.status == "unsupported"
    channel.close()


def test_numbers_that_are_not_finite_are_not_sent() -> None:
    channel = serving(bad=lambda request: {"x": float("nan")})

    answer = channel.request("bad", PATIENT_S)
    assert isinstance(answer, Refused)
    assert answer.code == "reply_not_json"
    channel.close()


def test_bye_ends_the_server() -> None:
    channel = serving()

    assert isinstance(channel.request("bye", PATIENT_S), Reply)
    assert isinstance(channel.request("bye", PATIENT_S), Closed)
    channel.close()


def wrong_nonce(end, request):
    send_frame(end, {"nonce": "0" * 32, "ok": True})


def twice(end, request):
    for _ in range(2):
        send_frame(end, {"nonce": request["nonce"], "ok": True})


def no_json(end, request):
    end.sendall(b"\0\0\0\3abc")


def huge(end, request):
    end.sendall(b"\x7f\xff\xff\xff")


def not_finite(end, request):
    body = json.dumps({"nonce": request["nonce"], "ok": True, "x": float("inf")}).encode()
    end.sendall(len(body).to_bytes(4, "big") + body)


def invented_status(end, request):
    send_frame(end, {"nonce": request["nonce"], "ok": False, "status": "passed"})


@pytest.mark.parametrize("rogue", [wrong_nonce, no_json, huge, not_finite, invented_status])
def test_broken_replies_are_violations_and_stay_so(rogue) -> None:
    channel = answering(rogue)
    first = channel.request("x", PATIENT_S)

    assert isinstance(first, Violation)
    assert channel.request("x", PATIENT_S) is first
    channel.close()


def test_an_unasked_reply_is_a_violation() -> None:
    channel = answering(twice)
    assert isinstance(channel.request("x", PATIENT_S), Reply)

    assert select.select([channel], [], [], PATIENT_S)[0]
    answer = channel.request("x", PATIENT_S)
    assert isinstance(answer, Violation)
    assert answer.code == "forged_reply"
    channel.close()


def test_a_dripping_reply_is_bounded_as_a_whole() -> None:
    def drip(end, request):
        """The whole reply takes five times the time allowed, and no part of it a tenth."""
        end.sendall(b"\0\0\0\x32")
        for _ in range(50):
            time.sleep(0.02)
            end.sendall(b" ")

    channel = answering(drip)

    assert channel.request("x", 0.2) == TimedOut(0.2)
    channel.close()


def test_a_gone_process_is_closed() -> None:
    channel = answering(lambda end, request: "stop")

    assert isinstance(channel.request("x", PATIENT_S), Closed)
    channel.close()
