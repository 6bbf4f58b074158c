from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.identity.standing import AgentSide, Ancestry, leader_of, standing_of
from watchgate.service.system.process_table import Proc

INIT = Proc(1, "1", "systemd", sid=1)
USERS = Proc(9, "9", "systemd", sid=9)
WINDOW = Proc(15, "50", "gnome-terminal-", sid=15, program="gnome-terminal-server", vouched=True)
SHELL = Proc(20, "200", "bash", sid=20, tty=5)
AGENT = Proc(30, "300", "claude", sid=20, tty=5)
AGENTS = AgentSide(agents=((AGENT, SHELL, WINDOW, USERS, INIT),))
CLIENT_PID = 90


def client(start: str = "900", sid: int = 25, tty: int = 6) -> Proc:
    return Proc(CLIENT_PID, start, "watchgate", sid=sid, tty=tty)


def older_tab() -> Ancestry:
    """In a tab that was open before the agent, of the same window."""
    return client(), Proc(25, "250", "bash", sid=25, tty=6), WINDOW, USERS, INIT


def test_a_terminal_that_was_open_before_the_agent_is_clear() -> None:
    assert standing_of(older_tab(), AGENTS).standing == "clear"
    beside = client(sid=20, tty=5), SHELL, WINDOW, USERS, INIT
    assert standing_of(beside, AGENTS).standing == "clear", (
        "the agent's own terminal, while it rests"
    )


def test_the_agent_and_what_is_below_it_may_only_deny() -> None:
    below = client(sid=20, tty=5), AGENT, SHELL, WINDOW, USERS, INIT
    assert standing_of(below, AGENTS).standing == "below"
    assert standing_of((AGENT, SHELL, WINDOW, USERS, INIT), AGENTS).standing == "below"
    assert standing_of((), AgentSide()).standing == "below", "nobody can tell what started it"


@pytest.mark.parametrize("program", ["uv", "nice", "env", "fish"])
def test_what_a_person_puts_before_a_command_locks_nothing(program: str) -> None:
    before = Proc(26, "850", program, sid=25, tty=6, program=program)
    chain = (client(sid=25), before, OLDER, WINDOW, USERS, INIT)
    assert standing_of(chain, AGENTS).standing == "clear"


def test_what_an_agent_that_is_gone_may_have_left_behind_is_adrift() -> None:
    left, child = Proc(50, "150", "sh", sid=50), Proc(51, "160", "sh", sid=50)
    ended, now = Proc(28, "120", "claude"), AgentSide(agents=AGENTS.agents)
    for waiting in (left, Proc(50, "150", "script", sid=50, tty=7)):
        chain = (client(sid=waiting.sid, tty=waiting.tty), child, waiting, INIT)
        for side in (AgentSide(first=ended), AgentSide(agents=now.agents, first=ended)):
            found = standing_of(chain, side)
            assert (found.standing, found.adopted) == ("adrift", True)
    assert standing_of(older_tab(), AgentSide(agents=now.agents, first=ended)).standing == "clear"


def test_what_the_core_started_may_only_deny() -> None:
    core = Proc(40, "400", "watchgate", sid=40)
    assert standing_of((client(), core, INIT), AgentSide(core_pid=40)).standing == "below"
    assert standing_of((core, INIT), AgentSide(core_pid=40)).standing == "clear", (
        "the core's own console"
    )


TMUX = Proc(12, "120", "tmux: server", sid=12)
CRON = Proc(11, "110", "cron", sid=11)
CODE = Proc(14, "140", "code", sid=14, program="code")
PLAIN = Proc(14, "140", "main", sid=14)
DAEMON = Proc(13, "130", "daemon", sid=13)
SSHD = Proc(16, "160", "sshd", sid=16)

SERVER = Proc(26, "260", "node", sid=25, tty=6, program="node")
OLDER = Proc(25, "250", "bash", sid=25, tty=6)

