"""What machines subscribe to and crawl: Atom, sitemap, robots.txt, llms.txt."""

from kernelindex.api.feeds.routing import routes

__all__ = ["routes"]
