from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.cli.policy_files import NO_PUSH, own_policy, write_requests
from watchgate.cli.base.printing import Exit
from watchgate.cli.policy.policy_look import BUILT_IN
from watchgate.service.policies.policy_files import shipped


def test_the_table_says_what_the_gate_does_with_each_word(cli: Cli) -> None:
    rows = {line["says"]: line["does"] for line in cli("policy", "table", "--json").lines}
    assert (rows["deny rule"], rows["high, critical"]) == ("deny", "hold")
    strict = cli("policy", "table", "--profile", "strict", "--json").lines
    assert {line["profile"] for line in strict} == {"strict"}
    assert "holds it for an operator" in cli("policy", "table").out


def test_the_table_names_the_files_that_rules_are_from(cli: Cli) -> None:
    path = own_policy(NO_PUSH)
    out = cli("policy", "table").out
    assert str(path) in out
    assert "shipped/" in out


def test_a_rule_is_explained_with_its_place_and_as_it_is_written(cli: Cli) -> None:
    path = own_policy(NO_PUSH)
    said = cli("policy", "explain", "team.no-push")
    assert said.code == Exit.DONE
    assert f"team.no-push  deny  high  (user, {path}:3)" in said.out
    assert "safer: open a merge request" in said.out
    assert 'command = { program = "git", sub = "push" }' in said.out
    (line,) = cli("policy", "explain", "team.no-push", "--json").lines
    assert (line["tier"], line["in_force"]) == ("user", True)


def test_a_rule_that_is_switched_off_says_so(cli: Cli) -> None:
    rule = next(r.id for r in shipped().rules if r.decision == "allow")
    own_policy(f'version = 1\ndisable = ["{rule}"]\n')
    said = cli("policy", "explain", rule)
    assert "SWITCHED OFF" in said.out
    (line,) = cli("policy", "explain", rule, "--json").lines
    assert line["in_force"] is False


@pytest.mark.parametrize("rule", BUILT_IN)
def test_what_is_built_in_is_explained_too(cli: Cli, rule: str) -> None:
    assert BUILT_IN[rule] in cli("policy", "explain", rule).out
    (line,) = cli("policy", "explain", rule, "--json").lines
    assert line["tier"] == "built in"


def test_an_unknown_id_is_refused_with_the_nearest_one(cli: Cli) -> None:
    own_policy(NO_PUSH)
    said = cli("policy", "explain", "team.no-psuh")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "did you mean team.no-push?" in said.err


def test_a_changed_file_comes_into_force_when_it_is_reloaded(cli: Cli, core: Core) -> None:
    path = own_policy(NO_PUSH)
    said = cli("policy", "reload")
    assert said.code == Exit.DONE
    assert f"{path}  (user)" in said.out
    (line,) = cli("policy", "reload", "--json").lines
    assert line["files"] == [{"path": str(path), "tier": "user"}]


def test_a_bad_file_is_refused_with_its_line_and_what_was_in_force_stays(
    cli: Cli, core: Core
) -> None:
    path = own_policy(NO_PUSH)
    assert cli("policy", "reload").code == Exit.DONE
    path.write_text(NO_PUSH.replace('"deny"', '"forbid"'))
    said = cli("policy", "reload")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert f"{path}:5" in said.err
    assert "stays" in said.err


def test_a_request_that_waits_is_explained(cli: Cli, held: Callable[..., dict[str, Any]]) -> None:
    request = held("git push --force")
    said = cli("policy", "explain", request["id"][:6])
    assert said.code == Exit.DONE
    assert f"{request['risk']}  git.force-push: {request['reason']}" in said.out
    (line,) = cli("policy", "explain", request["id"], "--json").lines
    assert (line["request"], line["summary"]) == (request["id"], "git push --force")
    assert line["findings"]


def test_a_request_of_long_ago_is_explained_without_a_core(cli: Cli) -> None:
    write_requests("abcdkkkk", "abcekkkk")
    (line,) = cli("policy", "explain", "abcd", "--json").lines
    assert (line["request"], line["rule"], line["reason"]) == ("abcdkkkk", "git.push", "Sends")
    assert "git.push: Sends" in cli("policy", "explain", "abcdkkkk").out
    assert cli("policy", "explain", "zzzz").code == Exit.REFUSED


def test_a_beginning_that_several_requests_have_is_refused(cli: Cli) -> None:
    write_requests("abcdkkkk", "abcdmmmm")
    said = cli("policy", "explain", "abcd")
    assert said.code == Exit.REFUSED
    assert "write more of the id" in said.err


def test_reload_needs_a_core(cli: Cli) -> None:
    assert cli("policy", "reload").code == Exit.NO_CORE


def test_help_has_examples(cli: Cli) -> None:
    for command in ((), ("check",), ("import",), ("what-if",), ("explain",), ("reload",)):
        assert "example" in cli("policy", *command, "--help").out
