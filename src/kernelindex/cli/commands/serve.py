"""``ki serve``: the site and the JSON API on a local address."""

from __future__ import annotations

import os
import re
import socket
from typing import TYPE_CHECKING

import click

from kernelindex.cli.options import db_option
from kernelindex.errors import KernelIndexError

if TYPE_CHECKING:
    from kernelindex.cli.options import Session

MOST_WORKERS = 64
KEEP_ALIVE_S = 15
MOST_WAITING = 2048
"""Connections that wait to be taken, as many as uvicorn asks for."""
MISSING = "The site needs its packages; install them with: pip install 'kernelindex[site]'"


@click.command(name="serve", short_help="the site and the JSON API on a local address")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_WORKERS),
    default=1,
    show_default=True,
    help="Processes that answer.",
)
@click.option(
    "--base-url",
    metavar="URL",
    help="Address that readers know the site by, for link previews, search engines and feeds"
    " (KI_BASE_URL). Without it feeds name the host they were asked of, and no shared cache"
    " may keep them.",
)
@click.option(
    "--rate",
    metavar="N/UNIT",
    help="What one address may ask of pages, and of the API, in each worker: 1800/minute where"
    " nothing is said, or off (KI_RATE).",
)
@click.option("--log", is_flag=True, help="Print a line for each request.")
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    host: str,
    port: int,
    workers: int,
    base_url: str | None,
    rate: str | None,
    log: bool,
) -> None:
    """Serve the pages and the JSON API, reading the catalog only, until Ctrl-C.

    \b
    ki serve
    ki serve --host 0.0.0.0 --port 80 --workers 4 --base-url https://index.example
    """  # noqa: D301 (click reads backspace)
    url = _catalog_url(ctx.find_root().obj)
    _set("KI_BASE_URL", _address_of(base_url))
    _set("KI_RATE", _rate_of(rate))
    with _listen(host, port) as listener:
        click.echo(f"KernelIndex at {_address(host, listener)}  (Ctrl-C stops it)")
        _serve(listener, url, workers=workers, log=log)


def _set(name: str, value: str | None) -> None:
    """Hand a setting to the processes that serve."""
    if value is not None:
        os.environ[name] = value


def _address_of(stated: str | None) -> str | None:
    """The public address, refused (``serve.base_url``) where no link could begin with it."""
    if stated is None or re.fullmatch(r"https?://[^\s\"<>?#]+", stated):
        return stated
    raise KernelIndexError(
        f"--base-url {stated!r} is no address; give one such as https://index.example",
        code="serve.base_url",
    )


def _rate_of(stated: str | None) -> str | None:
    """The rate, refused (``serve.rate``) where it is none."""
    if stated is None or re.fullmatch(r"off|[1-9]\d{0,8}/(second|minute|hour)", stated):
        return stated
    raise KernelIndexError(
        f"--rate {stated!r} is no rate; give one such as 1800/minute, or off", code="serve.rate"
    )


def _catalog_url(session: Session) -> str:
    """The catalog's URL, opened once so that one that cannot be read is said before serving.

    Raises CatalogError ``catalog.missing``, ``catalog.schema``, ``catalog.stale``.
    """
    from kernelindex.catalog import Catalog
    from kernelindex.settings import database_url

    url = database_url(session.db)
    Catalog.open(url).close()
    return url


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket: whoever follows the printed address at once waits, and is answered.

    Raises KernelIndexError ``serve.port_in_use``, ``serve.address``.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(MOST_WAITING)
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from error
    listener.set_inheritable(True)
    return listener


def _explained(error: OSError, host: str, port: int) -> KernelIndexError:
    import errno

    if error.errno == errno.EADDRINUSE:
        return KernelIndexError(
            f"Port {port} of {host} is in use by another program; give another with --port,"
            " or --port 0 for a free one",
            code="serve.port_in_use",
        )
    words = error.strerror or str(error)
    return KernelIndexError(
        f"Cannot listen on {host} port {port}: {words.lower()}; ports below 1024 need rights,"
        " and the address must be of this machine",
        code="serve.address",
    )


def _address(host: str, listener: socket.socket) -> str:
    """The address to open in a browser."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _serve(listener: socket.socket, url: str, *, workers: int, log: bool) -> None:
    """Serve until stopped; workers are processes that share the socket."""
    try:
        import uvicorn

        from kernelindex.site.workers import serve
    except ModuleNotFoundError as error:
        raise KernelIndexError(MISSING, code="serve.not_installed") from error
    os.environ["KI_DB"] = url
    config = uvicorn.Config(
        "kernelindex.site.asgi:build",
        factory=True,
        workers=workers,
        http="kernelindex.site.http_protocol:BoundedHttpProtocol",
        ws="none",
        access_log=log,
        log_level="info" if log else "warning",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    serve(config, [listener])
