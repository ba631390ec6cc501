"""Operations that can be run: one folder each, named as its slug with ``_`` for ``-``.

A folder holds ``operation.json`` (what it is, read on every side), ``__init__.py`` (generators
and reference: see ``OperationModule``) and ``candidates.py`` (plain functions that take the
inputs by name). Nothing here imports torch before a function is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from kernelindex.runner.operations.case import Case, case_of, make_case
from kernelindex.runner.operations.description import (
    CandidateSpec,
    Operation,
    TensorSpec,
    ToleranceSpec,
    load_operation,
    module_name,
    slugs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CandidateSpec",
    "Case",
    "Operation",
    "OperationModule",
    "TensorSpec",
    "ToleranceSpec",
    "case_of",
    "load_module",
    "load_operation",
    "make_case",
    "module_name",
    "slugs",
]


class OperationModule(Protocol):
    """What an operation's ``__init__.py`` defines; the numpy functions are optional.

    Optional too: ``make_upstream(case, draw, generator, device)``, upstream gradients by output
    where a standard normal one does not fit; ``make_inputs_numpy(case, draw, rng)`` and
    ``reference_numpy(inputs, case)``, the same for machines without torch (forward only).
    """

    def make_inputs(self, case: Case, draw: str, generator: Any, device: str) -> dict[str, Any]:
        """Tensors by input name, of the case's shapes and dtypes, drawn with ``generator``."""
        ...

    def reference(self, inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
        """Outputs by name, differentiable, in the dtype of the given (upcast) tensors."""
        ...


def load_module(slug: str) -> OperationModule:
    """The code of an operation's folder. Raises ``NotFoundError``."""
    load_operation(slug)
    return cast("OperationModule", import_module(module_name(slug)))
