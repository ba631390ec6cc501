"""The command loop with torch candidates on the CPU: gradients, refresh, dumps, traits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch candidates need torch")

from kernelindex.runner.channel import Refusal  # noqa: E402
from kernelindex.runner.judge.refresh import refreshed  # noqa: E402
from kernelindex.runner.operations import load_module  # noqa: E402
from kernelindex.runner.probe.check_case import Rig, make_rig  # noqa: E402
from kernelindex.runner.probe.timers.gaps import make_products  # noqa: E402
from kernelindex.runner.tensor_file import read_tensors  # noqa: E402

pytestmark = pytest.mark.slow

SIZE = {"tokens": 24, "hidden": 32}


def expected(rig: Rig, index: int, offset: int) -> dict[str, torch.Tensor]:
    """Output and gradients of the reference on a set's refreshed contents, fp64."""
    session = rig.commands.session
    assert session.case is not None
    base = read_tensors(rig.folder / f"inputs-{index}.kit")
    upstream = read_tensors(rig.folder / f"upstream-{index}.kit")
    inputs, dy = refreshed(session.case, base, upstream, offset, training=True)
    leaves = {name: one.double().requires_grad_() for name, one in inputs.items()}
    y = load_module("rms-norm").reference(leaves, session.case)["y"]
    y.backward(dy["y"].double())
    gradients = {f"grad_{name}": leaf.grad for name, leaf in leaves.items()}
    return {"y": y.detach(), **gradients}  # type: ignore[dict-item]


def compare(path: Path, wanted: dict[str, torch.Tensor]) -> None:
    for name, value in read_tensors(path).items():
        assert torch.allclose(value.double(), wanted[name], rtol=1e-4, atol=1e-5), name


@pytest.mark.parametrize("gradients", ["leaf", "non_leaf"])
@pytest.mark.parametrize("timed_pass", ["forward", "backward", "full"])
def test_checked_and_timed_calls_give_the_refreshed_gradients(
    tmp_path: Path, gradients: str, timed_pass: str
) -> None:
    rig = make_rig("cpu", tmp_path, gradients=gradients, **SIZE)
    names = {
        "forward": ["y"],
        "backward": ["grad_weight", "grad_x"],
        "full": ["grad_weight", "grad_x", "y"],
    }[timed_pass]
    for offset in (0, 5):
        request = {"pass": timed_pass, "set": 1, "refresh": offset, "poison": True}
        reply = rig.ask("call", **request, out=str(tmp_path / "out"))
        assert reply["outputs"] == names
        assert [one for one in reply["guards"] if one["status"]] == []
        compare(tmp_path / "out", expected(rig, 1, offset))
    regime = {"pass": timed_pass, "cache": "hot", "load": "sustained", "execution": "eager"}
    dump = tmp_path / "timed"
    reply = rig.ask("measure", **regime, calls=9, refresh=3, switch_calls=1)
    kept = rig.ask("kept", out=str(dump))
    assert kept["set"] in reply["order"]
    assert sorted(read_tensors(dump)) == names
    compare(dump, expected(rig, kept["set"], kept["refresh"]))
    with pytest.raises(Refusal, match="one call of it is kept"):
        rig.commands.kept({"out": str(dump)})


def test_non_leaf_weights_are_the_leaf_times_one(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, gradients="non_leaf", **SIZE)
    assert rig.commands.session.sets is not None
    one = rig.commands.session.sets.sets[0]
    assert one.given["x"] is one.leaves["x"]
    assert not one.given["weight"].is_leaf
    assert torch.equal(one.given["weight"], one.leaves["weight"])


@pytest.mark.parametrize("timed_pass", ["backward", "full"])
def test_accumulated_gradients_are_added_to_zeros_and_judged(
    tmp_path: Path, timed_pass: str
) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    session = rig.commands.session
    assert session.sets is not None
    from kernelindex.runner.probe.work import TorchWork

    work = TorchWork(timed_pass, session.function, session.sets, accumulate=True)  # type: ignore[arg-type]
    session.works[timed_pass] = work
    leaves = session.sets.sets[0].leaves
    with work.mode():
        work.begin(0)
        step = work.ready(0)
        buffers = {name: leaf.grad for name, leaf in leaves.items()}
        assert all(not buffer.any() for buffer in buffers.values())
        step()
        once = {name: buffer.clone() for name, buffer in buffers.items()}
        work.ready(0)()
    for name, leaf in leaves.items():
        assert leaf.grad is buffers[name], "added to the same memory, not put in its place"
        assert torch.equal(leaf.grad, once[name]), "a call's own gradient, not a sum of calls"
    dump = tmp_path / "d"
    rig.ask("measure", **{"pass": timed_pass, "cache": "cold", "calls": 5, "refresh": 3})
    kept = rig.ask("kept", out=str(dump))
    compare(dump, expected(rig, kept["set"], 3))
    assert all(leaf.grad is None for leaf in leaves.values())
    assert rig.ask("traits", **{"pass": timed_pass})["deterministic"] is True


