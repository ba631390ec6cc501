"""Options that several commands share, and the catalog they open."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.catalog import Catalog

STALE_CODES = ("catalog.stale", "catalog.schema")
F = TypeVar("F", bound="Callable[..., Any]")

json_option = click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")

actor_option = click.option(
    "--actor", required=True, envvar="KI_ACTOR", metavar="NAME",
    help="Who decides, for the audit log (environment: KI_ACTOR).",
)  # fmt: skip


class FiniteRange(click.FloatRange):
    """A number in a range: ``nan`` is in none, though no comparison says so."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; a usage error for what is none."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number in the range {self._describe_range()}.", param, ctx)
        return number


device_option = click.option(
    "--device", default="auto", show_default=True, metavar="DEVICE",
    help="cpu or cuda:N; auto is the first GPU, else cpu.",
)  # fmt: skip


def db_option(command: F) -> F:
    """``--db URL`` after the command's name as well as before it."""
    option = click.option(
        "--db",
        metavar="URL",
        expose_value=False,
        callback=_remember_db,
        help="Catalog to use (default: KI_DB, ./.ki in a clone, the user's data directory).",
    )
    return option(command)


MAX_ROWS = 500
"""Rows of one page: as many as the catalog reads at once."""


def limit_option(default: int) -> Callable[[F], F]:
    """``--limit N`` for lists."""
    return click.option(
        "--limit",
        type=click.IntRange(1, MAX_ROWS),
        default=default,
        show_default=True,
        help="Rows to print.",
    )


@dataclass(slots=True)
class Session:
    """What the commands of one call share; ``catalog`` is the seam where tests stand in."""

    db: str | None = None
    catalog: Any = None


def open_catalog(ctx: click.Context, *, create: bool = False, stale: bool = False) -> Catalog:
    """The catalog that the command line, the environment or the default names.

    ``stale`` also takes one whose derived rows are of another version. Raises CatalogError
    ``catalog.missing`` where there is none and ``create`` is false.
    """
    session: Session = ctx.find_root().obj
    if session.catalog is not None:
        return session.catalog  # type: ignore[no-any-return]
    from kernelindex.catalog import Catalog
    from kernelindex.settings import database_url

    url = database_url(session.db)
    catalog = Catalog.create(url) if create else _open(url, stale=stale)
    ctx.call_on_close(catalog.close)
    return catalog


def _open(url: str, *, stale: bool) -> Catalog:
    from kernelindex.catalog import Catalog
    from kernelindex.errors import CatalogError

    try:
        return Catalog.open(url)
    except CatalogError as error:
        if stale and error.code in STALE_CODES:
            return Catalog(url)
        raise


def print_json(data: Any) -> None:
    """Stable JSON: two spaces, keys in documented order, text as it is."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def _remember_db(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.find_root().obj.db = value
