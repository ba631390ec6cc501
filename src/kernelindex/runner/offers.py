"""Which candidates of an operation there are, which of them can run, and files of one's own."""

from __future__ import annotations

import ast
import platform
import sys
from difflib import get_close_matches
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.errors import NotFoundError, RequestError
from kernelindex.registry.operations import load_operations
from kernelindex.runner.operations.description import slugs
from kernelindex.runner.plan import TRAINING, Candidate

if TYPE_CHECKING:
    from kernelindex.runner.operations.description import CandidateSpec, Operation

_NOT_NEEDED = frozenset((("cpu", "pytorch", "triton"),))
"""On a host torch.compile writes C++, and a CPU build of torch comes without triton."""
_CLASS, _VALUE = "a class", "a value"


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

    Raises RequestError ``candidate.file`` where there is no such file or no function named,
    ``candidate.syntax`` where it is no Python, ``candidate.function`` where nothing in it has
    that name, ``candidate.imports`` where it imports what lies beside it: the file is read and
    not run, so that this is said at once.
    """
    place, _, function = text.rpartition(":")
    path = Path(place)
    if not place or not function.isidentifier() or not path.is_file():
        raise RequestError(
            f"{text!r}: wanted FILE.py:FUNCTION of a file that is there", code="candidate.file"
        )
    tree = _parse(path)
    _require_name(path, tree, function)
    _require_alone(path, tree)
    return Candidate(
        id=f"own/{path.stem}-{function}".replace("_", "-").lower(),
        entry=function,
        file=str(path.resolve()),
        passes=("inference", *TRAINING),
    )


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}", code="candidate.file") from error
    except (SyntaxError, ValueError) as error:
        where = f"{path}:{error.lineno}" if isinstance(error, SyntaxError) else str(path)
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise RequestError(
            f"{where}: {said}; wanted a file of Python {platform.python_version()}",
            code="candidate.syntax",
        ) from error


def _require_alone(path: Path, tree: ast.Module) -> None:
    """Refuse an import of what lies beside the file: a copy of the file alone is run."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        else:
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name.startswith(".") or _lies_beside(path, name.partition(".")[0]):
                raise RequestError(
                    f"{path}:{node.lineno}: imports {name}, which lies beside it; the file is run"
                    " alone, so put what it needs into it, or install it",
                    code="candidate.imports",
                )


def _lies_beside(path: Path, name: str) -> bool:
    """Whether a module is there and not installed for this Python as well."""
    beside = (path.parent / f"{name}.py").is_file() or (path.parent / name).is_dir()
    if not beside or name == path.stem:
        return False
    here = str(path.resolve().parent)
    places = [one for one in sys.path if str(Path(one or ".").resolve()) != here]
    return PathFinder.find_spec(name, places) is None and name not in sys.builtin_module_names


def _require_name(path: Path, tree: ast.Module, name: str) -> None:
    """Refuse a file in which nothing can have the name; what may have it is found by running."""
    kind = next(filter(None, (_kind_of(one, name) for one in reversed(tree.body))), None)
    if kind in (_CLASS, _VALUE):
        raise RequestError(
            f"{path}: {name} is {kind}; wanted a function, or what can be called like one"
            f" (an instance of a module, say)",
            code="candidate.function",
        )
    if any(_binds(one, name) or _takes_all(one) for one in ast.walk(tree)):
        return
    functions = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
    near = get_close_matches(name, functions, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(functions) or 'none'}"
    raise RequestError(f"{path}: no function is called {name!r}; {hint}", code="candidate.function")


def _kind_of(node: ast.stmt, name: str) -> str | None:
    """What a statement makes of a name, as far as it can be read; None where it binds others."""
    if isinstance(node, ast.ClassDef) and node.name == name:
        return _CLASS
    targets = node.targets if isinstance(node, ast.Assign) else []
    if any(isinstance(one, ast.Name) and one.id == name for one in targets):
        return _VALUE if isinstance(node, ast.Assign) and _is_value(node.value) else "something"
    defined = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
    return "something" if defined else None


def _is_value(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name


def _takes_all(node: ast.AST) -> bool:
    """Whether a statement may bind names that the file does not spell."""
    if isinstance(node, ast.ImportFrom):
        return any(one.name == "*" for one in node.names)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("exec", "globals", "setattr", "vars")


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
    wanted = [name for name in spec.packages if (kind, spec.project, name) not in _NOT_NEEDED]
    lacking = [name for name in wanted if packages is not None and name not in packages]
    return f"needs {', '.join(lacking)}, not installed here" if lacking else None
