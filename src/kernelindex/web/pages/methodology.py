"""How it is judged, in plain words: the guide that the package carries.

``web/guides/methodology.md`` is a copy of ``docs/guides/methodology.md``, which the wheel
does not hold; a test says when they differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar

from kernelindex.policy import POLICY_VERSION
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.markdown import Section, anchor, read_sections

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog

GUIDE = files("kernelindex.web") / "guides" / "methodology.md"


@dataclass(frozen=True, slots=True)
class Brief:
    """One word of the site in a sentence."""

    word: str = field(metadata=told("the word"))
    text: str = field(metadata=told("what it means"))
    section: str = field(metadata=told("heading of the section that says more"))

    @property
    def href(self) -> str:
        """The address of the section that says more."""
        return f"#{anchor(self.section)}"


BRIEFS = (
    Brief(
        "Identity",
        "Everything is named by the digest of what it claims: the same name on every"
        " deployment, for ever.",
        "Identity",
    ),
    Brief(
        "Group",
        "Results are ranked only where the shape, the pass, the protocol, the correctness"
        " policy, the metric and the device are equal. The site also says cohort.",
        "Cohorts: what may be ranked together",
    ),
    Brief(
        "Verdict",
        "Faster, slower, the same, or unclear. It starts at unclear and has to be earned: two"
        " single numbers that are close say nothing.",
        "Verdicts: when is one faster?",
    ),
    Brief(
        "Rank",
        "A range, from how many surely beat it to how many it surely beats. One result alone"
        " has no rank.",
        "Ranks are ranges",
    ),
    Brief(
        "Level",
        "How far a number can be trusted: reported, reproducible, verified, replicated. Only"
        " evidence raises it, never what people say of it.",
        "Evidence levels",
    ),
    Brief(
        "Doubt",
        "A named reason to trust a number less. It blocks a claim, shifts the number, or is a"
        " note; its size is given where it is known.",
        "Doubts",
    ),
    Brief(
        "Protocol",
        "The rules that decide what a time means. A controlled run follows ours; a reported"
        " one those of its source.",
        "The controlled protocol, version 1",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyPage(Page):
    """The guide to how results are judged."""

    template: ClassVar[str] = "methodology.html"

    briefs: tuple[Brief, ...] = field(metadata=told("the words of the site, a sentence each"))
    sections: tuple[Section, ...] = field(metadata=told("the guide, section by section"))
    version: str = field(metadata=told("version of the policy that judged this catalog"))


def methodology(_catalog: Catalog, _request: Request) -> MethodologyPage:
    """The guide; the same until the program changes."""
    return _page()


@cache
def _page() -> MethodologyPage:
    return MethodologyPage(
        title="How it is judged",
        description="What is compared with what, when one result may be called faster than"
        " another, and how far a number can be trusted.",
        path="/methodology",
        section="Methodology",
        briefs=BRIEFS,
        sections=read_sections(GUIDE.read_text(encoding="utf-8")),
        version=POLICY_VERSION.removeprefix("policy/"),
    )


routes = [page_route("/methodology", methodology)]
