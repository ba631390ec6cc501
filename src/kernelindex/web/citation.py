"""How to cite a run: a BibTeX entry that any tool reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernelindex.ids import short
from kernelindex.text import show_hidden

if TYPE_CHECKING:
    from kernelindex.resolve.dossier import RunDossier

_SPECIAL = re.compile(r"[&%$#_{}~^\\]")
_COMMANDS = {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def bibtex(run: RunDossier, path: str) -> str:
    """A ``@misc`` entry whose key and note carry the run's digest."""
    digest = run.identity.run
    year = str(run.observed.get("date") or "")[:4]
    fields = {
        "title": _plain(run.title),
        "author": _plain(run.source.attribution or run.source.title),
        "year": year if year.isdigit() else "",
        "howpublished": f"KernelIndex run {path}",
        "note": digest,
    }
    lines = [f"  {name:<12} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{kernelindex-{short(digest)},", *lines, "}"])


def _plain(text: str) -> str:
    """Text without characters that TeX reads as commands."""
    return _SPECIAL.sub(lambda found: _COMMANDS.get(found[0], f"\\{found[0]}"), show_hidden(text))
