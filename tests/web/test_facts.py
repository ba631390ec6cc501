"""Parts of manifests as lines and tables for people."""

from __future__ import annotations

from kernelindex.resolve.answer import ShapeRef
from kernelindex.web.facts import executed, facts, judged, readings, shorten_apart
from kernelindex.web.show import shape


def test_an_output_stands_beside_the_bounds_that_were_set() -> None:
    result = {
        "outputs": {
            "y": {"passed": True, "finite": True, "frobeniusError": 0.00235, "errorRatio": 0.55},
            "grad_x": {"passed": False, "finite": True, "worstRowError": 0.5},
            "grad_w": {"passed": False, "finite": False},
        }
    }
    y, grad_x, grad_w = judged(result, {"y": {"maxFrobeniusError": 0.008, "maxErrorRatio": 2}})
    assert (y.verdict, y.frobenius, y.ratio, y.worst_row) == (
        "within its bounds",
        "0.00235 of 0.008",
        "0.55 of 2",
        "",
    )
    assert (grad_x.verdict, grad_x.worst_row) == ("beyond a bound", "0.5")
    assert grad_w.verdict == "not finite"
    assert judged({}, {}) == ()


def test_readings_of_one_thing_are_one_line_and_not_seventeen_digits() -> None:
    power = {"minimum": 230.531, "median": 272.15549999999996, "mean": 306.79, "maximum": 563.089}
    memory = dict.fromkeys(("minimum", "median", "mean", "maximum"), 3201)
    told = {
        "telemetry": {
            "powerWatts": {**power, "samples": 96},
            "memoryClockMhz": {**memory, "samples": 96},
            "energyJoulesPerCall": 4.715013888888482,
            "eccErrors": 0,
        },
        "batch": {"anchorMedian": 464_808},
    }
    assert [(one.label, one.text) for one in readings(told)] == [
        ("telemetry energy joules per call", "4.715"),
        ("telemetry ecc errors", "0"),
        ("telemetry power watts", "230.5 to 563.1, median 272.2, of 96 readings"),
        ("telemetry memory clock mhz", "3,201 in all 96 readings"),
        ("batch anchor median", "465 µs"),
    ]


def test_kernels_of_a_call_stand_by_their_share() -> None:
    spec = {
        "executed": [
            {"kernel": "a", "launches": 1, "share": 0.0521},
            {"kernel": "b", "launches": 1200, "share": 0.9479},
        ]
    }
    said = [(one.kernel, one.launches, str(one.share).split("<")[0]) for one in executed(spec)]
    assert said == [("b", "1,200", "94.8"), ("a", "1", "5.2")]
    assert executed({}) == ()


def test_each_shape_of_a_suite_is_a_line_of_axes() -> None:
    cases = [{"axes": {"dim": 96, "width": 56}, "externalId": "0f6d"}, {"axes": {"dim": 320}}]
    assert [(one.label, one.text) for one in facts({"cases": cases})] == [
        ("cases 1", "dim=96 width=56"),
        ("cases 2", "dim=320"),
    ]


def test_two_suites_of_one_operation_are_told_apart() -> None:
    first = ShapeRef(key="a", axes={}, dtypes={}, distribution="suite:sha256:f3033c78" + "0" * 56)
    assert shape(first) == "a suite of shapes, f3033c78"
    assert shape(first.model_copy(update={"distribution": None})) == "a suite of shapes"
    assert shape(first.model_copy(update={"axes": {"n": 2}})) == "n=2"


def test_long_names_that_end_and_begin_alike_keep_what_differs() -> None:
    start, end = "void reduce<" + "a" * 120, "z" * 60 + ">(int)"
    names = [f"{start}MinNan{end}", f"{start}MaxNan{end}", "add(int)", f"{start}{end}"]
    shown = shorten_apart([*names, names[0]])
    assert set(shown) == set(names)
    assert shown["add(int)"] == "add(int)"
    assert "…MinNan…" in shown[names[0]]
    assert "…MaxNan…" in shown[names[1]]
    assert len(set(shown.values())) == len(names)
    alone = shorten_apart(names[:1])[names[0]]
    assert alone == f"{names[0][:100]}…{names[0][-30:]}"


def test_names_that_differ_in_too_many_places_stay_whole() -> None:
    middle = ["1" + "b" * 50 + one for one in "xy"]
    names = ["a" * 110 + one + "c" * 60 for one in middle] + ["a" * 110 + "2" * 9 + "c" * 60]
    assert len(set(shorten_apart(names).values())) == 3
