"""The process at the other end of a socket, and the agent above it.

The kernel names the peer; its ancestors are read once, at accept, while they still live. Against a
hostile process of the same user this is a hurdle, not a wall.

A shell's own command line: a shell that runs a command, or one that a person types into.

- Programs by name that matter above a terminal: those that open it or start commands in it. A
  process chooses its own name, so nothing is allowed for one that an agent could have started:
  names only tell apart what is older than the agent.
- A client's ancestors with all fields that its standing depends on, read once from the system.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from itertools import pairwise
from pathlib import Path, PurePath

import msgspec

from watchgate.service.system.process_table import Proc, ancestors

_SHELL_NAMES = frozenset(
    """sh bash dash zsh ksh mksh ash fish csh tcsh busybox rbash rksh oksh yash posh nu elvish
    pwsh""".split()
)
_TAKE_A_VALUE = frozenset(
    {"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"}
)


def is_working_shell(cmd: tuple[str, ...], comm: str) -> bool:
    """Returns whether this process is a shell run with `-c`, `-s` or a script.

    A shell without any of them is one that somebody types into. `cmd` is its argv, empty where it
    cannot be read, which shows nothing about a shell's use: then it counts as typed into.
    """
    name, words = _own_words(cmd)
    if (name or comm) not in _SHELL_NAMES:
        return False
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-", "--"):
            continue
        elif word.startswith("--"):
            if word.startswith("--command"):
                return True
            skip = word in _TAKE_A_VALUE
        elif word[:1] in ("-", "+") and len(word) > 1:
            # PowerShell writes its options as words: -Command, -File.
            runs_command = word.lower() in ("-command", "-file") or any(c in word[1:] for c in "cs")
            if word[0] == "-" and runs_command:
                return True
            skip = word in _TAKE_A_VALUE
        else:
            return True
    return False


def _own_words(cmd: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if not cmd:
        return "", ()
    name = PurePath(cmd[0]).name.removeprefix("-")
    if name == "busybox" and len(cmd) > 1:
        return PurePath(cmd[1]).name, cmd[2:]
    return name, cmd[1:]


__all__ = ["INITS", "Peer", "Proc", "agent_of", "ancestors", "credentials", "is_below"]

INITS = frozenset({"init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit"})
"""Names of first processes, of the system or of a user: what is orphaned becomes their child."""

WSL_RELAY = "Relay("
"""The beginning of the name of WSL's process above each terminal, which adopts orphans there."""

# From <sys/un.h> and <sys/ucred.h> of macOS, which the socket module does not name.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2
_XUCRED = struct.Struct("@IIh16I")
_UCRED = struct.Struct("@iII")


class Peer(msgspec.Struct, frozen=True):
    """The process that connected; `pid` is 0 where it has no number here (another container)."""

    pid: int
    uid: int
    gid: int


def credentials(connection: socket.socket) -> Peer:
    """Returns the process that connected; raises `OSError` when the kernel does not name it."""
    if sys.platform == "darwin":
        _, uid, _, gid, *_ = _XUCRED.unpack(
            connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        )
        try:
            pid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
        except OSError:
            pid = 0
        return Peer(pid, uid, gid)
    return Peer(
        *_UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    )


def agent_of(chain: tuple[Proc, ...]) -> Proc | None:
    """Returns the agent above a hook client: the first process that is no shell doing a command.

    `chain` begins with the client itself. None when the way up is lost: an empty chain, or nothing
    left but what adopts orphans. Taken for the agent, that would make agents of all terminals.
    """
    for number, process in enumerate(chain[1:], 1):
        if not is_working_shell(process.cmd, process.comm):
            return None if _adopts_all(chain[number:]) else process
    return None


def is_below(chain: tuple[Proc, ...], agent: Proc) -> bool:
    """Returns whether the process at the beginning of `chain` is the agent or below it.

    An empty chain is below nobody: who may not be known may not decide, and the caller asks that
    first.
    """
    return any((one.pid, one.start) == (agent.pid, agent.start) for one in chain)


def _adopts_all(chain: tuple[Proc, ...]) -> bool:
    """Returns whether only first processes are left: the system's, the user's or WSL's own."""
    first = all(one.comm in INITS for one in chain) and chain[-1].pid == 1
    return first or chain[0].comm.startswith(WSL_RELAY)


