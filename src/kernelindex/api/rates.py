"""How often one address may ask, in each worker; headers as the IETF draft names them.

Fixed windows of the ``limits`` package over counters of our own: its memory storage
starts a thread every 10 ms under load and walks all keys in it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Final

from limits import RateLimitItem, parse
from limits.storage import Storage
from limits.strategies import FixedWindowRateLimiter

from kernelindex.api.problems import problem
from kernelindex.settings import DEFAULT_RATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Refuse = Callable[[str, int], ASGIApp]
    """Makes the answer of a refusal from its words and the seconds to wait."""

MOST_KEYS: Final = 50_000
IPV6_PREFIX: Final = 64
"""One customer has at least this many addresses."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one address may do; ``heavy`` are batches and exports, which cost much."""

    reads: str = DEFAULT_RATE
    heavy: str = "60/minute"


DEFAULT_RATES: Final = Rates()


class Counters(Storage):
    """Counts that end with their window; bounded, forgetting the ended, then the oldest."""

    STORAGE_SCHEME = None

    def __init__(self, most_keys: int = MOST_KEYS) -> None:
        super().__init__()
        self._counts: dict[str, tuple[int, float]] = {}
        self._most_keys = most_keys

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        count, ends = self._counts.get(key, (0, 0.0))
        now = time.time()
        if ends <= now:
            self._make_room(now)
            count, ends = 0, now + expiry
        self._counts[key] = (count + amount, ends)
        return count + amount

    def get(self, key: str) -> int:
        count, ends = self._counts.get(key, (0, 0.0))
        return count if ends > time.time() else 0

    def get_expiry(self, key: str) -> float:
        return self._counts.get(key, (0, time.time()))[1]

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        count = len(self._counts)
        self._counts.clear()
        return count

    def clear(self, key: str) -> None:
        self._counts.pop(key, None)

    def __len__(self) -> int:
        return len(self._counts)

    def _make_room(self, now: float) -> None:
        if len(self._counts) < self._most_keys:
            return
        self._counts = {key: found for key, found in self._counts.items() if found[1] > now}
        while len(self._counts) >= self._most_keys:
            del self._counts[next(iter(self._counts))]


class RateLimits:
    """Refuses with 429 an address that asks more often than its rates allow."""

    def __init__(self, rates: Rates, refuse: Refuse | None = None) -> None:
        self._refuse = refuse or _problem
        self._limiter = FixedWindowRateLimiter(Counters())
        self._reads = _Policy("reads", parse(rates.reads))
        self._heavy = _Policy("heavy", parse(rates.heavy))

    async def count(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have ``app`` answer where the address may still ask."""
        policy = self._heavy if _is_heavy(scope) else self._reads
        who = client_of(scope)
        allowed = self._limiter.hit(policy.item, policy.name, who)
        resets, left = self._limiter.get_window_stats(policy.item, policy.name, who)
        wait_s = max(1, math.ceil(resets - time.time()))
        headers = policy.headers(left, wait_s)

        async def send_with_rates(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *headers]
            await send(message)

        if allowed:
            await app(scope, receive, send_with_rates)
            return
        words = f"More than {policy.item} from this address; ask again in {wait_s} s."
        await self._refuse(words, wait_s)(scope, receive, send_with_rates)


def _problem(words: str, wait_s: int) -> ASGIApp:
    return problem("rate.limited", words, headers={"Retry-After": str(wait_s)})


class _Policy:
    """One rate and how its headers say it."""

    def __init__(self, name: str, item: RateLimitItem) -> None:
        self.name = name
        self.item = item
        stated = f'"{name}";q={item.amount};w={item.get_expiry()}'
        self._stated = (b"ratelimit-policy", stated.encode())

    def headers(self, left: int, wait_s: int) -> list[tuple[bytes, bytes]]:
        said = f'"{self.name}";r={left};t={wait_s}'
        return [self._stated, (b"ratelimit", said.encode())]


def client_of(scope: Scope) -> str:
    """Who asks: the address, for IPv6 its network of 64 bits.

    Behind a proxy the server must be told to trust its headers (uvicorn's
    ``--forwarded-allow-ips``); no header is trusted here.
    """
    client: Any = scope.get("client")
    if not client:
        return "unknown"
    host = str(client[0])
    if ":" not in host:
        return host
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network(f"{address}/{IPV6_PREFIX}", strict=False))


def _is_heavy(scope: Scope) -> bool:
    """Whether it costs much; to ask leave for it does not."""
    path: str = scope["path"]
    return scope["method"] != "OPTIONS" and (path.endswith("/batch") or "/exports/" in path)