def test_zeroing_runs_nothing_of_a_candidate_and_takes_the_buffer_back(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    sets = rig.commands.session.sets
    assert sets is not None
    ran: list[str] = []

    class Telling(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            ran.append(str(function))
            return super().__torch_function__(function, types, args, kwargs or {})

    sets.zero_gradients(0)
    leaf = sets.sets[0].leaves["x"]
    buffer = leaf.grad
    buffer.zero_ = lambda: ran.append("zero_")
    buffer.add_(1)
    buffer.__class__ = leaf.__class__ = Telling
    sets.zero_gradients(0)
    leaf.__class__ = buffer.__class__ = torch.Tensor
    assert not ran
    assert leaf.grad is buffer
    assert not buffer.any()
    leaf.grad = torch.ones_like(leaf)
    sets.zero_gradients(0)
    assert leaf.grad is buffer
    sets.drop_gradients(0)
    assert leaf.grad is None


def test_what_forward_returned_is_looked_through_once(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    session = rig.commands.session
    assert session.sets is not None
    from kernelindex.runner.probe.work import TorchWork

    seen: list[str] = []

    class Result(dict[str, torch.Tensor]):
        def keys(self):  # type: ignore[no-untyped-def]
            seen.append("keys")
            return super().keys()

    def function(x: torch.Tensor, weight: torch.Tensor) -> Result:
        return Result(y=x * weight)

    work = TorchWork("backward", function, session.sets, accumulate=False)
    with work.mode():
        work.begin(0)
        before = len(seen)
        work.ready(0)()
        work.ready(1)()
    assert len(seen) == before


def test_addresses_stay_and_contents_change(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    sets = rig.commands.session.sets
    assert sets is not None
    one = sets.sets[0]
    places = {name: tensor.data_ptr() for name, tensor in one.plain.items()}
    before = one.plain["x"].clone()
    sets.refresh(7, training=True)
    assert {name: tensor.data_ptr() for name, tensor in one.plain.items()} == places
    assert torch.equal(one.plain["x"], before.roll(7, 0))
    assert torch.equal(one.plain["weight"], one.base["weight"].roll(7, 0))
    sets.refresh(7, training=False)
    assert torch.equal(one.plain["weight"], one.base["weight"])


def test_examination_of_a_host_candidate(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, function="llama", tokens=64, hidden=256)
    traced = rig.ask("trace", **{"pass": "full"})
    assert traced["busy_ratio"] is None
    assert sum(one["share"] for one in traced["kernels"]) == pytest.approx(1.0)
    assert any(one["name"] == "aten::mul" for one in traced["kernels"])
    found = rig.ask("traits", **{"pass": "forward"})
    assert found["deterministic"] is True
    assert found["saved_bytes"] >= 64 * 256 * 4  # the scaled rows, and what their mean needs
    assert rig.ask("capture", **{"pass": "forward"})["graph_capturable"] is None


def test_a_candidate_that_is_not_deterministic_is_told(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    session = rig.commands.session
    session.function = lambda x, weight: x * weight * torch.rand(())
    session.works.clear()
    assert rig.ask("traits", **{"pass": "inference"})["deterministic"] is False


def test_inference_records_no_gradients(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    seen: list[Any] = []

    def look(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        seen.append((torch.is_grad_enabled(), x.requires_grad))
        return x * weight

    rig.commands.session.function = look
    rig.commands.session.works.clear()
    rig.ask("block", **{"pass": "inference"}, calls=2)
    assert seen == [(False, False)] * 2
    assert torch.is_grad_enabled()


def test_prepared_weights_stand_in_the_place_of_static_inputs(tmp_path: Path) -> None:
    rig = make_rig("cpu", tmp_path, **SIZE)
    session = rig.commands.session
    session.prepare = lambda weight: {"doubled": 2 * weight}
    session.function = lambda x, doubled: x * doubled
    session.works.clear()
    work = rig.commands._work({"pass": "inference"})
    assert session.sets is not None
    one = session.sets.sets[1]
    assert torch.equal(work.ready(1)(), 2 * one.plain["x"] * one.plain["weight"])
    assert session.setup_ns > 0


def test_products_that_fill_gaps_share_two_buffers_and_leave_no_gradients() -> None:
    (_, large), (_, small) = make_products("cpu", (16, 8))
    first = large()
    factor = first._base if first._base is not None else first
    with torch.inference_mode():
        second = small()
    assert (first.dtype, first.shape, second.shape) == (torch.bfloat16, (16, 16), (8, 8))
    assert first.data_ptr() == second.data_ptr()  # what is computed is nobody's
    assert not second.requires_grad
    assert factor.numel() == 256
    assert 0.5 < float(large().float().std()) / 4.0 < 2.0  # of normal numbers, not of zeros


def test_a_version_tells_nothing_of_what_was_written(tmp_path: Path) -> None:
    """Neither that a call's inputs stayed, nor by how much it moves, that they did not."""
    rig = make_rig("cpu", tmp_path, **SIZE)
    sets = rig.commands.session.sets
    assert sets is not None
    x, weight = (sets.sets[0].plain[name] for name in ("x", "weight"))
    steps: dict[bool, set[int]] = {True: set(), False: set()}
    sets.mark(0, inputs=True)
    for refresh in range(200):
        before, static = x._version, weight._version
        if written := bool(refresh % 2):
            sets.refresh(refresh, training=True)
            static = weight._version
        sets.mark(0, inputs=True)
        steps[written].add(x._version - before)
        assert weight._version == static
    assert steps == {True: {4, 5, 6, 7}, False: {4, 5, 6, 7}}
    seen = x._version
    sets.mark(0, inputs=False)
    assert x._version == seen
    sets.sets[0].plain["x"] = moved = x.clone()
    sets.mark(0, inputs=True)
    assert moved._version <= 7, "a tensor in another's place does not catch up with it"