_COMM_CHARS = 15
"""So much of a name the kernel keeps."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


WINDOWS = _names(
    """alacritty deepin-terminal foot footclient ghostty gnome-terminal-server kgx kitty konsole
    lxterminal mate-terminal ptyxis qterminal rio st terminology tilix urxvt wezterm-gui
    xfce4-terminal xterm yakuake Terminal iTerm2 Ghostty Alacritty"""
)
"""Started without a word, these open a window with a shell for a person."""

_DESKTOPS = _names(
    """awesome bspwm cinnamon cinnamon-session dwm gdm-wayland-session gdm-x-session gnome-session
    gnome-session-binary gnome-shell herbstluftwm Hyprland i3 kded5 kded6 krunner ksmserver
    kwin_wayland kwin_x11 labwc lxqt-panel lxqt-session lxsession marco mate-panel mate-session
    mutter niri openbox plasmashell plasma_session river sddm-helper startplasma-wayland
    startplasma-x11 startx sway wayfire weston xfce4-panel xfce4-session xfdesktop xfwm4 xinit
    xmonad Finder Dock"""
)
_LOGINS = _names("agetty doas getty login sshd su sudo systemd-logind")
_MULTIPLEXERS = _names(
    "abduco byobu dtach dvtm gotty mprocs screen SCREEN shpool tmate tmux ttyd wetty zellij"
)
_EDITORS = _names(
    """antigravity atom clion code code-insiders code-oss code-server code-tunnel codium cursor
    datagrip devenv electron emacs emacsclient fleet gedit goland gvim helix hx idea idea64 kakoune
    kak kate kiro lapce micro nvim openvscode-server phpstorm pycharm rider rubymine rustrover
    studio sublime_text theia trae vi vim vscodium webstorm windsurf zed zed-editor"""
)
_SCHEDULERS = _names(
    "anacron at atd atrun batch cron crond dcron fcron launchctl snooze supervisord"
)
_LAUNCHERS = _names(
    "caffeinate env mise nice nohup pipx setsid stdbuf strace systemd-inhibit time uv uvx watchgate"
)
"""A person puts these before a command, which they run unchanged."""

_SHELLS = _names(
    """ash bash busybox csh dash elvish fish ksh ksh93 mksh nu oksh posh pwsh rbash sh tcsh xonsh
    yash zsh"""
)
_JETBRAINS = ("com.intellij.", "com.jetbrains.", "-Didea.")

KINDS = {
    **dict.fromkeys(_MULTIPLEXERS, "{} is a terminal multiplexer"),
    **dict.fromkeys(_EDITORS, "{} is an editor"),
    **dict.fromkeys(_SCHEDULERS, "{} runs commands at a time"),
}
"""Programs that start a command for whoever asks them, an agent too, and in what words."""

_OPENS = WINDOWS | _DESKTOPS | _LOGINS
_KNOWN = _OPENS | KINDS.keys()
_CUT = {name[:_COMM_CHARS]: name for name in _KNOWN}


def name_of(process: Proc) -> str:
    """Returns the name by which a program is known here: its file's, or the kernel's."""
    for name in (process.program, *_comm_names(process.comm)):
        for known in (name, name.rstrip("0123456789.-"), name.lower()):
            if known in _KNOWN:
                return known
            if known in _CUT:
                return _CUT[known]
    return process.program or process.comm


def starts_for_others(process: Proc) -> str:
    """Returns in words that a program starts commands for others; empty where it does not."""
    name = name_of(process)
    if any(word.startswith(_JETBRAINS) for word in process.cmd):
        return KINDS["idea"].format("a JetBrains program")
    return KINDS[name].format(name) if name in KINDS else ""


def opens_terminals(process: Proc) -> bool:
    """Returns whether it opens terminals for a person: a window, a desktop, or a login."""
    return name_of(process) in _OPENS or process.comm.startswith("sshd")


def hands_on(process: Proc) -> bool:
    """Returns whether it stands between a person and a command, and runs nothing by itself.

    That is a shell, a launcher such as `env` or `nice`, or a program that opens terminals.
    """
    passes = name_of(process) in _SHELLS | _LAUNCHERS
    return passes or opens_terminals(process) or is_init(process)


def is_init(process: Proc) -> bool:
    """Returns whether it is the first process of a system or a user, or WSL's of a terminal."""
    first = process.pid == 1 or process.comm in INITS
    return first or process.comm.startswith(WSL_RELAY)


