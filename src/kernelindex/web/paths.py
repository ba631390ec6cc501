"""Addresses of everything the site shows: the one place where they are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from kernelindex.settings import public_address

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = 12
"""Hex digits in a link: 48 bits name one of a million runs with odds of 1 in 500 of any clash."""
REPOSITORY = "https://github.com/kernelindex/kernelindex"


def public(path: str) -> str:
    """A path as those need it who have no page to start from: with the operator's address."""
    return f"{public_address()}{path}"


def run(digest: str) -> str:
    """A run's page, by a prefix of its digest."""
    return f"/runs/{prefix(digest)}"


def run_manifest(digest: str) -> str:
    """The page of a run's manifest."""
    return f"{run(digest)}/manifest"


def run_permalink(digest: str) -> str:
    """A run's page by its whole digest: the same on every deployment, for ever."""
    return f"/runs/{digest.removeprefix('sha256:')}"


def card(kind: str, digest: str) -> str:
    """The picture that a link to a ``run`` or a ``cohort`` is shown with elsewhere."""
    return f"/cards/{kind}/{prefix(digest)}.png"


def cohort(key: str) -> str:
    """A cohort's page."""
    return f"/cohorts/{prefix(key)}"


def history(key: str) -> str:
    """The history of a cohort's leaders."""
    return f"/records/{prefix(key)}"


def operation(slug: str) -> str:
    """An operation's page, by slug, or by digest where nothing is mapped."""
    return f"/operations/{_named(slug)}"


def implementation(slug: str) -> str:
    """An implementation's page."""
    return f"/implementations/{_named(slug)}"


def project(slug: str) -> str:
    """A project's page."""
    return f"/projects/{_named(slug)}"


def hardware(ident: str) -> str:
    """A GPU's page."""
    return f"/hardware/{_named(ident)}"


def source(slug: str) -> str:
    """A source's page."""
    return f"/sources/{_named(slug)}"


def answer(query: str) -> str:
    """The answer to a question."""
    return "/answer?" + urlencode({"q": query})


def compare(runs: Iterable[str]) -> str:
    """Runs side by side, each against the first."""
    return "/compare?" + urlencode([("run", prefix(one)) for one in runs])


def prefix(digest: str) -> str:
    """The hex digits of a digest that links carry."""
    return digest.removeprefix("sha256:")[:PREFIX]


def _named(name: str) -> str:
    return prefix(name) if name.startswith("sha256:") else quote(name, safe="")
