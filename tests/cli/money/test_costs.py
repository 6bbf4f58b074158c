"""`costs`: rows and sums out of the files of agents, with what is unknown said to be unknown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.money.transcripts import line, prompt, transcript, write_prices
from watchgate.cli.base.printing import Exit

A, B = "aaaaaaaa-1111", "bbbbbbbb-2222"


@pytest.fixture(autouse=True)
def files() -> None:
    """Two sessions of Claude Code, one with a sub-agent and one with a model nobody prices."""
    write_prices()
    transcript(A).write_text(
        prompt(A, "p1") + line(A, "1") + prompt(A, "p2") + line(A, "2", day=3, model="large")
    )
    transcript(A, sub="s1").write_text(line(A, "3", day=3, sub="s1", cache_read=10_000))
    transcript(B).write_text(line(B, "4", day=3) + line(B, "5", day=3, model="nova"))


def rows(cli: Cli, *args: str) -> list[dict[str, Any]]:
    """What the command prints for scripts."""
    said = cli("costs", *args, "--json")
    assert said.code == Exit.DONE, said.err
    return said.lines


def costs(found: list[dict[str, Any]], name: str) -> dict[str, float | None]:
    """The cost of each row by its name."""
    return {row[name]: row["cost_usd"] for row in found}


def test_the_first_field_names_what_a_row_is_about(cli: Cli) -> None:
    for by in ("session", "model", "day", "agent", "turn", "call"):
        assert {next(iter(row)) for row in rows(cli, "--by", by)} == {by}


def test_a_row_of_an_agent_is_as_the_documents_say(cli: Cli) -> None:
    (row,) = rows(cli, "--by", "agent")
    assert row == {
        "agent": "claude",
        "input": 5000,
        "output": 500,
        "cache_write": 0,
        "cache_read": 10_000,
        "reasoning": 0,
        "cost_usd": 0.011,
        "source": "computed",
        "lower_bound": True,
        "unpriced": ["nova"],
        "calls": 5,
        "models": ["large", "nova", "small"],
        "unreadable": 0,
    }


def test_a_session_includes_its_sub_agents_and_tells_them_apart(cli: Cli) -> None:
    first, second = rows(cli, "--by", "session")
    assert (first["session"], first["agent"], first["cwd"]) == (A, "claude", "/src/api")
    assert (first["cost_usd"], first["lower_bound"], first["calls"]) == (0.009, False, 3)
    (sub,) = first["subs"]
    assert (sub["sub"], sub["cost_usd"], sub["cache_read"]) == ("s1", 0.003, 10_000)
    assert (second["cost_usd"], second["lower_bound"]) == (0.002, True)


def test_a_model_without_a_price_is_unknown_and_not_free(cli: Cli) -> None:
    found = rows(cli, "--by", "model")
    assert costs(found, "model") == {"small": 0.007, "large": 0.004, "nova": None}
    nova = next(row for row in found if row["model"] == "nova")
    assert (nova["source"], nova["lower_bound"], nova["unpriced"]) == ("unknown", True, ["nova"])


def test_days_are_local_ones_and_are_what_is_shown_by_default(cli: Cli) -> None:
    found = rows(cli)
    assert costs(found, "day") == {"2026-11-02": 0.002, "2026-11-03": 0.009}


def test_turns_and_calls_are_priced_by_themselves(cli: Cli) -> None:
    turns = rows(cli, "--by", "turn", "--session", A)
    assert [turn["cost_usd"] for turn in turns if turn["turn"] in {"p1", "p2"}] == [0.002, 0.004]
    calls = rows(cli, "--by", "call", "--session", "aaaa")
    assert sorted(call["tools"] for call in calls) == [["toolu-1"], ["toolu-2"], ["toolu-3"]]
    assert {call["session"] for call in calls} == {A}
    assert sum(call["cost_usd"] for call in calls) == pytest.approx(0.009)


def test_only_what_is_asked_for(cli: Cli) -> None:
    assert [row["session"] for row in rows(cli, "--by", "session", "--session", "claude:b")] == [B]
    assert rows(cli, "--agent", "codex") == []
    (row,) = rows(cli, "--by", "agent", "--since", "2026-11-03")
    assert (row["calls"], row["cost_usd"]) == (4, 0.009)


def test_a_session_that_is_none_or_several_is_refused(cli: Cli) -> None:
    transcript("aaaaaaaa-3333").write_text(line("aaaaaaaa-3333", "9"))
    none = cli("costs", "--session", "zzz")
    assert (none.code, none.out) == (Exit.REFUSED, "")
    several = cli("costs", "--session", "aaaa")
    assert several.code == Exit.REFUSED
    assert "2 sessions" in several.err


@pytest.mark.parametrize(
    ("days", "shown"), [("1", {"2026-11-03"}), ("2", {"2026-11-02", "2026-11-03"})]
)
def test_a_number_of_days_ends_with_today(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, days: str, shown: set[str]
) -> None:
    last_minute_us = int(datetime(2026, 11, 3, 23, 59, tzinfo=UTC).timestamp()) * 1_000_000
    monkeypatch.setattr("watchgate.cli.money.now_us", lambda: last_minute_us)
    assert costs(rows(cli, "--days", days), "day").keys() == shown


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "1e3"])
def test_a_number_of_days_is_one(cli: Cli, wrong: str) -> None:
    assert cli("costs", "--days", wrong).code == Exit.USAGE


def test_a_table_for_people_has_a_sum_with_whatever_it_lacks(cli: Cli) -> None:
    said = cli("costs", "--by", "session", "--subs")
    lines = said.out.splitlines()
    assert lines[0].split()[:2] == ["SESSION", "LAST"]
    assert lines[1].startswith("claude aaaaaaaa  2026-11-03")
    assert lines[2].startswith("  sub-agent s1")
    assert ">= $0.01  computed" in next(each for each in lines if each.startswith("total"))
    assert "1 model unpriced: nova" in said.out
    assert lines[-1].endswith("estimates at list prices, not your invoice")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--agent", "claud"), "nothing is known of an agent 'claud'; there is usage of claude"),
        (("--since", "2026-12-01"), "nothing was used in this time; without --since and --days"),
    ],
)
def test_a_question_that_nothing_answers_says_what_would(
    cli: Cli, args: tuple[str, ...], words: str
) -> None:
    said = cli("costs", *args)
    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out.startswith(words)


def test_the_models_are_cut_to_the_terminal_and_never_in_a_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [f"claude-of-a-long-name-{number}" for number in range(9)]
    text = "".join(line(A, f"m{model}", model=model) for model in models)
    transcript(A).write_text(prompt(A, "p1") + text)
    assert models[-1] in cli("costs").out.splitlines()[1]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    lines = cli("costs").out.splitlines()
    rows = lines[: 1 + [each[:5] for each in lines].index("total")]
    assert max(map(len, rows)) <= 80
    assert rows[1].endswith("...")


def test_calls_and_turns_have_a_decimal_more_than_sums(cli: Cli) -> None:
    write_prices()
    transcript(A).write_text(
        prompt(A, "p1") + "".join(line(A, f"n{number}", model="large") for number in range(4))
    )
    turn = next(each for each in cli("costs", "--by", "turn").out.splitlines() if " p1 " in each)
    assert "$0.016 " in turn
    assert "$0.02 " in next(
        each for each in cli("costs", "--session", A).out.splitlines() if each.startswith("total")
    )


def test_nothing_used_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nowhere"))
    said = cli("costs")
    assert (said.code, said.out) == (
        Exit.DONE,
        "nothing was used, as far as the files of agents and the journal tell\n",
    )
    assert rows(cli) == []


def test_what_cannot_be_read_is_counted_and_said(cli: Cli) -> None:
    with transcript(B).open("a") as file:
        file.write('{"type":"assistant","message":{"usage":{"inp\n')
    said = cli("costs", "--by", "session", "--json")
    assert [row["unreadable"] for row in said.lines] == [0, 1]
    assert "1 line could not be read" in said.err
    assert rows(cli, "--by", "agent")[0]["unreadable"] == 1


def test_names_from_outside_cannot_write_on_the_terminal(cli: Cli) -> None:
    transcript(B).write_text(line(B, "6", model="evil\x1b[2Jname"))
    for by in ("session", "model", "day", "agent", "turn", "call"):
        assert "\x1b" not in cli("costs", "--by", by).out


def test_a_codex_home_is_read_too(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    rollout = tmp_path / "codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-t1.jsonl"
    rollout.parent.mkdir(parents=True)
    used = {"input_tokens": 3000, "cached_input_tokens": 1000, "output_tokens": 200}
    used |= {"reasoning_output_tokens": 50, "total_tokens": 3200}
    told = [
        ("session_meta", {"id": "t1", "cwd": "/src/web"}),
        ("turn_context", {"turn_id": "n1", "model": "small"}),
        (
            "event_msg",
            {
                "type": "token_count",
                "info": {"total_token_usage": used, "last_token_usage": used},
            },
        ),
    ]
    at = "2026-11-02T09:00:00.000Z"
    rollout.write_text(
        "".join(
            json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n"
            for kind, payload in told
        )
    )
    (row,) = rows(cli, "--by", "session", "--agent", "codex")
    counts = {name: row[name] for name in ("input", "output", "cache_read", "reasoning")}
    assert counts == {"input": 2000, "output": 200, "cache_read": 1000, "reasoning": 50}
    assert row["cost_usd"] == 0.0041
