"""Which candidates of an operation there are, which of them can run, and files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.errors import NotFoundError, RequestError
from kernelindex.registry.operations import load_operations
from kernelindex.runner.operations.description import slugs
from kernelindex.runner.plan import TRAINING, Candidate

if TYPE_CHECKING:
    from kernelindex.runner.operations.description import CandidateSpec, Operation


def recordable() -> tuple[str, ...]:
    """Operations that can be run and that the registry knows; a study's own are not recorded."""
    return tuple(slug for slug in slugs() if slug in load_operations())


def available(
    operation: Operation, device: str, packages: frozenset[str] | None = None
) -> list[tuple[CandidateSpec, str | None]]:
    """Every candidate of an operation with the reason why it cannot run there, if any."""
    kind = device.partition(":")[0]
    return [(one, obstacle_of(one, kind, packages)) for one in operation.candidates]


def find_candidate(operation: Operation, text: str) -> CandidateSpec:
    """The candidate of that id, line or title, or the only one whose id ends or begins so.

    Raises NotFoundError ``candidate.not_found`` with those there are.
    """
    wanted = text.casefold()
    tests = (
        lambda one: wanted in (one.id.casefold(), one.line_id.casefold(), one.title.casefold()),
        lambda one: one.id.casefold().rpartition("/")[2] == wanted,
        lambda one: wanted in one.id.casefold().replace("-", "/").split("/"),
    )
    for test in tests:
        found = [one for one in operation.candidates if test(one)]
        if len(found) == 1:
            return found[0]
    known = ", ".join(one.id for one in operation.candidates)
    raise NotFoundError(
        f"{operation.slug} has no one candidate {text!r}; it has {known}",
        code="candidate.not_found",
    )


def own_candidate(text: str) -> Candidate:
    """The candidate of ``FILE:FUNCTION``; its passes are tried as the plan asks for them.

    Raises RequestError ``candidate.file`` where there is no such file or no function named.
    """
    place, _, function = text.rpartition(":")
    path = Path(place)
    if not place or not function.isidentifier() or not path.is_file():
        raise RequestError(
            f"{text!r}: wanted FILE.py:FUNCTION of a file that is there", code="candidate.file"
        )
    return Candidate(
        id=f"own/{path.stem}-{function}".replace("_", "-").lower(),
        entry=function,
        file=str(path.resolve()),
        passes=("inference", *TRAINING),
    )


def planned(spec: CandidateSpec) -> Candidate:
    """A described candidate as a plan names it."""
    return Candidate(
        id=spec.id,
        entry=spec.entry,
        interface=spec.interface,
        passes=spec.passes,
        prepare=spec.prepare,
        packages=spec.packages,
    )


def obstacle_of(spec: CandidateSpec, kind: str, packages: frozenset[str] | None) -> str | None:
    """Why a candidate cannot run on a kind of device (cuda, cpu) with these packages."""
    if kind not in spec.devices:
        return f"does not run on {kind}"
    lacking = [name for name in spec.packages if packages is not None and name not in packages]
    return f"needs {', '.join(lacking)}, not installed here" if lacking else None
