"""The built-in rules for shell commands: the shapes that are high or critical everywhere.

Each rule states one principle. What no rule knows stays unknown and is asked.
"""

from __future__ import annotations

import re

from watchgate.core.policy import sensitive
from watchgate.core.policy.folders import Place
from watchgate.core.policy.rule import Rule, Shape
from watchgate.core.policy.words import names
from watchgate.core.policy.wrappers import INTERPRETERS, SHELLS

_DOWNLOADERS = names("curl wget fetch http https xh aria2c lynx ftp nc ncat netcat socat")
_SENDERS = _DOWNLOADERS | names("ssh scp sftp rsync telnet mail sendmail")
_RECURSIVE = names("-r -R --recursive")
_MOVERS = names("rm mv chmod chown ln rmdir unlink shred truncate rsync")
_OWN = names("watchgate wgate")
_OWN_READS = ("status", "ls", "show", "tail", "search", "policy", "costs", "lookback", "schema")
_REMOVE = ("uninstall", "remove", "tool uninstall", "pip uninstall")

# Each opens a window of its own, or has one that is open already run something.
_WINDOWS = names(
    """alacritty foot footclient ghostty gnome-terminal guake kgx konsole kstart lxterminal
    mate-terminal ptyxis qterminal rxvt st terminator tilix urxvt urxvtc wezterm-gui
    x-terminal-emulator xdg-terminal-exec xfce4-terminal xterm yakuake"""
)
_NAMES_A_WINDOW = re.compile(
    r"(?i)terminal|iterm|kgx|konsole|yakuake|guake|ptyxis|tilix|ghostty|kitty|alacritty"
)

_SIGNALS = names("-9 -15 -KILL -TERM -SIGKILL -SIGTERM -s --")

_DOWNLOAD = Shape(programs=_DOWNLOADERS)
_SECRET_SOURCE = (
    Shape(path=sensitive.secret),
    Shape(reads=sensitive.secret),
    Shape(programs=names("printenv env export set"), alone=True),
)

