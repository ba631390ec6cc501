"""Curated data read as package resources, each datum with its source.

Import the module that answers the question: ``hardware``, ``dtypes``, ``metrics``,
``licences``, ``sources_info``, ``protocols``, ``operations``, ``costs``, ``equivalence``.
Data files are parsed on first use and kept.
"""
