"""Programs by name that matter above a terminal: those that open it or start commands in it.

A process chooses its own name, so nothing is allowed for one that an agent could have started:
names only tell apart what is older than the agent.
"""

from __future__ import annotations

from watchgate.service.peer import INITS, WSL_RELAY
from watchgate.service.process_table import Proc

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
    for name in (process.program, *_words(process.comm)):
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


def _words(comm: str) -> tuple[str, ...]:
    """Returns a kernel's name and its first word: tmux calls itself `tmux: server`."""
    return comm, comm.partition(":")[0].partition(" ")[0]
