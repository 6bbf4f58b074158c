"""Running agents against the sessions that were heard."""

from __future__ import annotations

import msgspec

from watchgate.agents.agent_facts import traits_in
from watchgate.agents.registry import ADAPTERS
from watchgate.core.gate.gate_coverage import SessionProcess
from watchgate.core.model.records import Draft
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.service.watch.coverage.coverage_comparison import (
    GRACE_S,
    CoverageComparison,
    Key,
    MachineClocks,
)
from watchgate.service.watch.coverage.processes import AgentProcess, InstalledHooks

AT = MachineClocks(wall_us=10_000_000_000, up_s=1_000.0, ticks=100)
CLAUDE = AgentProcess(agent="claude", pid=7, start=50_000, cwd="/home/u/app")
CODEX = msgspec.structs.replace(CLAUDE, agent="codex")
NEVER = InstalledHooks(None)
LONG_AGO = InstalledHooks(100.0)
TRAITS = traits_in(ADAPTERS)
HEARD = SessionView(
    agent="claude", session="one", label="app", cwd="/home/u/app", seen_at=AT.wall_us
)


class Case:
    """A watch, how the hooks stand, and what it learned."""

    def __init__(self, hooks: InstalledHooks = LONG_AGO) -> None:
        self.learned: dict[Key, SessionProcess] = {}
        self.driven: set[Key] = set()
        self.watch = CoverageComparison(
            self._learn, lambda _agent: hooks, self.driven.__contains__, TRAITS
        )

    def _learn(self, agent: str, session: str, around: SessionProcess) -> None:
        self.learned[agent, session] = around

    def sees(
        self, *found: AgentProcess, sessions: tuple[SessionView, ...] = (), at: MachineClocks = AT
    ) -> list[Draft]:
        return self.watch.compare(list(found), {(v.agent, v.session): v for v in sessions}, at)


def test_an_agent_of_which_nothing_was_heard_is_told_of_once() -> None:
    case = Case()
    (draft,) = case.sees(CODEX)
    assert (draft.kind, draft.agent, draft.session) == ("policy.ungated", "codex", "pid 7")
    assert "no hook of it was ever heard" in draft.data.why
    assert draft.data.cwd == "/home/u/app"
    assert case.sees(CODEX) == []


def test_an_agent_that_nobody_has_asked_anything_yet_is_no_alarm() -> None:
    """OpenCode and Copilot run no hook before their first prompt, however long they are open."""
    idle = msgspec.structs.replace(CLAUDE, agent="opencode")
    assert Case().sees(idle) == []
    (draft,) = Case(InstalledHooks(None)).sees(idle)
    assert "run watchgate install opencode" in draft.data.why


def test_an_agent_and_its_launcher_are_one() -> None:
    child = msgspec.structs.replace(CLAUDE, pid=8, parent=7)
    assert [draft.session for draft in Case(NEVER).sees(CLAUDE, child)] == ["pid 7"]


def test_an_agent_is_given_time_to_say_something() -> None:
    young = msgspec.structs.replace(CLAUDE, start=round((AT.up_s - GRACE_S + 1) * AT.ticks))
    assert Case().sees(young) == []


def test_the_cause_is_told_where_the_system_shows_it() -> None:
    bare = msgspec.structs.replace(CLAUDE, hooks_off="--bare")
    causes = [
        Case().sees(bare)[0].data,
        Case(InstalledHooks(100.0, disabled=True)).sees(CLAUDE)[0].data,
        Case(InstalledHooks(9_600.0)).sees(CODEX)[0].data,
        Case(InstalledHooks(None)).sees(CLAUDE)[0].data,
    ]
    words = ["(--bare)", "(disableAllHooks", "start it again", "run watchgate install claude"]
    assert [data.cause for data in causes] == ["hooks-off", "hooks-off", "began-before", "unknown"]
    assert all(word in data.why for word, data in zip(words, causes, strict=True))


def test_an_agent_whose_hooks_were_heard_is_left_alone_and_known_better() -> None:
    case = Case(InstalledHooks(9_600.0))
    heard = msgspec.structs.replace(HEARD, agent="codex")
    assert case.sees(CODEX, sessions=(heard,)) == []
    assert case.learned == {("codex", "one"): SessionProcess(began_before=True)}


def test_an_open_session_that_takes_its_hooks_up_by_itself_is_in_order_once_they_are_there() -> (
    None
):
    hooks = [InstalledHooks(None)]
    case = Case()
    case.watch = CoverageComparison(
        case._learn, lambda _agent: hooks[0], case.driven.__contains__, TRAITS
    )
    (told,) = case.sees(CLAUDE)
    assert "run watchgate install claude" in told.data.why
    hooks[0] = InstalledHooks(9_600.0)
    (over,) = case.sees(CLAUDE)
    assert (over.kind, over.session, over.data.state) == ("policy.inferred", "pid 7", "gone")
    assert over.data.why == "its hooks are installed and trusted now"
    assert case.sees(CLAUDE, sessions=(HEARD,)) == []
    assert case.learned == {("claude", "one"): SessionProcess()}, "nothing tells it to start again"


def test_a_session_from_before_the_process_is_not_its_own() -> None:
    old = msgspec.structs.replace(HEARD, seen_at=AT.began_us(CLAUDE) - 1)
    assert len(Case(NEVER).sees(CLAUDE, sessions=(old,))) == 1


