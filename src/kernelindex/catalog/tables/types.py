"""Column types that sort by code point on every database.

PostgreSQL sorts text by the database's locale; heads, ranks and dumps must not depend
on it, so every text column carries the ``C`` collation there. Lengths are not limited by
the database: manifests limit them.
"""

from __future__ import annotations

from sqlalchemy import String, Text

Digest = String(71).with_variant(String(71, collation="C"), "postgresql")
Name = String().with_variant(String(collation="C"), "postgresql")
Words = Text().with_variant(Text(collation="C"), "postgresql")
