"""Every refusal of this package: its stable code, HTTP status and title, in one table."""

from __future__ import annotations

from typing import Any, NamedTuple

from kernelindex.errors import CommunityError


class Refusal(NamedTuple):
    """How a code is told over HTTP."""

    status: int
    title: str


REFUSALS: dict[str, Refusal] = {
    "key.missing": Refusal(401, "An API key is needed"),
    "key.invalid": Refusal(401, "The API key is not known here"),
    "key.expired": Refusal(401, "The API key has expired"),
    "key.revoked": Refusal(401, "The API key was revoked"),
    "key.scope": Refusal(403, "The API key may not do this"),
    "key.not_found": Refusal(404, "No such API key"),
    "key.request": Refusal(422, "The API key cannot be made so"),
    "contribution.invalid": Refusal(422, "The contribution breaks a rule"),
    "contribution.rate_limited": Refusal(429, "Too many contributions in a short time"),
    "contribution.queue_full": Refusal(503, "The queue of unreviewed contributions is full"),
    "contribution.read_only": Refusal(503, "This site takes no contributions"),
    "contribution.not_found": Refusal(404, "No such contribution"),
    "contribution.ambiguous": Refusal(404, "Several contributions begin so"),
    "contribution.decided": Refusal(409, "The contribution is in that state already"),
    "decision.incomplete": Refusal(422, "A decision needs an actor and a reason"),
    "form.forged": Refusal(403, "The form is too old or was not sent from this site"),
    "secret.unusable": Refusal(500, "The server's secret cannot be used"),
}


def refusal(code: str, message: str, **details: Any) -> CommunityError:
    """The error for a code of the table."""
    if code not in REFUSALS:
        raise KeyError(code)
    return CommunityError(message, code=code, **details)
