"""Which network addresses a fetch may connect to: public ones, whatever a name says."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, TypeAlias

from kernelindex.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Address", "Resolver", "is_public", "permitted_address", "resolve"]

Address: TypeAlias = IPv4Address | IPv6Address
Resolver: TypeAlias = "Callable[[str, int], Sequence[Address]]"

# IPv6 ranges that carry an IPv4 address through a translator: what they reach is not in them.
_TRANSLATED = (
    IPv6Network("64:ff9b::/96"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("2002::/16"),
    IPv6Network("2001::/32"),
)


def is_public(address: Address) -> bool:
    """Whether an address is globally routable: not private, loopback, link-local or reserved."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in _TRANSLATED):
            return False
    return address.is_global and not address.is_multicast


def resolve(host: str, port: int) -> Sequence[Address]:
    """Every address of a host, in the system's order.

    Raises ``SourceError`` (``source.unreachable``) for a name that has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(
            f"{host}: no such host ({error})", code="source.unreachable", host=host
        ) from error
    return list(dict.fromkeys(ip_address(entry[4][0]) for entry in found))


def permitted_address(
    host: str, port: int, *, resolver: Resolver, permit: Callable[[Address], bool]
) -> Address:
    """The address to connect to; one refused address refuses the whole name.

    Raises ``SourceError`` (``source.address_refused``), so that a name which is public now
    and private on the next look-up is never connected to by name.
    """
    addresses = resolver(host, port)
    for address in addresses:
        if not permit(address):
            raise SourceError(
                f"{host} leads to {address}, which is not a public address; fetch the file "
                "yourself and give its path",
                code="source.address_refused",
                host=host,
            )
    if not addresses:
        raise SourceError(f"{host} has no address", code="source.unreachable", host=host)
    return addresses[0]
