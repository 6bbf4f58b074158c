"""Hints spare a look at the patterns, and never keep from a rule a path that a pattern fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.rule_file import PathMatch
from watchgate.core.policy.matching.path_patterns import compiled, forms_of, hints, names_in

PLACE = Place(session="/home/ada/project", home="/home/ada", cwd="/home/ada/project/sub")
ORDINARY = names_in(["/home/ada/project/src/cart/totals.py", "/home/ada/project/README.md"])

_signs = st.sampled_from(["/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "~", ".", "..", "$A"])
_pieces = _signs | st.sampled_from(
    ["/", "a", "b", "ab", "abc", "abcd", ".a", ".abc", "a.b", ".ssh", "etc", "\n"]
)
_texts = st.lists(_pieces, min_size=1, max_size=7).map("".join)
_written = st.lists(
    st.sampled_from(["/", "/", "~", ".", "..", "$A", "a", "b", "ab", "abc", "x", ".ssh", "ETC"])
    | st.sampled_from(["/home/ada/", ".a", ".abc", "a.b", "abcd", "\n", "*"]),
    min_size=1,
    max_size=8,
).map("".join)


@given(_texts, _written, st.booleans())
def test_no_path_that_a_pattern_fits_is_without_its_hint(
    pattern: str,
    path: str,
    allows: bool,
) -> None:
    paths = compiled(PathMatch(any=pattern), {}, allows=allows)
    forms = forms_of(PLACE, path)
    if paths.fit(PLACE, path, forms):
        assert paths.meant.hints.may_fit(names_in([forms[0]]))


@pytest.mark.parametrize(
    "pattern",
    [".env", ".aws/credentials", "/etc/shadow", "/etc/ssh/*_key", "~/.ssh/**", "id_rsa*", "*.pem"],
)
def test_an_ordinary_path_has_no_hint_of_a_pattern_with_a_name_of_its_own(pattern: str) -> None:
    assert not hints([pattern]).may_fit(ORDINARY)


@pytest.mark.parametrize("pattern", ["/", "~/**", "*", "*cert*", "**/*", "[!x]*.pem", "**a.pem"])
def test_a_pattern_that_names_nothing_may_fit_anything(pattern: str) -> None:
    assert hints(["/etc/shadow", pattern]).may_fit(ORDINARY)
