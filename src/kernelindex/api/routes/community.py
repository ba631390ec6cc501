"""What people write about runs: sent here, read by an operator, then shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.parameters import CURSOR, Parameter, limit_parameter, read_query
from kernelindex.api.rates import client_of
from kernelindex.api.replies import reply
from kernelindex.api.routes.resolving import BODY_CODES
from kernelindex.api.routes.runs import LIST_CODES
from kernelindex.community import (
    DEFAULT_QUOTAS,
    MAX_CONTENT_BYTES,
    NO_EFFECT,
    Contribution,
    Note,
    Report,
    Reproduction,
    Scope,
    State,
    anonymous_author,
    authenticate,
    list_contributions,
    refusal,
    server_secret,
    submit_attestation,
    submit_report,
    submit_signed_report,
    utc_now,
)
from kernelindex.resolve.lookup import locate

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog import Catalog

MAX_IDENT = 500
RUN_CODES = ("run.not_found", "run.ambiguous")
KEY_CODES = ("key.invalid", "key.expired", "key.revoked", "key.scope")
SENT_CODES = (
    "contribution.invalid",
    "contribution.rate_limited",
    "contribution.queue_full",
    "contribution.read_only",
    *RUN_CODES,
    *BODY_CODES,
)
RUN = Parameter(name="run", text="only about this run: an alias, or digits of its digest")
ATTESTATION_KINDS = ("reproduction", "note")
KIND = Parameter(name="kind", text="only of this kind", choices=ATTESTATION_KINDS)
LISTED = (RUN, CURSOR, limit_parameter(25))


class ContributionView(BaseModel):
    """What somebody wrote about a run; which fields of the content it has depends on its kind."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="its digest")
    kind: str = Field(description="reproduction, note or report")
    run: str = Field(description="digest of the run it is about")
    by: str = Field(description="owner of the key that sent it, or anonymous")
    created_at: str = Field(description="when it was sent, UTC")
    state: str = Field(description="pending, accepted or refused; lists have accepted ones only")
    text: str | None = Field(None, description="plain text, as it was written")
    link: str | None = Field(None, description="https address given with it")
    outcome: str | None = Field(None, description="of a reproduction: confirmed, differs, failed")
    value: float | None = Field(None, description="of a reproduction: what was measured")
    unit: str | None = Field(None, description="of a reproduction: unit of the value")
    hardware: str | None = Field(None, description="of a reproduction: the machine, in words")
    software: str | None = Field(None, description="of a reproduction: versions, in words")
    reason: str | None = Field(None, description="of a report: what kind of thing is wrong")


class ContributionList(BaseModel):
    """Accepted contributions, newest first."""

    model_config = ConfigDict(extra="forbid")

    contributions: list[ContributionView] = Field(description="those of this page")
    cursor: str | None = Field(description="where the next page begins; null at the end")
    effect: str = Field(description="that none of them changes an evidence level")


class Received(BaseModel):
    """A contribution that waits for an operator, or was sent before."""

    model_config = ConfigDict(extra="forbid")

    contribution: ContributionView = Field(description="what was received")
    effect: str = Field(description="that it will not change an evidence level")


def attestations(catalog: Catalog, request: Request) -> Response:
    """Accepted reproductions and notes, newest first. None changes an evidence level."""
    values = read_query(request, (KIND, *LISTED))
    kinds = (values["kind"],) if values["kind"] else ATTESTATION_KINDS
    return _list(catalog, request, kinds, values)


def reports(catalog: Catalog, request: Request) -> Response:
    """Accepted reports of issues, newest first. None changes an evidence level."""
    return _list(catalog, request, ("report",), read_query(request, LISTED))


def attest(catalog: Catalog, request: Request, document: Any) -> Response:
    """Sends a reproduction of a run, or a note on it, by an API key of scope `attest`.

    It shows once an operator accepts it and never changes an evidence level. Sending the same
    again returns the first.
    """
    read_query(request, ())
    run, content = _about(catalog, document)
    sent = submit_attestation(catalog, run, content, _bearer(request) or "", **_bounds(request))
    return _received(sent)


def report(catalog: Catalog, request: Request, document: Any) -> Response:
    """Sends a report that something is wrong with a run; without a key it is anonymous.

    It shows once an operator accepts it. One address may send a few a day; a key of scope
    `report` may send more.
    """
    read_query(request, ())
    token, bounds = _bearer(request), _bounds(request)
    run, content = _about(catalog, document)
    if token is not None:
        return _received(submit_signed_report(catalog, run, content, token, **bounds))
    secret = server_secret(catalog.url.render_as_string(hide_password=True))
    reporter = anonymous_author(secret, client_of(request.scope), bounds["clock"]())
    return _received(submit_report(catalog, run, content, reporter=reporter, **bounds))


def _admit_attester(catalog: Catalog, request: Request) -> None:
    """Who sends an attestation has a key of scope ``attest``."""
    token = _bearer(request)
    if token is None:
        raise refusal("key.missing", "send the key as: Authorization: Bearer ki_…")
    authenticate(catalog, token, Scope.ATTEST, clock=_bounds(request)["clock"])