def _comm_names(comm: str) -> tuple[str, ...]:
    """Returns a kernel's name and its first word: tmux calls itself `tmux: server`."""
    return comm, comm.partition(":")[0].partition(" ")[0]


# How a desktop starts a terminal program that hands out its windows; it opens none by itself.
_AS_SERVICE = ("--gapplication-service",)
_ENVIRON_BYTES = 256 * 1024


def chain_of(pid: int) -> tuple[Proc, ...]:
    """Returns the process and its ancestors, with their programs; empty where some are hidden."""
    return with_programs(ancestors(pid))


def with_programs(chain: tuple[Proc, ...]) -> tuple[Proc, ...]:
    """Returns the chain with the fields of `Proc` that only this module fills in."""
    if not chain:
        return ()
    described = [
        msgspec.structs.replace(
            below,
            program=_program(below),
            vouched=adopts(above, below) and (_is_anothers(below) or _is_window(below)),
            from_here=_is_login(above, below) and _came_from_here(below),
        )
        for below, above in pairwise(chain)
    ]
    return (*described, msgspec.structs.replace(chain[-1], program=_program(chain[-1])))


def adopts(above: Proc, below: Proc) -> bool:
    """Returns whether `below` may have lost its parent and become a child of `above`.

    A first process adopts. So does any that asks the system to, which shows where a process that
    leads no session is not in its parent's.
    """
    if is_init(above):
        return True
    return bool(below.sid) and below.sid not in (below.pid, above.sid)


def terminal_name(tty: int) -> str:
    """Returns a terminal's usual name by its number in `/proc/PID/stat`: "pts/3"."""
    if not tty:
        return ""
    if sys.platform == "darwin":
        return f"ttys{tty - 1:03d}"
    major, minor = os.major(tty), os.minor(tty)
    if 136 <= major <= 143:
        return f"pts/{(major - 136) * 256 + minor}"
    return f"tty{minor}" if major == 4 else f"{major}:{minor}"


def _program(process: Proc) -> str:
    try:
        return Path(f"/proc/{process.pid}/exe").readlink().name.removesuffix(" (deleted)")
    except OSError:
        # Of others, and where there is no /proc, its own word has to do.
        return PurePath(process.cmd[0]).name.lstrip("-") if process.cmd else ""


def _is_anothers(process: Proc) -> bool:
    """Returns whether its real user is another: whatever an agent starts keeps the agent's."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8", "replace")
    except OSError:
        return False
    users = next((line for line in status.splitlines() if line.startswith("Uid:")), "").split()
    return len(users) > 1 and int(users[1]) != os.getuid()


def _is_window(process: Proc) -> bool:
    # `xterm -e COMMAND` runs what it is told; `kitty +runpy` does not even open a window.
    if not process.cmd or process.cmd[1:] not in ((), _AS_SERVICE):
        return False
    if sys.platform != "linux":
        return PurePath(process.cmd[0]).name in WINDOWS
    # A process chooses its own name and argv, but not the file that it runs.
    executable = Path(f"/proc/{process.pid}/exe")
    try:
        return executable.stat().st_uid == 0 and executable.readlink().name in WINDOWS
    except OSError:
        return False


def _is_login(above: Proc, below: Proc) -> bool:
    return above.comm.startswith("sshd") and not below.comm.startswith("sshd")


def _came_from_here(process: Proc) -> bool:
    """Returns whether this ssh login came from this machine, or from an unknown place."""
    try:
        with Path(f"/proc/{process.pid}/environ").open("rb") as file:
            variables = file.read(_ENVIRON_BYTES).split(b"\0")
    except OSError:
        return True
    connection = next((each for each in variables if each.startswith(b"SSH_CONNECTION=")), b"")
    match connection.partition(b"=")[2].split():
        case [client, _, server, _]:
            return client in (server, b"::1") or client.startswith((b"127.", b"::ffff:127."))
    return True
