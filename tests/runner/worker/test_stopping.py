import math

from kernelindex.runner.plan import Rules
from kernelindex.runner.worker.stopping import wants_another, widest_half_width


def generation(failures=(), **medians) -> dict:
    members = {
        name: {
            "failures": {name: {} for name in failures},
            "series": {"forward/cold/burst/eager": {"samplesNs": [[value]] * 8}},
        }
        for name, value in medians.items()
    }
    return {"members": members}


RULES = Rules(generations=3, max_generations=5, half_width_target=0.005)
STEADY = [generation(a=100.0, b=200.0) for _ in range(3)]
SPREAD = [generation(a=100.0, b=value) for value in (200.0, 220.0, 190.0)]


def test_the_least_number_is_always_measured() -> None:
    assert wants_another(STEADY[:2], RULES)


def test_narrow_intervals_stop_and_wide_ones_go_on() -> None:
    assert not wants_another(STEADY, RULES)
    assert wants_another(SPREAD, RULES)


def test_the_most_is_the_end() -> None:
    assert not wants_another([*SPREAD, *SPREAD[:2]], RULES)


def test_the_width_is_that_of_students_t() -> None:
    logs = [math.log(value / 100.0) for value in (200.0, 220.0, 190.0)]
    centre = sum(logs) / 3
    error = math.sqrt(sum((x - centre) ** 2 for x in logs) / 2 / 3)

    assert math.isclose(widest_half_width(SPREAD), 4.302652729911275 * error, rel_tol=1e-9)


def test_a_refused_pass_does_not_keep_a_point_going() -> None:
    failed = [generation(failures=["forward"], a=1.0, b=value) for value in (1.0, 9.0, 4.0)]

    assert not wants_another(failed, RULES)


def test_a_point_where_everyone_was_refused_is_done() -> None:
    refused = generation(failures=("forward",), a=100.0)
    assert not wants_another([refused], RULES)
    assert not wants_another(
        [{"members": {"a": {"failures": {"forward": {}}, "series": {}}}}], RULES
    )
    assert wants_another([generation(failures=("backward",), a=100.0)], RULES)


def test_a_trial_ends_with_its_subject_whoever_else_is_left() -> None:
    refused = {"failures": {"forward": {}}, "series": {}}
    one = generation(rival=100.0)
    one["members"]["mine"] = refused

    assert not wants_another([one], RULES, {"mine"})
    assert wants_another([one], RULES, {"mine", "rival"})
    assert wants_another([one], RULES)
