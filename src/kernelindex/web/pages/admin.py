"""The operators' pages behind an admin key: the queue, one contribution, the audit log."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from kernelindex.community import (
    REFUSALS,
    Session,
    State,
    Verdict,
    close_session,
    correct_run,
    decide,
    find_contribution,
    list_contributions,
    open_session,
    read_audit,
    refusal,
)
from kernelindex.errors import CommunityError, KernelIndexError
from kernelindex.ids import short
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.review import corrector
from kernelindex.web import asked, paths
from kernelindex.web.context import Page, told
from kernelindex.web.failures import status_of
from kernelindex.web.forms import (
    Form,
    FormField,
    clock_of,
    form_cookie,
    form_response,
    form_route,
    require_token,
    see_other,
    token_for,
)
from kernelindex.web.operators import (
    HOME,
    OperatorPage,
    current_session,
    forget,
    frame,
    guarded,
    remember,
    require_sent,
    shown_route,
    taken_route,
)
from kernelindex.web.people import AuditLine, Remark, build_line, build_remark

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog

QUEUE = "/admin/queue"
AUDIT = "/admin/audit"
ROWS = 50
KEY = FormField(
    name="key", label="Admin key", kind="secret", required=True, most=100,
    hint="Made by: ki keys new --scope admin. The session lasts half an hour.",
)  # fmt: skip
DECISIONS = (
    ("accept", "accept: show it beside the run"),
    ("refuse", "refuse: do not show it, or take it down"),
    ("retract", "retract the run, and accept this"),
    ("supersede", "supersede the run by another, and accept this"),
)
DECISION_FIELDS = (
    FormField(name="decision", label="Decision", kind="choice", required=True, options=DECISIONS),
    FormField(
        name="by", label="Superseded by", most=100,
        hint="The run that replaces it; only to supersede.",
    ),
    FormField(
        name="reason", label="Reason", kind="area", required=True, most=1000,
        hint="Kept in the audit log; of a retraction it shows on the run's page.",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPage(Page):
    """Where an operator shows a key."""

    template: ClassVar[str] = "admin_login.html"

    token: str = field(metadata=told("proof that this site made the form for this browser"))
    key: FormField = field(metadata=told("the one field"), default=KEY)
    problem: str = field(metadata=told("why the key was not taken"), default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPage(OperatorPage):
    """What people sent."""

    template: ClassVar[str] = "admin.html"

    state: str = field(metadata=told("which state is listed"))
    states: tuple[str, ...] = field(metadata=told("the states there are"))
    remarks: tuple[Remark, ...] = field(metadata=told("contributions, newest first"))
    after: str = field(metadata=told("path of the next page; empty at the end"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage(OperatorPage):
    """One contribution and what was decided about it."""

    template: ClassVar[str] = "admin_item.html"

    remark: Remark = field(metadata=told("the contribution"))
    fields: tuple[FormField, ...] = field(metadata=told("the form of a decision"))
    entries: tuple[AuditLine, ...] = field(metadata=told("decisions so far, newest first"))
    problem: str = field(metadata=told("why a decision was not taken"), default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage(OperatorPage):
    """Who did what, when and why."""

    template: ClassVar[str] = "admin_audit.html"

    entries: tuple[AuditLine, ...] = field(metadata=told("entries, newest first"))
    after: str = field(metadata=told("path of the next page; empty at the end"))


def show_login(catalog: Catalog, request: Request) -> Response:
    """The form that asks for a key; who is logged in goes on to the queue."""
    if current_session(catalog, request) is not None:
        return see_other(QUEUE)
    return _login_response(catalog, request)


def take_login(catalog: Catalog, request: Request, form: Form) -> Response:
    """Open a session for a key; the key itself is forgotten."""
    try:
        require_token(catalog, request, form, HOME)
        session = open_session(catalog, form.get("key", "").strip(), clock=clock_of(request))
    except CommunityError as error:
        return _login_response(catalog, request, error)
    return remember(request, see_other(QUEUE), session)


def take_logout(catalog: Catalog, request: Request, form: Form) -> Response:
    """Close the session, here and in the browser."""
    session = current_session(catalog, request)
    if session is not None:
        require_sent(catalog, session, form)
        close_session(catalog, session, clock=clock_of(request))
    return forget(request, see_other(HOME))


def queue(catalog: Catalog, request: Request, session: Session) -> Response:
    """Contributions of one state, those that wait unless another is asked for."""
    states = tuple(state.value for state in State)
    state = asked.text(request, "state") or State.PENDING.value
    found = list_contributions(
        catalog,
        state=state if state in states else State.PENDING.value,
        cursor=asked.optional(request, "cursor"),
        limit=ROWS,
    )
    page = AdminPage(
        **frame(catalog, session, "Queue"),
        state=state,
        states=states,
        remarks=tuple(map(build_remark, found.items)),
        after=f"{QUEUE}?state={state}&cursor={found.cursor}" if found.cursor else "",
    )
    return form_response(request, page, None, 200)


def item(catalog: Catalog, request: Request, session: Session) -> Response:
    """One contribution with the form that decides about it."""
    return _item_response(catalog, request, session, DECISION_FIELDS)


def audit(catalog: Catalog, request: Request, session: Session) -> Response:
    """The audit log."""
    found = read_audit(catalog, cursor=asked.optional(request, "cursor"), limit=ROWS)
    page = AuditPage(
        **frame(catalog, session, "Audit log"),
        entries=tuple(map(build_line, found.items)),
        after=f"{AUDIT}?cursor={found.cursor}" if found.cursor else "",
    )
    return form_response(request, page, None, 200)


def take_decision(catalog: Catalog, request: Request, form: Form) -> Response:
    """Apply a decision, or show why it was not taken."""
    session = current_session(catalog, request)
    if session is None:
        return _login_response(catalog, request, refusal("key.missing", "log in again"))
    try:
        require_sent(catalog, session, form)
        settled = _decide(catalog, request, session, form)
    except KernelIndexError as error:
        if error.code == "contribution.not_found":
            raise
        return _item_response(catalog, request, session, _filled(form), error)
    return see_other(f"{QUEUE}/{paths.prefix(settled)}")


def _decide(catalog: Catalog, request: Request, session: Session, form: Form) -> str:
    """The id of the contribution that was decided about."""
    ident, decision = request.path_params["ident"], form.get("decision", "")
    said = {"actor": session.actor, "reason": form.get("reason", "").strip()}
    clock = clock_of(request)
    if decision in tuple(Verdict):
        return decide(catalog, ident, Verdict(decision), **said, clock=clock).id
    if decision not in ("retract", "supersede"):
        raise refusal("decision.incomplete", "choose a decision")
    by = form.get("by", "").strip()
    if (decision == "supersede") != bool(by):
        raise refusal("decision.incomplete", "supersede names another run; retract names none")
    by_digest = locate(catalog, "run", by).digest if by else None
    apply = corrector(catalog)
    return correct_run(catalog, ident, decision, apply, **said, by_digest=by_digest, clock=clock).id


def _item_response(
    catalog: Catalog,
    request: Request,
    session: Session,
    fields: tuple[FormField, ...],
    error: KernelIndexError | None = None,
) -> Response:
    found = find_contribution(catalog, request.path_params["ident"])
    page = ItemPage(
        **frame(catalog, session, f"{found.kind.capitalize()} {short(found.id)}"),
        remark=build_remark(found),
        fields=fields,
        entries=tuple(map(build_line, read_audit(catalog, subject=found.id, limit=ROWS).items)),
        problem=error.message if error else "",
    )
    return form_response(request, page, None, _status(error))


def _filled(form: Form) -> tuple[FormField, ...]:
    return tuple(replace(one, value=form.get(one.name, "")) for one in DECISION_FIELDS)


def _login_response(
    catalog: Catalog, request: Request, error: CommunityError | None = None
) -> Response:
    cookie = form_cookie(request)
    page = LoginPage(
        title="Operators",
        indexed=False,
        token=token_for(catalog, request, cookie, HOME),
        problem=error.message if error else "",
    )
    return form_response(request, page, cookie, _status(error))


def _status(error: KernelIndexError | None) -> int:
    if error is None:
        return 200
    return REFUSALS[error.code].status if error.code in REFUSALS else status_of(error)


routes = [
    form_route(HOME, show_login, take_login, "login"),
    taken_route(f"{HOME}/logout", take_logout, "logout"),
    shown_route(QUEUE, queue, "queue"),
    form_route(f"{QUEUE}/{{ident}}", guarded(item), take_decision, "item"),
    shown_route(AUDIT, audit, "audit"),
]