LOCKED = {
    "a server that reloads": (client(sid=25), SERVER, OLDER, WINDOW, USERS, INIT),
    "a shell of such a server": (
        client(sid=25),
        Proc(27, "850", "sh", sid=25, tty=6),
        SERVER,
        OLDER,
        WINDOW,
        USERS,
        INIT,
    ),
    "a server that is a window's only program": (
        client(sid=25),
        Proc(25, "250", "vite", sid=25, tty=6, program="node"),
        WINDOW,
        USERS,
        INIT,
    ),
    "an older tmux": (client(), Proc(25, "250", "bash", sid=25, tty=6), TMUX, USERS, INIT),
    "a window of an older tmux": (client(), Proc(25, "850", "sh", sid=25, tty=6), TMUX, INIT),
    "cron, though it has a terminal": (client(), Proc(25, "850", "sh", sid=25, tty=6), CRON, INIT),
    "an editor": (client(), Proc(25, "250", "bash", sid=25, tty=6), CODE, USERS, INIT),
    "a younger tab": (client(), Proc(25, "301", "bash", sid=25, tty=6), WINDOW, USERS, INIT),
    "a tab of the same moment": (client(), Proc(25, "300", "sh", sid=25, tty=6), WINDOW, INIT),
    "a younger pty below a program": (
        client(),
        Proc(25, "850", "sh", sid=25, tty=6),
        Proc(24, "240", "python3", sid=20, tty=5),
        SHELL,
        WINDOW,
        USERS,
        INIT,
    ),
    "what a daemon started": (client(sid=13, tty=6), DAEMON, INIT),
    "an ssh login from here": (
        client(),
        Proc(25, "250", "bash", sid=25, tty=6, from_here=True),
        SSHD,
        INIT,
    ),
    "a container entered after the agent": (client(), Proc(25, "850", "sh", sid=25, tty=6)),
    "a younger window": (
        client(),
        Proc(25, "850", "bash", sid=25, tty=6),
        Proc(70, "840", "kitty", sid=70, vouched=True),
        USERS,
        INIT,
    ),
}


@pytest.mark.parametrize("chain", LOCKED.values(), ids=LOCKED)
def test_a_terminal_in_which_an_agent_could_have_started_it_is_locked(chain: Ancestry) -> None:
    found = standing_of(chain, AGENTS)
    assert found.standing == "locked"
    assert found.why
    assert standing_of(chain, AgentSide()).standing == "clear", (
        "while no agent is known and no session open"
    )


ADRIFT = {
    "by itself": (client(), INIT),
    "below a shell that detached itself": (client(sid=80), Proc(80, "800", "sh", sid=80), USERS),
    "in a multiplexer of its own": (
        client(),
        Proc(25, "850", "sh", sid=25, tty=6),
        Proc(70, "700", "tmux: server", sid=70),
        INIT,
    ),
    "of the agent's moment": (client(sid=80), Proc(80, "300", "sh", sid=80), INIT),
    "in the session of a leader that is gone": (
        client(sid=77),
        Proc(88, "880", "sh", sid=77),
        Proc(21, "210", "reaper", sid=21),
        INIT,
    ),
    "without a terminal, below cron": (client(tty=0), Proc(25, "850", "sh", sid=25), CRON, INIT),
}


@pytest.mark.parametrize("chain", ADRIFT.values(), ids=ADRIFT)
def test_what_an_agent_could_have_set_adrift_may_let_nothing_run(chain: Ancestry) -> None:
    assert standing_of(chain, AGENTS).standing == "adrift"


def test_what_the_first_process_of_a_container_adopts_is_adrift() -> None:
    first = Proc(1, "1", "bash", sid=1, tty=5)
    agents = AgentSide(agents=((AGENT, first),))
    assert standing_of((client(sid=1, tty=5), first), agents).standing == "adrift"


def test_what_the_cores_handlers_may_have_left_behind_is_adrift() -> None:
    core = Proc(40, "400", "watchgate", sid=40)
    left = client(sid=80), Proc(80, "800", "sh", sid=80), INIT
    assert standing_of(left, AgentSide(starter=core)).standing == "adrift"


HOST = Proc(16, "160", "host", sid=14)
TERMINALS = Proc(17, "170", "ptyhost", sid=14)


def in_an_editor(main: Proc) -> AgentSide:
    """As in VS Code: the agent below one child of the main process, shells below another."""
    return AgentSide(agents=((Proc(30, "300", "node", sid=14), HOST, main, USERS, INIT),))


@pytest.mark.parametrize("main", [PLAIN, CODE])
@pytest.mark.parametrize(
    "shell",
    [Proc(25, "850", "sh", sid=25, tty=6), Proc(26, "250", "sh", sid=14)],
    ids=["a younger terminal", "no terminal of its own"],
)
def test_the_commands_of_an_editors_own_agent_are_locked(main: Proc, shell: Proc) -> None:
    chain = client(sid=shell.sid, tty=shell.tty), shell, TERMINALS, main, USERS, INIT
    found = standing_of(chain, in_an_editor(main), decides=True)
    assert found.standing == ("locked" if shell.tty else "adrift")


