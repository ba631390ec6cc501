"""The evidence site: pages, charts, badges and cards, rendered on the server."""
