"""What the right answer to a call is: inputs made again from the seed, then the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.judge.backend import Made
from kernelindex.runner.judge.comparing import Comparison, compare
from kernelindex.runner.judge.deciding import tolerances_of
from kernelindex.runner.judge.refresh import refreshed
from kernelindex.runner.judge.seeds import derive_seed
from kernelindex.runner.plan import GRADIENT_PASSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.judge.backend import Backend
    from kernelindex.runner.operations import Case
    from kernelindex.runner.operations.description import ToleranceSpec
    from kernelindex.runner.plan import Point

__all__ = ["Expectations", "Expected", "Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """Which call: the draw, the rotation set, the refresh's offset, whether weights roll too."""

    draw: str
    index: int
    offset: int
    training: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """The reference's values by name, and how far the trusted implementation is from them.

    ``trusted`` is empty where the operation names none for this device; ``trouble`` says why
    it could not run.
    """

    case: Case
    values: Mapping[str, Any]
    precision: str
    tolerances: Mapping[str, ToleranceSpec]
    trusted: Mapping[str, Comparison]
    trusted_id: str | None
    trouble: str


class Expectations:
    """Inputs and right answers of one point; the latest answer is kept."""

    def __init__(self, backend: Backend, point: Point, case: Case) -> None:
        self._backend, self._point, self._case = backend, point, case
        self._seeds: dict[str, str] = {}
        self._kept: tuple[Question, Expected] | None = None
        self._bounds = tolerances_of(point, case)
        asked = bool(set(GRADIENT_PASSES) & set(point.passes))
        self.gradients = asked and backend.name == "torch"

    @property
    def draws(self) -> tuple[str, ...]:
        """The draws that were made."""
        return tuple(self._seeds)

    def seed(self, draw: str, seed: str) -> None:
        """Bind a draw to the batch's seed. Answers of another seed are forgotten."""
        self._seeds[draw] = seed
        self._kept = None

    def forget(self) -> None:
        """Let go of the answer that is kept."""
        self._kept = None

    def case(self, draw: str) -> Case:
        """The point's case under a draw."""
        return self._case.for_draw(draw)

    def make(self, draw: str, index: int) -> Made:
        """Inputs and upstream gradients as drawn. Refuses a draw that was not bound to a seed."""
        if draw not in self._seeds:
            raise Refusal("runtime_error", "no_draw", f"draw {draw!r} was not made yet; send make")
        seed, point = self._seeds[draw], self._point.id
        return self._backend.make(
            self.case(draw),
            derive_seed(seed, point, draw, index, "inputs"),
            derive_seed(seed, point, draw, index, "upstream"),
        )

    def answer(self, question: Question) -> Expected:
        """The right answer to a call."""
        if self._kept is None or self._kept[0] != question:
            self._kept = None
            self._kept = (question, self._compute(question))
        return self._kept[1]

    def _compute(self, question: Question) -> Expected:
        case = self.case(question.draw)
        base = self.make(question.draw, question.index)
        training = question.training
        made = Made(
            *refreshed(case, base.inputs, base.upstream, question.offset, training=training)
        )
        return self.expect(case, made, gradients=self.gradients and training)

    def expect(self, case: Case, made: Made, *, gradients: bool) -> Expected:
        """The reference of given inputs, and the trusted implementation's errors on them."""
        found = self._backend.compute(case, made, gradients=gradients)
        expected = Expected(case, found.values, found.precision, self._bounds, {}, None, "")
        identifier = self._trusted_id(case)
        if identifier is None:
            return expected
        try:
            errors = self._trusted_errors(identifier, expected, made, gradients=gradients)
        except Exception as error:
            # The trusted code is ours, but a library under it may lack a dtype or the memory.
            trouble = f"{identifier} could not run: {type(error).__name__}: {error}"[:500]
            return replace(expected, trusted_id=identifier, trouble=trouble)
        return replace(expected, trusted_id=identifier, trusted=errors)

    def _trusted_id(self, case: Case) -> str | None:
        device = str(self._backend.facts()["device"]).partition(":")[0]
        key = "numpy" if self._backend.name == "numpy" else device
        return case.operation.trusted.get(key)

    def _trusted_errors(
        self, identifier: str, expected: Expected, made: Made, *, gradients: bool
    ) -> dict[str, Comparison]:
        case = expected.case
        module, _, name = case.operation.candidate(identifier).entry.partition(":")
        function = getattr(import_module(module), name)
        results = self._backend.run(function, case, made, gradients=gradients)
        return {
            key: compare(results[key], want, self._bounds[key], case.spec(key).worst_of)
            for key, want in expected.values.items()
        }
