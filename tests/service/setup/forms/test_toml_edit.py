from __future__ import annotations

import tomllib
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.setup.forms.form_editor import FormError
from watchgate.service.setup.forms.toml_edit import with_value

ABOUT = "# My configuration.\n# In two lines.\n\n"

SET = {
    "in an empty file": ("", "profile", "watch", 'profile = "watch"\n'),
    "in the place of the old value": (
        "profile = 'guard'   # for now\n[ui]\n",
        "profile",
        "watch",
        'profile = "watch"   # for now\n[ui]\n',
    ),
    "in the place of a list of several lines": (
        "[agents]\npython = [ # these\n  'a',\n]  # and no more\n",
        "agents.python",
        ("b", "c"),
        '[agents]\npython = ["b", "c"]  # and no more\n',
    ),
    "below the other keys at the top": (
        "profile = 'guard' # first\n\n# Approvals.\n[approval]\nmargin_s = 5\n",
        "other",
        True,
        "profile = 'guard' # first\nother = true\n\n# Approvals.\n[approval]\nmargin_s = 5\n",
    ),
    "above the comment of the first table": (
        "# Approvals.\n[approval]\nmargin_s = 5\n",
        "profile",
        "watch",
        'profile = "watch"\n\n# Approvals.\n[approval]\nmargin_s = 5\n',
    ),
    "below a comment on the whole file": (
        f"{ABOUT}# Approvals.\n[approval]\n",
        "profile",
        "watch",
        f'{ABOUT}profile = "watch"\n\n# Approvals.\n[approval]\n',
    ),
    "below the last key of its table": (
        "[approval] # short\nmargin_s = 5 # five\n\n# Last.\n[[handler]]\nid = 1\n",
        "approval.timeout_s",
        60,
        "[approval] # short\nmargin_s = 5 # five\ntimeout_s = 60\n\n# Last.\n[[handler]]\nid = 1\n",
    ),
    "in a table without keys": (
        "[approval] # short\n\n[ui]\n",
        "approval.timeout_s",
        60,
        "[approval] # short\ntimeout_s = 60\n\n[ui]\n",
    ),
    "in a new table": (
        "profile = 'guard'\n",
        "ui.keys.allow_once",
        "a",
        "profile = 'guard'\n\n[ui.keys]\nallow_once = \"a\"\n",
    ),
    "in a new table behind a line that does not end": (
        "[[sink]]\ntype = 'stdout'",
        "ui.ascii",
        True,
        "[[sink]]\ntype = 'stdout'\n\n[ui]\nascii = true\n",
    ),
    "beside a dotted key": (
        "ui.theme = 'mono'\nprofile = 'guard'\n",
        "ui.bell",
        False,
        "ui.theme = 'mono'\nui.bell = false\nprofile = 'guard'\n",
    ),
    "inside an inline table": (
        "[approval]\nrelay_timeout_s = { racing = 0 } # both\n",
        "approval.relay_timeout_s.serial",
        5,
        "[approval]\nrelay_timeout_s = { racing = 0, serial = 5 } # both\n",
    ),
    "under a quoted name with an equals sign": (
        "[ui.keys]\n'a = b' = 'x'\n",
        "ui.keys.quit",
        'q"',
        "[ui.keys]\n'a = b' = 'x'\nquit = \"q\\\"\"\n",
    ),
    "beside a text that looks like tables": (
        'note = """\n[ui]\ntheme = 1\n"""\n[ui]\ntheme = "mono"\n',
        "ui.theme",
        "textual-dark",
        'note = """\n[ui]\ntheme = 1\n"""\n[ui]\ntheme = "textual-dark"\n',
    ),
    "with the line ends of the file": (
        "# About.\r\n\r\n[ui]\r\nascii = true\r\n",
        "ui.bell",
        False,
        "# About.\r\n\r\n[ui]\r\nascii = true\r\nbell = false\r\n",
    ),
    "in the place of a number that is equal to it": (
        "[ui]\nascii = 1 # yes\n",
        "ui.ascii",
        True,
        "[ui]\nascii = true # yes\n",
    ),
    "not at all where it is the value already": (
        "profile='watch'",
        "profile",
        "watch",
        "profile='watch'",
    ),
}


@pytest.mark.parametrize(("text", "key", "value", "after"), SET.values(), ids=SET)
def test_a_value_is_set(text: str, key: str, value: object, after: str) -> None:
    assert with_value(text, tuple(key.split(".")), value) == after


@pytest.mark.parametrize(
    ("text", "key", "why"),
    [
        ("[[handler]]\nid = 'a'\n", "handler.id", "handler is a list"),
        ("profile = 'guard'\n", "profile.name", "profile is a single value"),
        ("[ui]\nbell = true\n", "ui", "ui is a table: name one of its keys"),
        ("[[sink]]\nid = 1\n", "sink", "edit it by hand"),
    ],
)
def test_what_takes_a_person_is_refused(text: str, key: str, why: str) -> None:
    with pytest.raises(FormError, match=why):
        with_value(text, tuple(key.split(".")), 1)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = (
    TEXTS
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.times().map(lambda each: each.replace(fold=0))
    | st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda each: each.replace(fold=0))
)
VALUES = st.recursive(
    PLAIN,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3),
    max_leaves=6,
)
FILES = ("", "# a", "a = 1 # b\n[t]\nb = nan\n", "t.b = [inf, 'x'] # c\r\nd = {e = 1}\r\n")


@given(st.sampled_from(FILES), st.lists(TEXTS | st.sampled_from("atbd"), min_size=1), VALUES)
def test_what_is_written_is_what_is_read(text: str, key: list[str], value: object) -> None:
    before = tomllib.loads(text)
    try:
        found: Any = tomllib.loads(with_value(text, tuple(key), value))
    except FormError:
        assert key[0] in before, "only what is there already is in the way"
        return
    assert {name: repr(each) for name, each in before.items() if name != key[0]} == {
        name: repr(each) for name, each in found.items() if name != key[0]
    }
    for name in key:
        found = found[name]
    assert repr(found) == repr(value)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"bytes",
        "half of a pair: \udcff",
        ["\ud800"],
        {"\ud800": 1},
        {"a": None},
        16**5_000,
        nested(10_000),
    ],
    ids=["none", "bytes", "text", "list", "table", "inner", "digits", "nesting"],
)
def test_a_value_that_toml_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(FormError, match=r"a\.b: TOML cannot hold this value"):
        with_value("", ("a", "b"), value)
