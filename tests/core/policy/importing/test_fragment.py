from __future__ import annotations

import tomllib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.core.policy.importing.reading import made, one
from watchgate.core.policy.importing.imported_rule import refused
from watchgate.core.policy.importing.rule_proof import VERSION, fragment, rule_text
from watchgate.core.policy.inputs.rule_file import PolicyFile, RuleData


def read_back(text: str) -> tuple[RuleData, ...]:
    return msgspec.convert(tomllib.loads(VERSION + text), PolicyFile).rule


def test_what_is_written_reads_back_as_the_same_rules() -> None:
    found = [
        one("Bash(git push *)", "deny"),
        one("Edit(./src/**)"),
        one("Agent(model:opus)", "ask"),
        one("WebFetch(domain:example.com)"),
        one("Read(any)", "ask"),
    ]
    assert read_back(fragment(found)) == tuple(made(each) for each in found)


def test_a_refused_rule_is_a_comment_with_its_reason() -> None:
    text = fragment([refused("Bash", "allow", "allows every command")])
    assert text == "# refused: Bash\n#   allows every command\n"


def test_a_source_with_a_line_break_cannot_leave_its_comment() -> None:
    text = fragment([refused("x\n[[rule]]\nid = 'evil'", "allow", "no\nversion = 2")])
    assert tomllib.loads(text) == {}


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_stays_one_string(text: str) -> None:
    rule = RuleData(id="x.y", decision="ask", reason=text, input={text or "k": text})
    assert read_back(rule_text(rule)) == (rule,)
