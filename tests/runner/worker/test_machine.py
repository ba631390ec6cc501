"""What the machine lacks or a plan asks wrongly is refused, and is no candidate's fault."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelindex.errors import KernelIndexError
from kernelindex.runner.plan import Plan, plan_to_json
from kernelindex.runner.worker import __main__ as worker
from kernelindex.runner.worker.machine import require_machine
from kernelindex.runner.worker.resume import WorkerError
from tests.runner.recording.factories import make_plan


def changed(plan: Plan, **changes: object) -> Plan:
    (point,) = plan.points
    return replace(plan, points=(replace(point, **changes),))


ABSENT = make_plan(device="cuda:99", candidates=("pytorch/RMSNorm",))
UNKNOWN_DRAW = changed(make_plan(), draws=("own", "sideways"))
OTHER_AXES = changed(make_plan(), axes={"rows": 4})
TOO_LARGE = changed(make_plan(), axes={"tokens": 1 << 40, "hidden": 1 << 10})


@pytest.mark.parametrize(
    ("plan", "asked", "there"),
    [
        (ABSENT, "cuda:99 is not on this machine", ""),
        (UNKNOWN_DRAW, "no draw 'sideways'", "it has: "),
        (OTHER_AXES, "{'rows': 4}", "wanted a whole number from 1 for each of tokens, hidden"),
        (TOO_LARGE, "takes 9007199254745088 bytes", "cpu has "),
    ],
    ids=["device", "draw", "axes", "size"],
)
def test_the_worker_refuses_before_anything_is_measured_or_written(
    plan: Plan, asked: str, there: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan))

    assert worker.main([str(path), "--out", str(tmp_path / "out")]) == worker.EXIT_REFUSED

    said = capsys.readouterr().err
    assert said.startswith("refused: ")
    assert asked in said
    assert there in said
    assert not (tmp_path / "out").exists()
    with pytest.raises(WorkerError) as refused:
        require_machine(plan)
    assert refused.value.code.startswith("run.")


def test_impossible_axes_of_a_plan_are_refused_by_the_worker_as_it_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(make_plan()).replace('"tokens": 512', '"tokens": -4'))

    assert worker.main([str(path), "--out", str(tmp_path / "out")]) == worker.EXIT_REFUSED
    assert "wanted axes of 1 or more: tokens is -4" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_plan_that_can_be_measured_here_is_not_refused() -> None:
    try:
        require_machine(make_plan())
    except KernelIndexError as error:
        pytest.fail(error.message)
