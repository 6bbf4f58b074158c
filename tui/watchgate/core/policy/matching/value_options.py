"""Table of options that take the next word for their value, by program.

It decides whether a word that looks like an option is one: `git clean -e -n` deletes, since `-n` is
the value of `-e`. Where a program is not in the table, any option may take the next word.

- Excusing options, such as `--dry-run`: they count only where the program reads them so.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.policy.matching.command_options import (
    GLOBAL_OPTIONS,
    NOT_MEANT,
    TAKES_NEXT_WORD,
    Flags,
    is_option,
)
from watchgate.core.policy.shell.commands import INTERPRETERS, SHELLS, Word, names
from watchgate.core.policy.shell.wrapper_options import WrapperOptions
from watchgate.core.policy.shell.wrappers import PREFIXES, SCRIPT_OPERAND_OPTIONS, SUB_PREFIXES


class Grammar(msgspec.Struct, frozen=True):
    """The options of a program and the values that they take.

    With `valued` no other option takes the next word; where it is None, all but `flags` may,
    and those in `certain` do.
    `letters` are its short options without a value, where they are known. `ends` says that the
    options end at the first operand, behind which the words are another's.
    """

    valued: frozenset[str] | None = None
    flags: frozenset[str] = frozenset()
    certain: frozenset[str] = frozenset()
    letters: str = ""
    ends: bool = False

    def may_take_next(self, text: str) -> bool:
        """Returns whether the value of an option may be the next word."""
        if not is_option(text) or "=" in text or text in _NEVER_VALUED:
            return False
        if self.valued is None:
            return text not in self.flags
        return text in self.valued or (text[1] != "-" and self.cluster(text)[1])

    def cluster(self, text: str) -> tuple[str, bool]:
        """Returns the letters of a cluster that may be options, and whether a value follows it."""
        for place, letter in enumerate(text[1:], 1):
            if self.valued is not None and f"-{letter}" in self.valued:
                return text[1 : place + 1], place == len(text) - 1
        return text[1:], False

    def surely_takes_next(self, text: str) -> bool:
        """Returns whether the value of an option is the next word for certain."""
        return text in self.certain or (self.valued is not None and self.may_take_next(text))

    def letters_in(self, text: str) -> str:
        """Returns the letters of a cluster that are options for certain."""
        if self.valued is None:
            return ""
        letters, _ = self.cluster(text)
        if not self.letters:
            return letters
        return letters[: len(letters) - len(letters.lstrip(self.letters))]


# Long names that mean the same everywhere and stand alone.
_NEVER_VALUED = names(
    "--force --recursive --verbose --quiet --yes --all --json --help --version --dry-run --debug"
    " --dryrun --simulate -y"
)


def _exactly(valued: str = "", letters: str = "", *, ends: bool = False) -> Grammar:
    return Grammar(names(valued), letters=letters, ends=ends)


def _flags(flags: str) -> Grammar:
    return Grammar(flags=names(flags))


def _wrapper(options: WrapperOptions) -> Grammar:
    return Grammar(flags=options.flags, certain=options.valued, ends=True)


PROGRAM_GRAMMARS: dict[str, Grammar] = {
    **dict.fromkeys(SHELLS, _exactly("-o +o -O +O --rcfile --init-file", ends=True)),
    **dict.fromkeys(INTERPRETERS, _exactly(ends=True)),
    "python": _exactly("-W -X -Q --check-hash-based-pycs", ends=True),
    "ruby": _exactly("-I -r -C -E -F -K -T -W -x", ends=True),
    "perl": _exactly("-I -M -m -F -C -D -x", ends=True),
    "ssh": Grammar(SCRIPT_OPERAND_OPTIONS["ssh"].valued, ends=True),
    "git": Grammar(GLOBAL_OPTIONS["git"]),
    "make": _exactly(
        "-C -f -I -o -W -E --directory --file --makefile --include-dir --old-file --assume-old"
        " --what-if --new-file --assume-new --eval",
        "bBdeijkLmnOpqrRsStvw",
    ),
    "rsync": _exactly(
        "-f -e -B -T -M -@ --exclude --include --filter --exclude-from --include-from --files-from"
        " --rsh --rsync-path --backup-dir --suffix --chmod --chown --usermap --groupmap"
        " --block-size --bwlimit --timeout --contimeout --port --password-file --log-file"
        " --log-file-format --out-format --temp-dir --partial-dir --compare-dest --copy-dest"
        " --link-dest --max-size --min-size --max-delete --max-alloc --modify-window"
        " --skip-compress --compress-level --zl --compress-choice --zc --checksum-choice --cc"
        " --checksum-seed --iconv --info --debug --stderr --stop-after --stop-at --time-limit"
        " --write-batch --only-write-batch --read-batch --protocol --sockopts --address --config"
        " --dparam --remote-option --outbuf --early-input --copy-as",
        "acdghiklmnopqrstuvxyzACDEFHIJKLNOPRSUVWX0468",
    ),
    "sed": _exactly("-e -f -l --expression --file --line-length"),
    "gsed": _exactly("-e -f -l --expression --file --line-length"),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        _exactly("-F -v -f -e -i -l -E --field-separator --assign --file --source", ends=True),
    ),
    "jq": _exactly(
        "-L -f --from-file --indent --arg --argjson --slurpfile --rawfile --args --jsonargs"
    ),
    "crontab": _exactly("-u"),
    **dict.fromkeys(("rm", "rmdir", "unlink"), _exactly()),
    **dict.fromkeys(("chmod", "chown", "chgrp"), _exactly("--reference --from")),
    "systemctl": _flags(
        "--user --system --global --now --no-block --no-reload --runtime --no-pager --full -f -q -a"
    ),
    "truncate": _exactly("-s -r --size --reference"),
    "scp": _exactly("-c -D -F -i -J -l -o -P -S -X"),
    "killall": _exactly("-u -s -o -y -Z --user --signal --older-than --younger-than --context"),
    "pkill": _exactly(
        "-g -G -P -s -t -u -U -F -r -O --signal --pgroup --group --parent --session --terminal"
        " --euid --uid --pidfile --ns --nslist --runstates --older"
    ),
    **dict.fromkeys(
        ("find", "gfind"),
        _exactly(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type"
            " -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt"
            " -newerct -newerat -perm -user -group -uid -gid -links -inum -samefile -lname -ilname"
            " -fstype -maxdepth -mindepth -used -printf -fprint -fprint0 -fprintf -fls -exec"
            " -execdir -ok -okdir -files0-from -context"
        ),
    ),
    "rg": _exactly(
        "-A -B -C -E -M -T -d -e -f -g -j -m -r -t --after-context --before-context --context"
        " --max-columns --max-count --max-depth --max-filesize --regexp --file --glob --iglob"
        " --threads --replace --type --type-not --type-add --type-clear --encoding --engine --sort"
        " --sortr --color --colors --pre --pre-glob --hostname-bin --ignore-file --path-separator"
        " --context-separator --field-context-separator --field-match-separator --dfa-size-limit"
        " --regex-size-limit --hyperlink-format --generate"
    ),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "ggrep", "zgrep"),
        _exactly(
            "-A -B -C -D -d -e -f -m --after-context --before-context --context --regexp --file"
            " --max-count --binary-files --devices --directories --include --exclude --exclude-dir"
            " --exclude-from --label --group-separator"
        ),
    ),
    "rclone": _flags("-v -P -i -q --progress --interactive --stats-one-line --fast-list"),
    **dict.fromkeys(
        ("kubectl", "oc"),
        _flags(
            "-A -R -w --all-namespaces --now --ignore-not-found --prune --server-side --overwrite"
            " --force-conflicts --local --watch --cascade --wait"
        ),
    ),
    "helm": _flags(
        "-i --install --atomic --wait --wait-for-jobs --create-namespace --reuse-values --devel"
        " --reset-values --keep-history --no-hooks --cleanup-on-fail --dependency-update"
    ),
    **dict.fromkeys(("aws", "awslocal"), _flags("--recursive --delete --only-show-errors")),
    **dict.fromkeys(("iptables", "ip6tables"), _flags("-n -v -x --numeric --line-numbers --exact")),
    "npm": _flags("-g -f -w --global --silent --provenance --workspaces"),
    "cargo": _flags("-v -q --locked --offline --frozen --allow-dirty --no-verify --workspace"),
    **dict.fromkeys(
        ("ansible", "ansible-playbook"),
        _flags("-b -v -vv -vvv -vvvv -K -k -D -C --become --diff --check --ask-become-pass"),
    ),
}
_WRAPPERS = {name: _wrapper(prefix.options) for name, prefix in PREFIXES.items()}
_SUB_WRAPPERS = {name: _wrapper(prefix.options) for name, prefix in SUB_PREFIXES.items()}

SUB_GRAMMARS: dict[tuple[str, str], Grammar] = {
    **_SUB_WRAPPERS,
    ("git", "clean"): _exactly("-e --exclude", "dfinqxX"),
    ("git", "push"): _exactly(
        "-o --push-option --repo --receive-pack --exec --recurse-submodules", "dfnquv46"
    ),
    ("git", "commit"): _exactly(
        "-m -F -C -c -t --message --file --reuse-message --reedit-message --template --author"
        " --date --fixup --squash --cleanup --trailer --pathspec-from-file"
    ),
    ("git", "checkout"): _exactly("-b -B --orphan --conflict --pathspec-from-file"),
    ("git", "switch"): _exactly("-c -C --create --force-create --orphan --conflict"),
    ("git", "restore"): _exactly("-s --source --conflict --pathspec-from-file"),
    ("git", "rebase"): _exactly(
        "-s -X -x -C --onto --strategy --strategy-option --exec --whitespace --empty"
    ),
    ("git", "reflog"): _exactly("--expire --expire-unreachable"),
    ("git", "update-ref"): _exactly("-m"),
    ("git", "symbolic-ref"): _exactly("-m"),
    ("git", "prune"): _exactly("--expire"),
    ("git", "config"): _exactly("-f --file --blob --type --default --comment --value --url"),
    ("git", "reset"): _exactly("--pathspec-from-file"),
    ("git", "stash"): _exactly("-m --message --pathspec-from-file"),
    ("git", "worktree"): _exactly("-b -B --reason --expire"),
    ("git", "branch"): _exactly(
        "-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort"
        " --format"
    ),
    ("git", "tag"): _exactly(
        "-m -F -u --message --file --local-user --cleanup --sort --format --contains"
        " --no-contains --merged --no-merged --points-at --trailer"
    ),
    **{
        (tool, sub): _exactly("-t -s --time --timeout --signal")
        for tool in ("docker", "podman", "nerdctl")
        for sub in ("rm", "rmi", "stop", "kill", "restart")
    },
}
_UNKNOWN = Grammar()
# Their parsers know an option by its whole name only.
_WHOLE_NAMES = TAKES_NEXT_WORD | names("terraform tofu vault nomad consul packer buildah skopeo")


def grammar_of(program: str, sub: str = "") -> Grammar:
    """Returns a program's grammar of options: in front of its sub-command, or behind it."""
    known = SUB_GRAMMARS.get((program, sub)) if sub else None
    if known is None and sub and program == "git":
        return _UNKNOWN
    return known or PROGRAM_GRAMMARS.get(program) or _WRAPPERS.get(program) or _UNKNOWN


