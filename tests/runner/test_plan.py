import json
from dataclasses import replace

import pytest

from kernelindex.runner.plan import (
    Plan,
    PlanError,
    Rules,
    Tolerance,
    load_plan,
    parse_plan,
    plan_to_json,
)
from tests.runner.support.plans import make_plan


def changed(**changes) -> str:
    return json.dumps({**json.loads(plan_to_json(make_plan("honest"))), **changes})


def test_plan_survives_json() -> None:
    plan = make_plan("honest", "slow", passes=("forward", "full"), points=2)

    assert parse_plan(plan_to_json(plan)) == plan


def test_keys_are_camel_case_and_data_keys_are_not() -> None:
    body = json.loads(plan_to_json(make_plan("honest")))

    assert body["rules"]["halfWidthTarget"] == 0.005
    assert body["points"][0]["axes"] == {"rows": 4}


def test_defaults_fill_what_is_left_out() -> None:
    point = json.loads(plan_to_json(make_plan("honest")))["points"][0]
    text = json.dumps({"number": 1, "runner": "r", "device": "cuda:1", "points": [point]})

    assert parse_plan(text).rules == Rules()


@pytest.mark.parametrize(
    ("changes", "path", "wanted"),
    [
        ({"nubmer": 3}, "nubmer", "one of number"),
        ({"number": "3"}, "number", "a whole number"),
        ({"number": True}, "number", "a whole number"),
        ({"timeBudgetSeconds": None}, "timeBudgetSeconds", "a finite number"),
        ({"points": {}}, "points", "a list"),
        ({"rules": {"rounds": 0}}, "rules", "at least one round"),
        ({"rules": {"load": ["burst", "burst"]}}, "rules", "each once"),
        ({"rules": {"gaps": "idle"}}, "rules", "gaps of spun, worked"),
        ({"points": [{"id": "x"}]}, "points[0].operation", "the key is missing"),
    ],
)
def test_errors_name_place_and_wish(changes, path, wanted) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(changed(**changes))

    assert caught.value.details["path"] == path
    assert wanted in caught.value.message


def test_accumulated_gradients_are_of_eager_calls() -> None:
    point = json.loads(plan_to_json(make_plan("honest")))["points"][0]
    added_up = {**point, "gradientBuffers": "accumulated"}
    assert parse_plan(changed(points=[added_up])).points[0].gradient_buffers == "accumulated"
    with pytest.raises(PlanError, match="accumulated gradients in eager"):
        parse_plan(changed(points=[added_up], rules={"execution": ["eager", "graph"]}))


@pytest.mark.parametrize("device", ["gpu", "cuda", "cuda:x", "cuda:"])
def test_device_is_cpu_or_numbered(device) -> None:
    with pytest.raises(PlanError, match="device as cpu or cuda"):
        parse_plan(changed(device=device))


@pytest.mark.parametrize("runner", ["", "../keys", "/etc/runner", "a.pem/", "-x", "a b", "x" * 101])
def test_a_runner_s_name_leads_to_no_file(runner) -> None:
    with pytest.raises(PlanError, match="runner as a name"):
        parse_plan(changed(runner=runner))


@pytest.mark.parametrize("draw", ["../own", "a/b", "", "stress"])
def test_draws_are_names_each_once(draw) -> None:
    point = make_plan("honest").points[0]
    with pytest.raises(ValueError, match="names of draws"):
        replace(point, draws=("own", "stress", draw))


@pytest.mark.parametrize("file", ["../mine.py", "files/../../mine.py"])
def test_a_candidate_s_file_does_not_lead_out_of_the_plan_s_folder(file) -> None:
    candidate = make_plan("honest").points[0].candidates[0]
    with pytest.raises(ValueError, match=r"file without \.\."):
        replace(candidate, file=file)


@pytest.mark.parametrize("text", ["", "x" * 201, "a\nb", "a\x1b[2J"])
def test_ids_are_printable_and_short(text) -> None:
    point = make_plan("honest").points[0]
    with pytest.raises(ValueError, match="an id of"):
        replace(point, id=text)
    with pytest.raises(ValueError, match="an id of"):
        replace(point.candidates[0], id=text)


def test_a_bound_that_is_not_asked_is_null() -> None:
    assert parse_plan(changed_tolerance({"frobenius": 0.1})).points[0].tolerances == {
        "y": Tolerance(frobenius=0.1)
    }
    full = {"frobenius": 0.1, "worstRow": None, "maxRel": 0.3, "maxAbs": 0.4, "errorRatio": 2.0}
    assert parse_plan(changed_tolerance(full)).points[0].tolerances["y"] == Tolerance(
        frobenius=0.1, max_rel=0.3, max_abs=0.4, error_ratio=2.0
    )
    with pytest.raises(PlanError, match="null where one is not asked"):
        parse_plan(changed_tolerance({"frobenius": 0.1, "maxAbs": 0.0}))


def changed_tolerance(tolerance) -> str:
    body = json.loads(plan_to_json(make_plan("honest")))
    body["points"][0]["tolerances"] = {"y": tolerance}
    return json.dumps(body)


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(PlanError, match="a finite number"):
        parse_plan(changed(timeBudgetSeconds=float("inf")))


def test_a_number_larger_than_any_float_is_refused() -> None:
    with pytest.raises(PlanError, match="a finite number"):
        parse_plan(changed(timeBudgetSeconds=10**400))


def test_repeated_key_is_refused() -> None:
    with pytest.raises(PlanError, match="the key twice"):
        parse_plan('{"number": 1, "number": 2}')


def test_trusted_must_be_a_candidate() -> None:
    plan = make_plan("honest")
    with pytest.raises(ValueError, match="trusted"):
        replace(plan.points[0], trusted="nobody")


def test_numpy_candidates_have_no_gradients() -> None:
    candidate = make_plan("honest").points[0].candidates[0]
    with pytest.raises(ValueError, match="no gradients"):
        replace(candidate, interface="numpy", passes=("forward", "backward"))


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(PlanError, match="nowhere"):
        load_plan(tmp_path / "nowhere.json")


def test_plan_is_read_from_a_file(tmp_path) -> None:
    plan: Plan = make_plan("honest")
    (tmp_path / "plan.json").write_text(plan_to_json(plan))

    assert load_plan(tmp_path / "plan.json") == plan


@pytest.mark.parametrize("size", [-4, 0])
def test_axes_are_positive(size: int) -> None:
    point = json.loads(plan_to_json(make_plan("honest")))["points"][0]
    with pytest.raises(PlanError, match=f"axes of 1 or more: rows is {size}") as caught:
        parse_plan(changed(points=[{**point, "axes": {"rows": size}}]))
    assert caught.value.details["path"] == "points[0]"
