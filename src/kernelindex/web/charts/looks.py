"""Light and dark: the colours, strokes and type of every chart, badge and card.

A specification names styles only; the look gives them colours when it is rendered, so one
digest serves both. The one accent is the site's, a shade for each ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

LookName = Literal["light", "dark"]

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Liberation Sans is inside vl-convert; browsers without it have Arial of equal widths."""


@dataclass(frozen=True, slots=True)
class Look:
    """One theme. Text colours have at least 4.5:1 on the ground."""

    name: LookName
    ground: str
    ink: str
    muted: str
    line: str
    band: str
    middle: str
    accent: str

    def config(self) -> dict[str, Any]:
        """The Vega-Lite config: ground, font and axes."""
        axis = {
            "domainColor": self.line,
            "tickColor": self.line,
            "gridColor": self.line,
            "labelColor": self.muted,
            "titleColor": self.muted,
        }
        return {
            "background": self.ground,
            "font": FONT,
            "aria": False,
            "view": {"stroke": None},
            "axis": {**axis, **_AXIS},
        }

    def paint(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """``spec`` with the colours of every layer's style; KeyError for a style unknown."""
        styles = {**self._texts(), **self._shapes(), **self._lines()}
        return {**_painted(spec, styles), "config": self.config()}

    def _texts(self) -> dict[str, Any]:
        sizes = {
            "title": (self.ink, 15, "bold"),
            "subtitle": (self.muted, 12, "normal"),
            "name": (self.ink, 12, "normal"),
            "name-lead": (self.ink, 12, "bold"),
            "detail": (self.muted, 10.5, "normal"),
            "note": (self.muted, 10.5, "normal"),
            "label": (self.ink, 11, "normal"),
            "label-lead": (self.ink, 11, "bold"),
            "mark-label": (self.muted, 10.5, "normal"),
        }
        return {
            name: {"fill": fill, "fontSize": size, "fontWeight": weight, "font": FONT}
            for name, (fill, size, weight) in sizes.items()
        }

    def _shapes(self) -> dict[str, Any]:
        dot = {"strokeWidth": 1.6, "opacity": 1, "size": 46}
        found: dict[str, Any] = {
            "band": {"fill": self.band, "opacity": 1},
            "change": {"fill": self.band, "opacity": 0.5},
            "sample": {"fill": self.ink, "opacity": 0.42, "size": 9, "strokeWidth": 0},
            "bar-floor": {"fill": self.accent, "opacity": 1},
            "bar-gap": {"fill": self.muted, "opacity": 0.55},
            "bar-rest": {"fill": self.band, "opacity": 1},
        }
        for name, colour in (("", self.ink), ("-lead", self.accent)):
            found[f"dot-hollow{name}"] = {**dot, "fill": self.ground, "stroke": colour}
            found[f"dot-filled{name}"] = {**dot, "fill": colour, "stroke": colour}
            found[f"dot-half{name}"] = {**dot, "fill": self.middle, "stroke": colour}
            found[f"ring{name}"] = {
                **dot,
                "fill": "transparent",
                "stroke": colour,
                "size": 150,
                "strokeWidth": 1.2,
            }
        return found

    def _lines(self) -> dict[str, Any]:
        return {
            "hairline": {"stroke": self.line, "strokeWidth": 0.8, "opacity": 1},
            "track": {"stroke": self.line, "strokeWidth": 1, "strokeDash": [1, 2], "opacity": 1},
            "bracket": {"stroke": self.muted, "strokeWidth": 1, "opacity": 1},
            "floor": {"stroke": self.accent, "strokeWidth": 1.5, "opacity": 1},
            "floor-nominal": {
                "stroke": self.accent,
                "strokeWidth": 1.5,
                "strokeDash": [2, 3],
                "opacity": 1,
            },
            "interval": {"stroke": self.ink, "strokeWidth": 4.5, "opacity": 1},
            "interval-lead": {"stroke": self.accent, "strokeWidth": 4.5, "opacity": 1},
            "spread": {"stroke": self.muted, "strokeWidth": 1.2, "opacity": 1},
            "series": {"stroke": self.muted, "strokeWidth": 1.3, "strokeDash": [5, 4]},
            "series-lead": {"stroke": self.accent, "strokeWidth": 1.8, "strokeDash": [5, 4]},
            "curve": {"stroke": self.ink, "strokeWidth": 1.6, "opacity": 1},
            "curve-lead": {"stroke": self.accent, "strokeWidth": 1.8, "opacity": 1},
            "curve-attainable": {"stroke": self.ink, "strokeWidth": 1.4, "strokeDash": [2, 3]},
            "step-reported": {"stroke": self.ink, "strokeWidth": 1.3, "strokeDash": [1, 3]},
            "step-reproducible": {"stroke": self.ink, "strokeWidth": 1.4, "strokeDash": [6, 4]},
            "step-verified": {"stroke": self.ink, "strokeWidth": 1.8, "opacity": 1},
            "step-replicated": {"stroke": self.ink, "strokeWidth": 3.4, "opacity": 1},
            "drop": {"stroke": self.middle, "strokeWidth": 1, "opacity": 1},
            "clock": {"stroke": self.muted, "strokeWidth": 1, "opacity": 1},
            "median": {"stroke": self.accent, "strokeWidth": 1.8, "opacity": 1},
            "strike": {"stroke": self.ink, "strokeWidth": 1.2, "opacity": 1},
        }


def _painted(spec: Mapping[str, Any], styles: Mapping[str, Any]) -> dict[str, Any]:
    """A layer, or a group of layers, with its styles written out."""
    if "layer" in spec:
        return {**spec, "layer": [_painted(one, styles) for one in spec["layer"]]}
    mark = dict(spec["mark"])
    return {**spec, "mark": {**mark, **styles[mark.pop("style")]}}


_AXIS = {
    "labelFont": FONT,
    "titleFont": FONT,
    "labelFontSize": 10.5,
    "titleFontSize": 10.5,
    "titleFontWeight": "normal",
    "tickSize": 4,
    "labelFlush": False,
    "labelPadding": 4,
    "titlePadding": 6,
    "domainWidth": 1,
    "gridWidth": 0.6,
}

LIGHT = Look(
    name="light",
    ground="#ffffff",
    ink="#1a1d21",
    muted="#59616b",
    line="#d5d9de",
    band="#e2e6eb",
    middle="#b3bbc5",
    accent="#1c5cb8",
)
DARK = Look(
    name="dark",
    ground="#12151a",
    ink="#e7e9ec",
    muted="#9aa3ae",
    line="#363c45",
    band="#303843",
    middle="#69727e",
    accent="#82b1f7",
)
LOOKS: dict[LookName, Look] = {"light": LIGHT, "dark": DARK}
