"""Which addresses are the API's, and the mount that hands every one of them to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.routing import Match, Mount

if TYPE_CHECKING:
    from starlette.types import Scope

API: Final = "/api/v1"
BELOW: Final = "/api/"
ITS_PAGES: Final = "/api/addresses/"


def is_api(path: str) -> bool:
    """Whether the API answers an address: all below ``/api/`` but the pages that describe it."""
    return path.startswith(BELOW) and path != BELOW and not path.startswith(ITS_PAGES)


class ApiMount(Mount):
    """The API at ``/api/v1``; it also answers what else is below ``/api/``: nothing is there.

    Starlette finds a mount by a regular expression that ends at a newline, so that an address
    with one in it would be a page's.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The scope of the API's own routes: below its root, or one that none of them takes."""
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not is_api(path):
            return Match.NONE, {}
        child: dict[str, Any] = {"path_params": {}, "endpoint": self.app}
        if path == self.path:
            path = child["path"] = f"{path}/"
        if path.startswith(f"{self.path}/"):
            child |= {"app_root_path": "", "root_path": self.path}
        return Match.FULL, child
