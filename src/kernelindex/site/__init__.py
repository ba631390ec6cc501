"""The site as one application: pages, API, community, and what guards them."""

from kernelindex.site.app import create_app

__all__ = ["create_app"]