def _admit_reporter(catalog: Catalog, request: Request) -> None:
    """Who sends a report needs no key; one that is sent is good and of scope ``report``."""
    token = _bearer(request)
    if token is not None:
        authenticate(catalog, token, Scope.REPORT, clock=_bounds(request)["clock"])


def _list(
    catalog: Catalog, request: Request, kinds: tuple[str, ...], values: dict[str, Any]
) -> Response:
    run = values["run"]
    found = list_contributions(
        catalog,
        state=State.ACCEPTED,
        kinds=kinds,
        run=locate(catalog, "run", run).digest if run else None,
        cursor=values["cursor"],
        limit=values["limit"],
    )
    listed = [one.to_dict() for one in found.items]
    return reply(request, {"contributions": listed, "cursor": found.cursor, "effect": NO_EFFECT})


def _about(catalog: Catalog, document: Any) -> tuple[str, Any]:
    """The digest of the run that a body names, and the rest of the body.

    Raises CommunityError ``contribution.invalid``; what ``locate`` raises.
    """
    if not isinstance(document, dict):
        raise refusal("contribution.invalid", "the body is not a JSON object")
    ident = document.get("run")
    if not isinstance(ident, str) or not 0 < len(ident) <= MAX_IDENT or "\0" in ident:
        raise refusal("contribution.invalid", f"/run names the run, in 1 to {MAX_IDENT} characters")
    rest = {name: value for name, value in document.items() if name != "run"}
    return locate(catalog, "run", ident).digest, rest


def _bearer(request: Request) -> str | None:
    """The token of an Authorization header; None where there is no such header.

    Another scheme, or no token, gives text that is no token and is refused as such.
    """
    stated = request.headers.get("authorization")
    if stated is None:
        return None
    scheme, _, token = stated.partition(" ")
    return (scheme.lower() == "bearer" and token.strip()) or "none"


def _bounds(request: Request) -> dict[str, Any]:
    """Quotas and clock of this application; tests set their own."""
    state = request.app.state
    return {
        "quotas": getattr(state, "quotas", DEFAULT_QUOTAS),
        "clock": getattr(state, "clock", utc_now),
    }


def _received(made: Contribution) -> Response:
    body = orjson.dumps({"contribution": made.to_dict(), "effect": NO_EFFECT})
    return Response(body, 202, headers={"Cache-Control": "no-store"}, media_type="application/json")


def _schema(kind: str | None, model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a body: the content with the run, and its kind where there are several."""
    schema = model.model_json_schema()
    schema.pop("description", None)
    schema["title"] = kind or "report"
    named: dict[str, Any] = {
        "run": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_IDENT,
            "description": "the run: an alias, or 8 or more hex digits of its digest",
        }
    }
    if kind:
        named["kind"] = {"const": kind}
    schema["properties"] = {**named, **schema["properties"]}
    schema["required"] = [*named, *schema.get("required", ())]
    return schema


ATTESTATION_EXAMPLE = {
    "run": examples.RUN,
    "kind": "reproduction",
    "outcome": "confirmed",
    "value": 5.76,
    "unit": "ms",
    "hardware": "one H100 SXM5 80 GB",
    "software": "torch 2.8, triton 3.4, driver 570",
    "link": "https://example.org/log.txt",
}
REPORT_EXAMPLE = {
    "run": examples.RUN,
    "reason": "wrong_value",
    "text": "The source corrected this value in its next release.",
}

ENDPOINTS = (
    Endpoint(
        path="/attestations",
        name="list_attestations",
        summary="Reproductions and notes by people",
        tag="people",
        handler=attestations,
        parameters=(KIND, *LISTED),
        answer=ContributionList,
        codes=(*LIST_CODES, *RUN_CODES),
    ),
    Endpoint(
        path="/attestations",
        name="attest",
        summary="Send a reproduction of a run, or a note on it",
        tag="people",
        handler=attest,
        method="POST",
        answer=Received,
        status=202,
        key="needed",
        admit=_admit_attester,
        body={
            "schema": {"oneOf": [_schema("reproduction", Reproduction), _schema("note", Note)]},
            "example": ATTESTATION_EXAMPLE,
        },
        codes=("key.missing", *KEY_CODES, *SENT_CODES),
        slow=True,
        reads_body=MAX_CONTENT_BYTES,
    ),
    Endpoint(
        path="/reports",
        name="list_reports",
        summary="Issues with runs, as reported by people",
        tag="people",
        handler=reports,
        parameters=LISTED,
        answer=ContributionList,
        codes=(*LIST_CODES, *RUN_CODES),
    ),
    Endpoint(
        path="/reports",
        name="report",
        summary="Report an issue with a run",
        tag="people",
        handler=report,
        method="POST",
        answer=Received,
        status=202,
        key="taken",
        admit=_admit_reporter,
        body={"schema": _schema(None, Report), "example": REPORT_EXAMPLE},
        codes=(*KEY_CODES, *SENT_CODES),
        slow=True,
        reads_body=MAX_CONTENT_BYTES,
    ),
)