def test_an_agent_that_speaks_after_all_is_no_session_of_its_own_any_more() -> None:
    case = Case(NEVER)
    case.sees(CLAUDE)
    (draft,) = case.sees(CLAUDE, sessions=(HEARD,))
    assert (draft.kind, draft.session, draft.data.state) == ("policy.inferred", "pid 7", "gone")


def test_a_process_that_ended_takes_its_line_along() -> None:
    case = Case(NEVER)
    case.sees(CLAUDE)
    (draft,) = case.sees()
    assert (draft.kind, draft.session) == ("policy.inferred", "pid 7")
    assert case.sees() == []


def test_a_session_whose_agent_has_ended_is_inferred_to_be_gone_once() -> None:
    case = Case()
    case.watch.note_process("claude", "one", (7, 50_000))
    assert case.sees(CLAUDE, sessions=(HEARD,)) == []
    (draft,) = case.sees(sessions=(HEARD,))
    assert (draft.kind, draft.session, draft.data.state) == ("policy.inferred", "one", "gone")
    assert "no event told" in draft.data.why
    assert case.sees(sessions=(HEARD,)) == []


def test_a_wrapper_that_ends_with_its_call_says_nothing_of_the_session() -> None:
    case = Case()
    case.watch.note_process("claude", "one", (99, 1))
    assert case.sees(sessions=(HEARD,)) == []
    assert case.sees(sessions=(HEARD,)) == []


def test_a_session_that_told_its_own_end_is_not_ended_again() -> None:
    case = Case()
    case.watch.note_process("claude", "one", (7, 50_000))
    case.sees(CLAUDE, sessions=(HEARD,))
    ended = msgspec.structs.replace(HEARD, state=SessionState.GONE)
    assert case.sees(sessions=(ended,)) == []


QUIET = msgspec.structs.replace(
    HEARD, agent="opencode", seen_at=AT.wall_us - round((GRACE_S + 1) * 1_000_000)
)
OPENCODE = msgspec.structs.replace(CLAUDE, agent="opencode")


def test_a_session_without_any_process_of_its_agent_in_its_folder_is_inferred_to_be_gone() -> None:
    case = Case()
    assert case.sees(OPENCODE, sessions=(QUIET,)) == []
    (draft,) = case.sees(msgspec.structs.replace(OPENCODE, cwd="/else"), sessions=(QUIET,))
    assert (draft.kind, draft.session, draft.data.state) == ("policy.inferred", "one", "gone")
    assert "no process of its agent is left" in draft.data.why
    assert case.sees(sessions=(QUIET,)) == []


def test_another_process_of_the_agent_in_the_folder_may_be_the_one_of_the_session() -> None:
    case = Case()
    case.sees(OPENCODE, sessions=(QUIET,))
    other = msgspec.structs.replace(OPENCODE, pid=8, start=60_000)
    assert case.sees(other, sessions=(QUIET,)) == []


def test_a_session_that_was_heard_just_now_is_not_gone() -> None:
    case = Case()
    fresh = msgspec.structs.replace(QUIET, seen_at=AT.wall_us - 1_000_000)
    case.sees(OPENCODE, sessions=(fresh,))
    assert case.sees(sessions=(fresh,)) == []
    assert len(case.sees(sessions=(QUIET,))) == 1, "later it is"


def test_a_session_that_never_had_a_process_here_is_somewhere_else() -> None:
    assert Case().sees(sessions=(QUIET,)) == []


def test_a_session_that_a_proxy_tells_of_is_not_judged_by_processes() -> None:
    case = Case()
    case.driven.add(("opencode", "one"))
    case.sees(OPENCODE, sessions=(QUIET,))
    assert case.sees(sessions=(QUIET,)) == []


def test_a_session_that_is_told_of_again_lives_and_may_be_gone_again() -> None:
    case = Case()
    case.sees(OPENCODE, sessions=(QUIET,))
    gone = msgspec.structs.replace(QUIET, state=SessionState.GONE)
    assert len(case.sees(sessions=(QUIET,))) == 1
    assert case.sees(OPENCODE, sessions=(gone,)) == []
    case.sees(OPENCODE, sessions=(QUIET,))
    assert len(case.sees(sessions=(QUIET,))) == 1


def test_a_trusted_agent_that_waits_for_its_first_prompt_is_in_order() -> None:
    assert Case(InstalledHooks(100.0, trusted=True)).sees(CODEX) == []
    assert len(Case(InstalledHooks(None, trusted=False)).sees(CODEX)) == 1


def test_what_was_told_of_an_agent_is_taken_back_once_it_trusts_its_hooks() -> None:
    hooks = [LONG_AGO]
    watch = CoverageComparison(
        lambda *_: None, lambda _agent: hooks[0], lambda _session: False, TRAITS
    )
    assert len(watch.compare([CODEX], {}, AT)) == 1
    hooks[0] = InstalledHooks(100.0, trusted=True)
    (draft,) = watch.compare([CODEX], {}, AT)
    assert (draft.session, draft.data.why) == ("pid 7", "its hooks are installed and trusted now")
    assert watch.compare([CODEX], {}, AT) == []
