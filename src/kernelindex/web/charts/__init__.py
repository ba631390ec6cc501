"""Charts as Vega-Lite with their data, words and a renderer off the path of a page."""