def test_an_older_terminal_is_locked_where_its_opener_is_an_editor_and_else_clear() -> None:
    shell = Proc(25, "250", "bash", sid=25, tty=6)
    chains = {main: (client(), shell, TERMINALS, main, USERS, INIT) for main in (PLAIN, CODE)}
    assert standing_of(chains[CODE], in_an_editor(CODE)).standing == "locked"
    assert standing_of(chains[PLAIN], in_an_editor(PLAIN)).standing == "clear", (
        "an emulator of any name"
    )


def test_a_desktop_above_both_is_no_agents_side() -> None:
    i3 = Proc(14, "140", "i3", sid=14)
    own = Proc(18, "180", "xterm", sid=14)
    agents = AgentSide(agents=((AGENT, SHELL, Proc(19, "190", "xterm", sid=14), i3, INIT),))
    shell = Proc(25, "250", "bash", sid=25, tty=6)
    assert standing_of((client(), shell, own, i3, INIT), agents).standing == "clear"
    started = client(sid=14, tty=0), Proc(26, "860", "sh", sid=14), i3, INIT
    assert standing_of(started, agents).standing == "adrift", "i3-msg exec"


def test_with_a_session_open_whose_agent_nobody_knows_nobody_is_clear() -> None:
    found = standing_of(older_tab(), AgentSide(unaccounted=True))
    assert found.standing == "locked"
    assert "session is open" in found.why


def test_the_terminal_is_known_by_its_leader_with_an_unbroken_way_down() -> None:
    tab = older_tab()
    assert leader_of(tab) == tab[1]
    assert leader_of(()) is None
    assert leader_of((client(sid=77), INIT)) is None, "the leader is gone"
    first = Proc(1, "1", "bash", sid=1, tty=5)
    assert leader_of((client(sid=1, tty=5), first)) is None, "it adopts what loses its parent"


def test_where_no_sessions_are_told_the_terminal_is_known_by_its_number() -> None:
    shell = Proc(25, "250", "zsh", tty=6)
    login = Proc(24, "240", "login", tty=6)
    chain = Proc(90, "900", "watchgate", tty=6), shell, login, Proc(15, "50", "Terminal"), INIT
    assert leader_of(chain) == login
    assert standing_of(chain, AGENTS).standing == "clear"
    younger = chain[0], shell, Proc(24, "340", "login", tty=6), *chain[3:]
    assert standing_of(younger, AGENTS).standing == "locked"


@st.composite
def chains(draw: st.DrawFn) -> Ancestry:
    """Any way up: names, ages, sessions and terminals as they come."""
    length = draw(st.integers(0, 5))
    made = [
        Proc(
            pid,
            str(draw(st.integers(1, 600))),
            draw(st.sampled_from(["bash", "tmux: server", "cron", "python3", "systemd", "sshd"])),
            sid=draw(st.sampled_from([0, pid, pid + 1, 100])),
            tty=draw(st.sampled_from([0, 5])),
            vouched=draw(st.booleans()),
        )
        for pid in range(100, 100 + length)
    ]
    ends = draw(st.sampled_from([(), (INIT,)]))
    return (*made, *ends) if made else ()


@given(chains(), st.integers(1, 600), st.integers(1, 600))
def test_no_agent_more_ever_makes_anybody_stand_better(chain: Ancestry, one: int, two: int) -> None:
    order = ["below", "adrift", "locked", "clear"]
    first = (Proc(30, str(one), "claude"),)
    second = (Proc(31, str(two), "codex"),)
    alone, both = (
        standing_of(chain, AgentSide(agents=(first,))),
        standing_of(chain, AgentSide(agents=(first, second))),
    )
    assert order.index(both.standing) <= order.index(alone.standing)


@given(chains(), st.integers(1, 600))
def test_whoever_is_clear_has_no_younger_leader_above(chain: Ancestry, start: int) -> None:
    if (
        standing_of(chain, AgentSide(agents=((Proc(30, str(start), "claude"),),))).standing
        == "clear"
    ):
        leaders = [each for each in chain[:-1] if each.sid == each.pid]
        assert all(int(each.start) < start for each in leaders)
        assert not any(each.comm in ("tmux: server", "cron") for each in chain[1:])
