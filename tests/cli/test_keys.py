"""``ki keys`` over a real catalog."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelindex.catalog import Catalog
from kernelindex.community import Scope, authenticate
from kernelindex.errors import CommunityError
from tests.cli.factories import Terminal


@pytest.fixture
def catalog(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalog]:
    monkeypatch.setenv("KI_ACTOR", "root")
    with Catalog.open(sqlite_url) as opened:
        yield opened


def new(terminal: Terminal, catalog: Catalog, *more: str) -> str:
    outcome = terminal.ki("keys", "new", "--owner", "Ada", *more, catalog=catalog)
    assert outcome.status == 0, outcome.err
    return outcome.out.strip()


def test_the_key_alone_is_on_standard_output(terminal: Terminal, catalog: Catalog) -> None:
    outcome = terminal.ki(
        "keys", "new", "--owner", "Ada", "--scope", "attest", "--days", "7", catalog=catalog
    )
    token = outcome.out.removesuffix("\n")
    assert authenticate(catalog, token, Scope.ATTEST).owner == "Ada"
    assert "it cannot be shown again" in outcome.err
    assert token not in outcome.err


def test_json_has_the_key_once(terminal: Terminal, catalog: Catalog) -> None:
    made = terminal.ki(
        "keys", "new", "--owner", "Ada", "--scope", "admin", "--scope", "attest", "--json",
        catalog=catalog,
    ).data  # fmt: skip
    assert made["scopes"] == ["attest", "admin"]
    assert authenticate(catalog, made["token"], Scope.ADMIN).id == made["id"]
    (listed,) = terminal.ki("keys", "list", "--json", catalog=catalog).data["keys"]
    assert listed["id"] == made["id"]
    assert "token" not in listed
    assert made["token"][14:] not in str(listed)


def test_the_list_shows_ids_states_and_safe_names(terminal: Terminal, catalog: Catalog) -> None:
    token = new(terminal, catalog, "--scope", "attest", "--owner", "A\x1b[31m\u202eb")
    out = terminal.ki("keys", "list", catalog=catalog).out
    row = out.splitlines()[1]
    assert row.split()[0] == token.split("_")[1]
    assert "active" in row
    assert "never" in row
    assert not {"\x1b", "\u202e"} & set(out)
    assert token[14:] not in out


def test_an_empty_list_says_how_to_make_one(terminal: Terminal, catalog: Catalog) -> None:
    assert "ki keys new --owner" in terminal.ki("keys", "list", catalog=catalog).out


def test_revoking_ends_a_key(terminal: Terminal, catalog: Catalog) -> None:
    token = new(terminal, catalog, "--scope", "attest")
    ident = token.split("_")[1]
    outcome = terminal.ki("keys", "revoke", ident, "--reason", "lost", catalog=catalog)
    assert outcome.out == f"revoked: key {ident} of Ada\n"
    with pytest.raises(CommunityError) as caught:
        authenticate(catalog, token, Scope.ATTEST)
    assert caught.value.code == "key.revoked"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("new", "--owner", "Ada"), 2, "--scope"),
        (("new", "--owner", "Ada", "--scope", "root"), 2, "root"),
        (("new", "--owner", "Ada", "--scope", "attest", "--days", "0"), 2, "--days"),
        (("new", "--owner", " ", "--scope", "attest"), 1, "key.request"),
        (("revoke", "0123456789", "--reason", "x"), 1, "key.not_found"),
        (("revoke", "0123456789"), 2, "--reason"),
        (("revoke", "0123456789", "--reason", " "), 1, "decision.incomplete"),
    ],
)
def test_what_cannot_be_is_refused(
    terminal: Terminal, catalog: Catalog, arguments: tuple[str, ...], status: int, said: str
) -> None:
    outcome = terminal.ki("keys", *arguments, catalog=catalog)
    assert (outcome.status, outcome.out) == (status, "")
    assert said in outcome.err


def test_nobody_makes_a_key_unnamed(
    terminal: Terminal, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KI_ACTOR")
    outcome = terminal.ki("keys", "new", "--owner", "Ada", "--scope", "attest", catalog=catalog)
    assert outcome.status == 2
    assert "--actor" in outcome.err


def test_a_token_pasted_for_an_id_is_not_echoed(terminal: Terminal, catalog: Catalog) -> None:
    token = new(terminal, catalog, "--scope", "attest")
    outcome = terminal.ki("keys", "revoke", token, "--reason", "x", catalog=catalog)
    assert outcome.status == 1
    assert token[14:] not in outcome.err + outcome.out
