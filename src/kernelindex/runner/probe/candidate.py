"""Loading a candidate: its function, the digest of its source, the versions of its packages."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from kernelindex.runner.plan import Candidate

_FILE_MODULE = "candidate_under_test"
_LARGEST_SOURCE = 8 << 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """A candidate's function and what is known of where it came from.

    ``source_digest`` covers the module's own file (every Python file of the folder, where it is
    a package) and the file that defines the function; None where there is no file.
    """

    function: Callable[..., Any]
    prepare: Callable[..., Any] | None
    import_ns: int
    source_digest: str | None
    packages: dict[str, str]


def load_candidate(candidate: Candidate, plan_folder: Path | None) -> Loaded:
    """Import a candidate. Refuses with ``compile_error``, ``runtime_error`` or ``unsupported``."""
    begun = time.perf_counter_ns()
    try:
        module, name = _module_of(candidate.entry, candidate.file, plan_folder)
        function = _function(module, name)
        prepare = None
        if candidate.prepare:
            prepare = _function(*_module_of(candidate.prepare, candidate.file, plan_folder))
    except Refusal:
        raise
    except ModuleNotFoundError as error:
        raise Refusal("unsupported", "package_missing", f"{error}; install it") from error
    except SyntaxError as error:
        raise Refusal("compile_error", "syntax", str(error)) from error
    except Exception as error:
        raise Refusal("runtime_error", "raised", f"{type(error).__name__}: {error}") from error
    spent = time.perf_counter_ns() - begun
    return Loaded(
        function, prepare, spent, digest_source(module, function), versions(candidate.packages)
    )


def _module_of(entry: str, file: str | None, folder: Path | None) -> tuple[ModuleType, str]:
    if file is None:
        module, _, name = entry.partition(":")
        return importlib.import_module(module), name
    path = (folder or Path()) / file
    if not path.is_file():
        raise Refusal("unsupported", "file_missing", f"no file {file}; put it in the plan's folder")
    return _import_file(path), entry


def _import_file(path: Path) -> ModuleType:
    """Import one file under a name of its own; its folder can be imported from."""
    if _FILE_MODULE in sys.modules:
        return sys.modules[_FILE_MODULE]
    spec = importlib.util.spec_from_file_location(_FILE_MODULE, path)
    if spec is None or spec.loader is None:
        raise Refusal("unsupported", "file_kind", f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_FILE_MODULE] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _function(module: ModuleType, name: str) -> Callable[..., Any]:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        where = module.__name__
        if where == _FILE_MODULE:
            where = Path(module.__file__ or "the file").name
        text = f"{where} has no function {name!r}"
        raise Refusal("unsupported", "function_missing", text)
    return found  # type: ignore[no-any-return]


def digest_source(module: ModuleType, function: Callable[..., Any]) -> str | None:
    """``sha256:<hex>`` over names and bytes of the Python files; None where there are none."""
    own, defining = _source_file(module), _source_file(inspect.unwrap(function))
    files = {one for one in (own, defining) if one is not None}
    if own is not None and own.name == "__init__.py":
        files |= set(own.parent.rglob("*.py"))
    return digest_files(sorted(files)) if files else None


def _source_file(value: Any) -> Path | None:
    try:
        path = Path(inspect.getsourcefile(value) or "")
    except TypeError:
        return None
    return path if path.is_file() else None


def digest_files(files: Sequence[Path]) -> str:
    """``sha256:<hex>`` over each file's name, its length and its bytes, in the order given."""
    total = hashlib.sha256()
    for path in files:
        data = path.read_bytes()[:_LARGEST_SOURCE]
        name = path.name.encode()
        total.update(b"%d %s %d\n" % (len(name), name, len(data)))
        total.update(data)
    return f"sha256:{total.hexdigest()}"


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Installed versions of packages; one that is not installed is left out."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
