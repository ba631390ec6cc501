"""What holds of the page of every run that travels in the package."""

from __future__ import annotations

import re
from functools import cache
from html import unescape

from tests.support import shipped

CLOSE_PERCENT = re.compile(r".{0,40}\d%.{0,20}")


@cache
def bodies() -> dict[str, str]:
    """Pages by digest."""
    return {
        run.digest: shipped.client().get(f"/runs/{run.digest[7:19]}").text
        for run in shipped.all_runs()
    }


def test_percent_is_written_one_way() -> None:
    said = [re.sub(r"<pre.*?</pre>", "", body, flags=re.DOTALL) for body in bodies().values()]
    texts = [unescape(re.sub(r"<[^>]+>", " ", one)) for one in said]
    assert [found[0] for text in texts if (found := CLOSE_PERCENT.search(text))] == []
    assert any("within 5 % of the rerun (the least tolerance, 5 %)" in text for text in texts)
