"""Folders outside the batch folder that the processes of a batch work in."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import kernelindex
from kernelindex.ids import short
from kernelindex.runner.batch_files import digest

_LONGEST_LIST = 1 << 20
_FRESH = ("home", "tmp", "out")
_PASSED = re.compile(
    r"PATH|LANG|LC_.*|TZ|LD_LIBRARY_PATH|CUDA_.*|NVIDIA_.*|VIRTUAL_ENV|OMP_(?!WAIT_POLICY).*|MKL_.*|"
    r"TRITON_(PTXAS|CUOBJDUMP|NVDISASM|LIBCUDA|LIBDEVICE).*|CC|CXX|C_INCLUDE_PATH|LIBRARY_PATH"
)


@dataclass(frozen=True, slots=True)
class Place:
    """What one process may write to; ``cache`` outlives a generation, the rest does not."""

    root: Path
    compiled: bool = False  # whether its caches hold what an earlier batch compiled

    @property
    def out(self) -> Path:
        """Where a probe writes outputs."""
        return self.root / "out"

    def prepare(self) -> None:
        """Remove everything but the caches of compiled code, and those too that are no folder."""
        self.root.mkdir(parents=True, exist_ok=True)
        for one in self.root.iterdir():
            if one.name != "cache" or not _is_folder(one):
                _remove(one)
        for name in _FRESH:
            (self.root / name).mkdir()
        for name in ("triton", "inductor", "cuda", "quack", "xdg"):
            (self.root / "cache" / name).mkdir(parents=True, exist_ok=True)

    def used_bytes(self) -> int:
        """How much lies in it now."""
        total = 0
        for folder, _, names in os.walk(self.root):
            for name in names:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118
                except OSError:
                    continue
        return total


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if _is_folder(path):
        _unlock(path)
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _unlock(folder: Path) -> None:
    """Give back the rights that a candidate took from its folders, so that they can go."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        with suppress(OSError):
            place.chmod(0o700)
            waiting += [one for one in place.iterdir() if _is_folder(one)]


def _copy_plain(source: Path, target: Path) -> None:
    """Copy files and folders; a link is not followed: it may lead to what is not its maker's."""
    if not _is_folder(source):
        return
    # What cannot be copied (a candidate may take its own rights away) is compiled anew.
    with suppress(shutil.Error, OSError):
        shutil.copytree(source, target, ignore=_not_plain, dirs_exist_ok=True)


def _find_again(triton: Path) -> None:
    """Let Triton's lists of a kernel's files, which hold whole paths, lead to this folder."""
    for listing in triton.glob("*/__grp__*.json"):
        with suppress(OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            if listing.stat().st_size > _LONGEST_LIST:
                continue
            paths = json.loads(listing.read_bytes())["child_paths"]
            here = {name: str(listing.parent / Path(path).name) for name, path in paths.items()}
            listing.write_text(json.dumps({"child_paths": here}))


def _not_plain(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(Path(folder, name)).st_mode for name in names}
    return [one for one, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))]


class Places:
    """The temporary folder of a batch, beside those of others in ``shelter``; ``close`` removes it.

    With ``caches``, compiled code is kept there between batches, a folder for each name: one
    candidate's never reaches another.
    """

    def __init__(self, parent: Path | None = None, caches: Path | None = None) -> None:
        self.shelter = (parent or shelter()).resolve()
        self.root = Path(tempfile.mkdtemp(prefix="batch-", dir=self.shelter))
        self.inputs = self.root / "inputs"
        self.inputs.mkdir()
        self._caches = caches
        self._cached: dict[str, bool] = {}  # by folder: whether something was kept for it

    def of(self, name: str) -> Place:
        """The place of a process of this name, emptied of all but its caches."""
        folder = folder_name(name)
        if self._caches is not None and folder not in self._cached:
            cache = self.root / folder / "cache"
            _copy_plain(self._caches / folder, cache)
            _find_again(cache / "triton")
            self._cached[folder] = any(path.is_file() for path in cache.rglob("*"))
        place = Place(self.root / folder, self._cached.get(folder, False))
        place.prepare()
        return place

    def empty_inputs(self) -> Path:
        """The folder of input files, with nothing in it."""
        for one in self.inputs.iterdir():  # the folder stays: enclosed processes see this very one
            _remove(one)
        return self.inputs

    def close(self) -> None:
        """Keep the caches where they are kept, and remove all of it."""
        if self._caches is not None:
            for folder in self._cached:
                _copy_plain(self.root / folder / "cache", self._caches / folder)
        _remove(self.root)


def shelter() -> Path:
    """A folder of this user's for all batches: covered as one, none sees another's places."""
    found = Path(tempfile.gettempdir()) / f"kernelindex-{os.getuid()}"
    with suppress(OSError):
        found.mkdir(mode=0o700, exist_ok=True)
        seen = found.lstat()
        if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid():
            return found
    return Path(tempfile.mkdtemp(prefix="kernelindex-"))  # somebody else has taken the name


def folder_name(name: str) -> str:
    """A process's name as the name of a folder: readable, and different for different names."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:40]
    return f"{readable}-{short(digest(name.encode()))}"


def environment(place: Place) -> dict[str, str]:
    """The environment of a process: a few names passed on, everything else its own."""
    passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    cache = place.root / "cache"
    own = {
        "HOME": place.root / "home",
        "TMPDIR": place.root / "tmp",
        "TRITON_CACHE_DIR": cache / "triton",
        "TRITON_HOME": cache / "triton",
        "TORCHINDUCTOR_CACHE_DIR": cache / "inductor",
        "CUDA_CACHE_PATH": cache / "cuda",
        "QUACK_CACHE_DIR": cache / "quack",  # else beneath TMPDIR: compiled in every generation
        "XDG_CACHE_HOME": cache / "xdg",
    }
    fixed = {
        "PYTHONPATH": python_path(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TRITON_CACHE_AUTOTUNING": "1",  # later generations need not tune again
        # Kept beneath TMPDIR and not with its other caches: every process would compile them.
        "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
        # Else up to 32 processes import torch beside everybody's first calls.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    if site.ENABLE_USER_SITE:
        fixed["PYTHONUSERBASE"] = site.getuserbase()
    return {**passed, **fixed, **{name: str(path) for name, path in own.items()}}


def python_path() -> str:
    """Where modules are found: our own source tree, then what the worker itself was given."""
    own = str(Path(kernelindex.__file__).resolve().parent.parent)
    given = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    others = [str(Path(one).resolve()) for one in given]
    return os.pathsep.join([own, *(one for one in others if one != own)])