def may_mean(flags: Flags, program: str, sub: str, text: str) -> bool:
    """Returns whether a word that may be a flag by its letters is one by the program's options.

    It is none where its letters are the value of another option (`-bfix`), or where a program that
    takes no shortened names would have to take one (`--all` for `--allow`).
    """
    name = text.partition("=")[0]
    if text in flags.exact or name in flags.exact:
        return True
    if text.startswith("--"):
        return program not in _WHOLE_NAMES
    return not flags.letters.isdisjoint(grammar_of(program, sub).cluster(text)[0])


def excused(flags: Flags, known: frozenset[str], program: str, words: Iterable[Word]) -> bool:
    """Returns whether one of the flags is given for certain.

    Not where it may be the value of the option in front of it, behind `--`, or behind the operand
    from which on the words are those of another program. `known` are short options without a
    value, behind which another one may stand in a cluster.
    """
    grammar = grammar_of(program)
    sub = ""
    before = ""
    excuse = False
    for word in words:
        text = word.text
        if excuse:
            # The program goes by the last word of both.
            excuse = not _takes_back(flags, text)
            continue
        is_value = bool(before) and grammar.may_take_next(before)
        is_surely_value = bool(before) and grammar.surely_takes_next(before)
        before = ""
        if word.dynamic and not word.prefix:
            # It may become `--`, an option with a value, or an operand.
            if grammar.ends or word.expands == "words":
                return False
        elif text == "--":
            return False
        elif is_option(text):
            excuse = not is_value and _is_one(flags, known, grammar, text)
            before = text
        elif not is_surely_value:
            if grammar.ends:
                return False
            if not sub and (not is_value or (program, text) in SUB_GRAMMARS):
                sub = text
                grammar = grammar_of(program, sub)
    return excuse


def _takes_back(flags: Flags, text: str) -> bool:
    """Returns whether a word may take an excuse back: `--no-dry-run`, `--dry-run=no`."""
    name, given, value = text.partition("=")
    if given and name in flags.exact:
        return value.lower() in NOT_MEANT
    meant = f"--{name[5:]}" if name.startswith("--no-") else "--"
    return len(meant) > 2 and any(flag.startswith(meant) for flag in flags.long)


def _is_one(flags: Flags, known: frozenset[str], grammar: Grammar, text: str) -> bool:
    if grammar.valued is None or text[1] == "-" or "=" in text or text in flags.exact:
        return flags.surely(text, known)
    return not flags.letters.isdisjoint(grammar.letters_in(text))
