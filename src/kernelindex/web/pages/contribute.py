"""Adding a reproduction, a note or a report to a run: forms that work without script."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from kernelindex.community import (
    DEFAULT_QUOTAS,
    NO_EFFECT,
    REFUSALS,
    anonymous_author,
    refusal,
    submit_attestation,
    submit_report,
)
from kernelindex.errors import CommunityError, NotFoundError
from kernelindex.ids import parse_prefix
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.show import show_run
from kernelindex.units import parse_number
from kernelindex.web import paths
from kernelindex.web.context import Page, told
from kernelindex.web.forms import (
    Form,
    FormField,
    clock_of,
    form_cookie,
    form_response,
    form_route,
    require_token,
    secret_of,
    see_other,
    token_for,
)
from kernelindex.web.handling import page_route, redirect

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog

NOTE, REPRODUCTION, REPORT = "note", "reproduction", "report"
TRAP = "website"
"""A field that people do not see and programs fill."""
LINK = FormField(
    name="link", label="Link", hint="A log, a script or a source; https only.", most=2000
)
KEY = FormField(
    name="key", label="API key", kind="secret", required=True, most=100,
    hint="Of scope attest; an operator of this index makes one. It is not kept by this page.",
)  # fmt: skip
FIELDS: dict[str, tuple[FormField, ...]] = {
    REPRODUCTION: (
        FormField(
            name="outcome", label="What came out", kind="choice", required=True,
            options=(
                ("confirmed", "the same"),
                ("differs", "something different"),
                ("failed", "it could not be run"),
            ),
        ),
        FormField(
            name="value", label="Value", kind="number", most=40,
            hint="In the statistic of the run, where you measured one.",
        ),
        FormField(
            name="unit", label="Unit", kind="choice",
            options=(
                ("", "no value"), ("ns", "ns"), ("us", "µs"), ("ms", "ms"), ("s", "s"),
                ("bytes", "bytes"),
            ),
        ),
        FormField(
            name="hardware", label="Hardware", required=True, most=200,
            hint="The GPU with its form factor and memory.",
        ),
        FormField(
            name="software", label="Software", most=500,
            hint="Versions of driver, torch, triton and the library.",
        ),
        FormField(name="text", label="Remarks", kind="area", hint="Plain text."),
        LINK,
        KEY,
    ),
    NOTE: (
        FormField(name="text", label="Note", kind="area", required=True, hint="Plain text."),
        LINK,
        KEY,
    ),
    REPORT: (
        FormField(
            name="reason", label="What is wrong", kind="choice", required=True,
            options=(
                ("wrong_value", "the value"),
                ("wrong_workload", "the workload"),
                ("wrong_attribution", "whose code ran"),
                ("not_correct", "the result of the kernel"),
                ("suspected_cheat", "it does not do the work"),
                ("licence", "the licence"),
                ("duplicate", "it is here twice"),
                ("other", "something else"),
            ),
        ),
        FormField(
            name="text", label="How one can see it", kind="area", required=True,
            hint="Plain text. Nothing about you is asked or kept.",
        ),
        LINK,
    ),
}  # fmt: skip
TITLES = {
    REPRODUCTION: "Add a reproduction",
    NOTE: "Add a note",
    REPORT: "Report an issue",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributePage(Page):
    """A form about one run."""

    template: ClassVar[str] = "contribute.html"

    kind: str = field(metadata=told("reproduction, note or report"))
    run_title: str = field(metadata=told("what the run is called"))
    run_path: str = field(metadata=told("path of the run"))
    digest: str = field(metadata=told("digest of the run"))
    action: str = field(metadata=told("path that the form is sent to"))
    token: str = field(metadata=told("proof that this site made the form for this browser"))
    fields: tuple[FormField, ...] = field(metadata=told("what is asked"))
    problem: str = field(metadata=told("why it was not taken, in a sentence"), default="")
    effect: str = field(
        metadata=told("that contributions change no evidence level"), default=NO_EFFECT
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedPage(Page):
    """That a contribution waits for review."""

    template: ClassVar[str] = "contribute_received.html"

    run_path: str = field(metadata=told("path of the run"))
    effect: str = field(
        metadata=told("that contributions change no evidence level"), default=NO_EFFECT
    )


def show_attest(catalog: Catalog, request: Request) -> Response:
    """The form of a reproduction, or of a note with ``?kind=note``."""
    return _show(catalog, request, _asked_kind(request.query_params.get("kind")))


def show_report(catalog: Catalog, request: Request) -> Response:
    """The form of a report."""
    return _show(catalog, request, REPORT)


def take_attest(catalog: Catalog, request: Request, form: Form) -> Response:
    """A sent reproduction or note."""
    return _take(catalog, request, _asked_kind(form.get("kind")), form)


def take_report(catalog: Catalog, request: Request, form: Form) -> Response:
    """A sent report."""
    return _take(catalog, request, REPORT, form)


def received(catalog: Catalog, request: Request) -> ReceivedPage:
    """Thanks, and what happens next."""
    found = locate(catalog, "run", request.path_params["ident"])
    return ReceivedPage(title="Received", run_path=paths.run(found.digest), indexed=False)


def _asked_kind(kind: str | None) -> str:
    return NOTE if kind == NOTE else REPRODUCTION


def _place(digest: str, kind: str) -> str:
    """The one path that a form of this kind about this run is sent to."""
    return f"{paths.run(digest)}/{'report' if kind == REPORT else 'attest'}"


def _show(catalog: Catalog, request: Request, kind: str) -> Response:
    ident = request.path_params["ident"]
    digest = locate(catalog, "run", ident).digest
    if not digest.startswith(f"sha256:{parse_prefix(ident) or '-'}"):
        return redirect(_place(digest, kind))
    return _answer(catalog, request, digest, kind, FIELDS[kind])


def _take(catalog: Catalog, request: Request, kind: str, form: Form) -> Response:
    """Store it and go on, or show the form again with what was written and what was wrong."""
    with catalog.snapshot():
        digest = locate(catalog, "run", request.path_params["ident"]).digest
    try:
        require_token(catalog, request, form, _place(digest, kind))
        _submit(catalog, request, digest, kind, form)
    except CommunityError as error:
        fields = _filled(kind, form, error.details.get("problems", ()))
        return _answer(catalog, request, digest, kind, fields, error)
    return see_other(f"{paths.run(digest)}/received")


def _submit(catalog: Catalog, request: Request, digest: str, kind: str, form: Form) -> None:
    clock, document = clock_of(request), _document(kind, form)
    quotas = getattr(request.app.state, "quotas", DEFAULT_QUOTAS)
    if kind != REPORT:
        token = form.get("key", "").strip()
        submit_attestation(catalog, digest, document, token, quotas=quotas, clock=clock)
        return
    if form.get(TRAP):
        raise refusal("contribution.invalid", "the field that must stay empty was filled")
    address = request.client.host if request.client else ""
    reporter = anonymous_author(secret_of(catalog), address, clock())
    submit_report(catalog, digest, document, reporter=reporter, quotas=quotas, clock=clock)


def _document(kind: str, form: Form) -> dict[str, Any]:
    """The contribution that a form says; an empty field is an absent one."""
    names = [one.name for one in FIELDS[kind] if one.name != KEY.name]
    document: dict[str, Any] = {name: form[name] for name in names if form.get(name, "").strip()}
    number = parse_number(document.get("value", ""))
    if number is not None:
        document["value"] = float(number)
    return document if kind == REPORT else {"kind": kind, **document}


def _filled(kind: str, form: Form, problems: Any) -> tuple[FormField, ...]:
    """The fields as they were sent, each with what was wrong with it; never the key."""
    wrong = {one["where"].removeprefix("/"): f"Wanted {one['wanted']}." for one in problems}
    return tuple(
        replace(
            one,
            value="" if one.name == KEY.name else form.get(one.name, ""),
            problem=wrong.get(one.name, ""),
        )
        for one in FIELDS[kind]
    )


def _answer(
    catalog: Catalog,
    request: Request,
    digest: str,
    kind: str,
    fields: tuple[FormField, ...],
    error: CommunityError | None = None,
) -> Response:
    cookie, action = form_cookie(request), _place(digest, kind)
    page = ContributePage(
        title=TITLES[kind],
        indexed=False,
        kind=kind,
        run_title=_title(catalog, digest),
        run_path=paths.run(digest),
        digest=digest,
        action=action,
        token=token_for(catalog, request, cookie, action),
        fields=fields,
        problem=error.message if error else "",
    )
    status = REFUSALS[error.code].status if error else 200
    response = form_response(request, page, cookie, status)
    if error is not None and "retry_after_s" in error.details:
        response.headers["retry-after"] = str(error.details["retry_after_s"])
    return response


def _title(catalog: Catalog, digest: str) -> str:
    try:
        return show_run(catalog, digest).title
    except NotFoundError:
        return digest


routes = [
    form_route("/runs/{ident}/attest", show_attest, take_attest, "attest"),
    form_route("/runs/{ident}/report", show_report, take_report, "report"),
    page_route("/runs/{ident}/received", received),
]
