"""Guides as HTML: what they use is rendered, everything else is text."""

from __future__ import annotations

import pytest

from kernelindex.web.markdown import anchor, inline, read_sections


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b `c`** d", "a <strong>b <code>c</code></strong> d"),
        ('<b> & "', "&lt;b&gt; &amp; &#34;"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("[x](https://a.b/c)", '<a href="https://a.b/c" rel="noopener">x</a>'),
        ("[x](javascript:alert(1))", "x)"),
        ("[x](answer.md)", "x"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_inline(text: str, html: str) -> None:
    assert inline(text) == html


def test_sections_are_cut_at_second_level_headings() -> None:
    found = read_sections("# Title\n\nIntro.\n\n## One part\ntext\ngoes on\n\n### Below\n")
    assert [(one.title, one.ident) for one in found] == [("", ""), ("One part", "one-part")]
    assert found[1].body == "<p>text goes on</p>\n<h3>Below</h3>"


def test_lists_go_on_over_lines() -> None:
    (found,) = read_sections("- one\n  more\n- two\n\n1. first\n2. second\n")
    assert found.body == (
        "<ul><li>one more</li><li>two</li></ul>\n<ol><li>first</li><li>second</li></ol>"
    )


def test_a_table_and_a_fence() -> None:
    (found,) = read_sections("| a | b |\n|---|---|\n| `x` | <y> |\n```sh\n<z> **\n```\n")
    assert '<th scope="col">a</th>' in found.body
    assert '<th scope="row"><code>x</code></th><td>&lt;y&gt;</td>' in found.body
    assert "<pre>&lt;z&gt; **</pre>" in found.body


def test_anchor() -> None:
    assert anchor("Verdicts: when is one faster?") == "verdicts-when-is-one-faster"
