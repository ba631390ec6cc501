"""Parts of manifests as lines and tables for people."""

from __future__ import annotations

from kernelindex.web.facts import judged


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
