"""From errors to an outcome: which bound was broken, where, and the run's status for it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.dtypes import dtype_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.judge.comparing import Comparison
    from kernelindex.runner.operations.case import Case
    from kernelindex.runner.operations.description import ToleranceSpec
    from kernelindex.runner.plan import Point

__all__ = ["Judged", "decide", "error_floor", "tolerances_of"]

_WRONG_ON = {
    "stress": "wrong_on_stress",
    "uneven": "wrong_on_uneven",
    "empty": "wrong_on_empty",
    "overfull": "wrong_on_empty",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One output's or gradient's outcome; ``code`` is empty where it passed."""

    comparison: Comparison
    error_ratio: float | None
    code: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """As it travels: what is not finite becomes null."""
        found = self.comparison
        return {
            "passed": not self.code,
            "finite": found.finite,
            "frobenius": _finite(found.frobenius),
            "worst_row": _finite(found.worst_row),
            "worst_at": found.worst_at,
            "max_abs": _finite(found.max_abs),
            "max_rel": _finite(found.max_rel),
            "matched": found.matched,
            "error_ratio": None if self.error_ratio is None else _finite(self.error_ratio),
        }


def tolerances_of(point: Point, case: Case) -> Mapping[str, ToleranceSpec]:
    """The operation's bounds, with those that the plan sets in their place."""
    made = dict(case.operation.tolerances_for(case.dtypes))
    for name, given in point.tolerances.items():
        if name in made:
            made[name] = replace(made[name], **asdict(given))
    return made


def error_floor(case: Case, name: str) -> float:
    """The trusted error below which a ratio says nothing: rounding alone, of the coarser dtype.

    Rounding to a dtype whose step is epsilon gives a relative error of about 0.2 epsilon; in
    fp32 and wider, sums in another order differ by several steps.
    """
    names = (case.dtype(name), case.dtypes[case.operation.inputs[0].name])
    epsilon = max(dtype_of(one).epsilon for one in names)
    return epsilon * (0.25 if epsilon > 1e-4 else 8.0)


def decide(
    name: str,
    case: Case,
    comparison: Comparison,
    tolerance: ToleranceSpec,
    trusted_error: float | None,
) -> Judged:
    """The outcome of one output: finite first, then each bound, the error ratio last."""
    ratio = None
    if trusted_error is not None:
        ratio = comparison.frobenius / max(trusted_error, error_floor(case, name))
    if not comparison.finite:
        text = f"{name} holds a NaN or an infinity that the reference does not"
        return Judged(comparison, ratio, "not_finite", text)
    broken = _broken(name, case, comparison, tolerance)
    if broken:
        return Judged(comparison, ratio, _wrong_code(name, case.draw), broken)
    allowed = tolerance.error_ratio
    if ratio is not None and allowed is not None and not ratio <= allowed:
        text = (
            f"{name}: its error is {ratio:.3g} times a trusted implementation's; {allowed:g} may be"
        )
        return Judged(comparison, ratio, "error_ratio", text)
    return Judged(comparison, ratio, "", "")


def _broken(name: str, case: Case, found: Comparison, tolerance: ToleranceSpec) -> str:
    """What was seen of the first bound that is broken, or nothing."""
    unit = "expert or slice" if case.spec(name).worst_of == "leading" else "row"
    bounds = (
        ("relative Frobenius error", found.frobenius, tolerance.frobenius),
        (f"error of {unit} {found.worst_at}", found.worst_row, tolerance.worst_row),
        ("largest relative error", found.max_rel, tolerance.max_rel),
        ("largest absolute error", found.max_abs, tolerance.max_abs),
    )
    for title, seen, bound in bounds:
        if bound is not None and not seen <= bound:
            return f"{name}: {title} is {seen:.3g}; {bound:g} may be"
    return ""


def _wrong_code(name: str, draw: str) -> str:
    if name.startswith("grad_"):
        return "wrong_gradient"
    return _WRONG_ON.get(draw, "wrong_values")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
