"""Characters that hide or reorder are shown; markup is not ours to interpret."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from kernelindex.text import show_hidden
from kernelindex.web.templating import environment
from kernelindex.web.visible import finalize, verbatim


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("nul\x00", "nul\\u0000"),
        ("lone\ud800", "lone\\ud800"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("Ядро µs 行列 é", "Ядро µs 行列 é"),
        ("two\nlines\tand tabs", "two\nlines\tand tabs"),
    ],
)
def test_hidden_characters_become_escapes(text: str, shown: str) -> None:
    assert show_hidden(text) == shown
    assert finalize(text) == shown


def test_a_pile_of_marks_is_cut_and_counted() -> None:
    assert finalize("Z" + "\u0301" * 40 + "algo") == "Z" + "\u0301" * 4 + "(+36 marks)algo"
    assert finalize("e\u0323\u0302 กี่ קֳּ") == "e\u0323\u0302 กี่ קֳּ"


def test_nothing_prints_nothing() -> None:
    assert finalize(None) == ""
    assert finalize(0) == 0


def test_verbatim_text_keeps_quotes_and_loses_markup() -> None:
    assert verbatim('{"a":"<b>&\u202e"}') == Markup('{"a":"&lt;b&gt;&amp;\\u202e"}')


def test_a_template_escapes_what_it_prints() -> None:
    made = (
        environment().from_string('<a title="{{ name }}">{{ name }}</a>').render(name='"><b>\u202e')
    )
    assert made == '<a title="&#34;&gt;&lt;b&gt;\\u202e">&#34;&gt;&lt;b&gt;\\u202e</a>'


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(Exception, match="is undefined"):
        environment().from_string("{{ nothing }}").render()