SHELL_RULES = (
    Rule(
        id="files.delete-everything",
        risk="critical",
        reason="Deletes folders outside the session, the home or the whole system",
        shapes=(
            Shape(programs=names("rm"), flags=_RECURSIVE, path=Place.sweeping),
            Shape(programs=names("rm"), flags=names("--no-preserve-root")),
            Shape(programs=names("find"), flags=names("-delete"), path=Place.sweeping),
        ),
        # Atomic up to its first letter: many of them must not be tried as many times.
        raw=re.compile(
            r"\brm\s+-(?>[^;|&\nrR]{0,99}[rR])[^;|&\n]{0,198}\s[\"']?(?:/|~|\$HOME|\$\{HOME)"
        ),
    ),
    Rule(
        id="files.delete-recursive",
        risk="high",
        reason="Deletes folders with everything in them",
        shapes=(
            Shape(programs=names("rm"), flags=_RECURSIVE),
            Shape(programs=names("find"), flags=names("-delete")),
            Shape(
                programs=names("rsync"), flags=names("--delete --delete-after --delete-excluded")
            ),
        ),
        raw=re.compile(r"\brm\s+(?:-\S{1,20}\s{1,9}){0,5}(?:-[a-zA-Z]*[rR]|--r)"),
    ),
    Rule(
        id="git.force-push",
        risk="high",
        reason="Rewrites or deletes history on the remote",
        shapes=(
            Shape(programs=names("git"), sub=("push",), flags=names("-f --force --mirror --prune")),
            Shape(programs=names("git"), sub=("push",), flags=names("-d --delete")),
            Shape(programs=names("git"), sub=("push",), args=re.compile(r"^[+:]\S")),
        ),
        raw=re.compile(
            r"\bgit\b[^;|&\n]{0,99}\bpush\b[^;|&\n]{0,99}\s(?:-\w*f|--force(?!-)|--mirror|\+\w)"
        ),
    ),
    Rule(
        id="git.discard",
        risk="high",
        reason="Throws away changes or commits that may exist nowhere else",
        shapes=(
            Shape(programs=names("git"), sub=("reset",), flags=names("--hard --merge")),
            Shape(
                programs=names("git"),
                sub=("clean",),
                flags=names("-f --force -d -x -X"),
                without=names("-n --dry-run"),
            ),
            Shape(programs=names("git"), sub=("checkout",), args=re.compile(r"^(?:--|\.|:/)$")),
            Shape(programs=names("git"), sub=("checkout", "switch"), flags=names("-f --force")),
            Shape(programs=names("git"), sub=("switch",), flags=names("--discard-changes")),
            Shape(programs=names("git"), sub=("restore",), without=names("-S --staged")),
            Shape(programs=names("git"), sub=("restore",), flags=names("-W --worktree")),
            Shape(programs=names("git"), sub=("branch",), flags=names("-D")),
            Shape(
                programs=names("git"),
                sub=("stash drop", "stash clear", "reflog expire", "reflog delete"),
            ),
            Shape(programs=names("git"), sub=("filter-branch", "filter-repo", "update-ref")),
        ),
        raw=re.compile(
            r"\bgit\b[^;|&\n]{0,99}\b(?:reset\b[^;|&\n]{0,99}--h|clean\b[^;|&\n]{0,99}\s-\w*[fdxX])"
        ),
    ),
    Rule(
        id="net.run-download",
        risk="critical",
        reason="Runs code straight from the network",
        shapes=(
            Shape(programs=SHELLS, without=names("-c"), piped_from=_DOWNLOAD),
            Shape(programs=SHELLS, flags=names("-s"), piped_from=_DOWNLOAD),
            Shape(
                programs=SHELLS | INTERPRETERS | names("eval source . exec"),
                built_from=_DOWNLOAD,
            ),
            Shape(
                programs=INTERPRETERS,
                without=names("-c -e -m -E -n -p --eval"),
                alone=True,
                piped_from=_DOWNLOAD,
            ),
        ),
        raw=re.compile(
            r"\b(?:curl|wget)\b[^\n]{0,199}\|\s*"
            r"(?:[\w-]{1,20}\s{1,9}){0,3}(?:[/\w]{1,20}/)?(?:ba|z|da|k|fi)?sh\b"
            r"|\b(?:eval|source|(?:ba|z|da|k)?sh)\b[^;|\n]{0,99}[`(]\s*(?:curl|wget)\b"
        ),
    ),
    Rule(
        id="system.privilege",
        risk="high",
        reason="Runs with another user's rights",
        shapes=(Shape(programs=names("sudo sudoedit su doas pkexec run0 runuser visudo")),),
        raw=re.compile(r"(?<![\w.-])(?:sudo|doas|pkexec)\s"),
    ),
    Rule(
        id="system.permissions",
        risk="high",
        reason="Opens files to everybody or changes who owns them",
        shapes=(
            Shape(
                programs=names("chmod"),
                args=re.compile(
                    r"^[0-7]{0,3}[2367]$|^0?[2467][0-7]{3}$|^[ug]*[oa][ugoa]*[+=][rxX]*w|^[ugoa]*\+s"
                ),
            ),
            Shape(programs=names("chown chgrp"), flags=_RECURSIVE),
            Shape(programs=names("setfacl setcap")),
        ),
        raw=re.compile(r"\bchmod\s+[^;|&\n]{0,99}\b[0-7]?777\b|\bchown\s+-\w*R"),
    ),
    Rule(
        id="disk.overwrite",
        risk="critical",
        reason="Overwrites a disk or destroys data for good",
        shapes=(
            Shape(programs=names("dd"), args=re.compile(r"^of=/dev/(?!null$|std|fd/|tty)")),
            Shape(programs=names("tee cp mv"), path=sensitive.raw_device),
            Shape(
                programs=names(
                    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat"
                    " mkfs.exfat mkfs.ntfs mkfs.f2fs mke2fs mkswap newfs wipefs shred blkdiscard"
                )
            ),
            Shape(
                programs=names("fdisk sfdisk cfdisk gdisk sgdisk parted"),
                without=names("-l --list -p --print"),
            ),
            Shape(
                programs=names("diskutil"),
                sub=("eraseDisk", "eraseVolume", "partitionDisk", "zeroDisk", "secureErase"),
            ),
            Shape(writes=sensitive.raw_device),
        ),
        raw=re.compile(r"\bof=/dev/(?!null)|\bmkfs\b|\bwipefs\b|>\s*/dev/(?:sd|hd|vd|nvme|disk)"),
    ),
    Rule(
        id="secrets.send",
        risk="critical",
        reason="Sends secrets over the network",
        shapes=(
            Shape(programs=_SENDERS, reads=sensitive.secret),
            *(Shape(programs=_SENDERS, piped_from=source) for source in _SECRET_SOURCE),
            *(Shape(programs=_SENDERS, built_from=source) for source in _SECRET_SOURCE),
            Shape(programs=_DOWNLOADERS, args=re.compile(r"(?:^|=|-\w)@"), path=sensitive.secret),
            Shape(
                programs=names("curl wget"),
                flags=names("-T --upload-file --post-file --body-file"),
                path=sensitive.secret,
            ),
        ),
    ),
    Rule(
        id="secrets.touch",
        risk="high",
        reason="Touches a file that usually holds keys or passwords",
        shapes=(
            Shape(path=sensitive.secret),
            Shape(reads=sensitive.secret),
            Shape(writes=sensitive.secret),
        ),
        raw=re.compile(r"(?:^|[\s/'\"=@<(])(?:\.env|\.aws/|\.ssh/|id_rsa|id_ed25519)(?![\w-])"),
    ),
    Rule(
        id="own.control",
        risk="critical",
        reason="Would change or stop Watchgate itself",
        shapes=(
            Shape(programs=_OWN, not_sub=_OWN_READS),
            Shape(
                programs=frozenset(("python",)), flags=names("-m"), args=re.compile("^watchgate$")
            ),
            Shape(programs=names("kill pkill killall"), args=re.compile(r"\bw(?:atch)?gate\b")),
            Shape(programs=names("systemctl launchctl"), args=re.compile("watchgate")),
            Shape(
                programs=names("pip pip3 pipx uv brew python"),
                sub=_REMOVE,
                args=re.compile(r"^watchgate\b"),
            ),
        ),
        raw=re.compile(
            r"(?:^|[\s;|&(`'\"/])w(?:atch)?gate\s+(?:allow|handback|off|stop|uninstall)\b"
        ),
    ),
    Rule(
        id="own.files",
        risk="critical",
        reason="Touches Watchgate's own files or an agent's hook settings",
        shapes=(
            Shape(path=sensitive.hook_settings),
            Shape(reads=sensitive.hook_settings),
            Shape(writes=sensitive.hook_settings),
            Shape(programs=_MOVERS, path=Place.holds_own),
        ),
        raw=re.compile(r"\.claude/settings[\w.-]*\.json|\.codex/(?:hooks\.json|config\.toml)"),
    ),
    Rule(
        id="terminal.input",
        risk="critical",
        reason="Types or starts something in another terminal, which could be the one that decides",
        shapes=(
            Shape(
                programs=names("tmux"),
                args=re.compile(
                    r"^(?:send|paste|pipe|new|neww|split|respawn|run|if|display-p|popup|source)[\w-]*$"
                ),
            ),
            Shape(programs=names("screen"), flags=names("-X")),
            Shape(programs=names("zellij"), sub=("action write", "action write-chars")),
            Shape(programs=names("kitty"), sub=("@",)),
            Shape(programs=names("kitten"), sub=("@", "@send-text", "@send-key")),
            Shape(programs=names("wezterm"), sub=("cli",)),
            Shape(programs=names("script xdotool ydotool wtype dotool systemd-run") | _WINDOWS),
            Shape(
                programs=names("dbus-send gdbus busctl qdbus gapplication osascript open"),
                args=_NAMES_A_WINDOW,
            ),
            Shape(programs=names("osascript"), args=re.compile(r"keystroke|key code")),
            Shape(
                programs=names("ssh mosh"),
                without=names("-p"),  # the port of a virtual machine, most often
                args=re.compile(
                    r"^(?:ssh://)?(?:[^@]+@)?(?:localhost|127\.[\d.]+|\[?::1\]?)(?![\w.-])"
                ),
            ),
        ),
        raw=re.compile(r"\btmux\b[^;|&\n]{0,99}\bsend|\bscreen\b[^;|&\n]{0,99}\s-X\b"),
    ),
    Rule(
        id="files.write-outside",
        risk="high",
        reason="Writes outside the session's folder",
        shapes=(Shape(writes=Place.spills), Shape(programs=names("tee"), path=Place.spills)),
    ),
    Rule(
        id="files.run-later",
        risk="high",
        reason="Writes a file that runs by itself later",
        shapes=(
            Shape(writes=sensitive.runs_later),
            Shape(programs=names("tee ln install"), path=sensitive.runs_later),
            Shape(programs=names("crontab at batch"), without=names("-l")),
        ),
    ),
    Rule(
        id="remote.publish",
        risk="high",
        reason="Publishes to, or destroys, something that others use",
        shapes=(
            Shape(programs=names("npm pnpm yarn bun cargo poetry hatch uv flit"), sub=("publish",)),
            Shape(programs=names("npm"), sub=("unpublish", "deprecate")),
            Shape(programs=names("twine"), sub=("upload",)),
            Shape(programs=names("gem"), sub=("push", "yank")),
            Shape(programs=names("terraform tofu pulumi"), sub=("destroy", "apply")),
            Shape(programs=names("kubectl oc"), sub=("delete", "drain")),
            Shape(programs=names("helm"), sub=("uninstall", "delete")),
            Shape(
                programs=names("docker podman"),
                sub=("system prune", "volume rm", "volume prune", "push"),
            ),
            Shape(programs=names("gh"), sub=("repo delete", "release delete", "secret set")),
        ),
        raw=re.compile(r"\b(?:npm|cargo)\s+publish\b|\bkubectl\s+delete\b|\bterraform\s+destroy\b"),
    ),
    Rule(
        id="system.halt",
        risk="high",
        reason="Stops this machine or every process on it",
        shapes=(
            Shape(programs=names("shutdown reboot halt poweroff telinit killall5")),
            Shape(programs=names("init"), sub=("0", "6")),
            Shape(
                programs=names("systemctl loginctl"),
                sub=("poweroff", "reboot", "halt", "suspend", "hibernate", "kexec"),
            ),
            Shape(programs=names("kill"), args=re.compile("^-1$"), flags=_SIGNALS),
        ),
        raw=re.compile(r":\s*\(\s*\)\s*\{|(?:^|[\s;|&])(?:reboot|poweroff|shutdown)\b"),
    ),
)
