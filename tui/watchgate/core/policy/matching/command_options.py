"""Options of commands: which words are flags, which take values, where the operands begin.

A reader that must not miss anything takes any reading that is possible; one that must not be
fooled takes only what is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from watchgate.core.policy.matching.name_patterns import Patterns, compiled
from watchgate.core.policy.shell.commands import Word, names

# Options with a value that stand before a program's sub-command.
GLOBAL_OPTIONS: dict[str, frozenset[str]] = {
    "git": names("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path"),
    "docker": names("-H --host -c --context --config -l --log-level"),
    "podman": names("--connection --url --log-level"),
    "kubectl": names("-n --namespace --context --cluster --user --kubeconfig -s"),
    "docker-compose": names("-f -p --file --project-name --profile --env-file --project-directory"),
    "helm": names("-n --namespace --kube-context --kubeconfig"),
    "helmfile": names("-e --environment -f --file -l --selector -n --namespace --kube-context"),
    "tmux": names("-L -S -f -T"),
    "screen": names("-S -p -c"),
    "zellij": names("-s --session -c --config"),
    "kitty": names("--to"),
    "systemctl": names("-H --host -M --machine"),
    "npm": names("--prefix -w --workspace -C"),
    "pnpm": names("-C --dir --filter"),
    "aws": names("--profile --region --output --endpoint-url --query --color --ca-bundle"),
    "gcloud": names("--project --account --configuration --format --verbosity"),
    "az": names("--subscription --output -o --query"),
    "gh": names("-R --repo --hostname"),
    "terraform": names("-chdir"),
    "make": names("-C -f --directory --file"),
    "adb": names("-s -t -H -P -L"),
    "cargo": names("--color --config -Z -C"),
}
# Their parser takes the word behind an option that stands before the sub-command for its value,
# unless all sub-commands know the option.
TAKES_NEXT_WORD = names(
    """kubectl oc helm gh glab docker docker-compose podman nerdctl eksctl argocd flux velero
    istioctl linkerd doctl flyctl fly hcloud scw supabase auth0 stripe pulumi minikube kind k3d"""
)
_NOBODYS: frozenset[str] = frozenset()

# Nobody writes so many options before a sub-command.
_MAX_READINGS = 8

_NUMBER = re.compile(r"-\d+")
_CLUSTER = re.compile(r"[A-Za-z0-9]+")
# A switch takes these glued with `=` only; a word behind it is not its value.
_SWITCHED = frozenset(("true", "false"))
NOT_MEANT = ("false", "none", "no", "off", "0")


class Flags(msgspec.Struct, frozen=True):
    """Names of options: `exact` as they are written, `letters` of the short ones, `long` ones.

    `dashed` says that all of them start with `-`, so that no other word can be one.
    """

    exact: frozenset[str]
    letters: frozenset[str]
    long: tuple[str, ...]
    dashed: bool

    def maybe(self, text: str) -> bool:
        """Returns whether a word may be one of them: clustered, shortened or with a value too."""
        if text in self.exact:
            return True
        if len(text) < 2 or text[0] != "-":
            return False
        name = text.partition("=")[0]
        if name in self.exact:
            return True
        if name.startswith("--"):
            return len(name) > 2 and any(flag.startswith(name) for flag in self.long)
        cluster = _CLUSTER.match(text, 1)
        return cluster is not None and not self.letters.isdisjoint(cluster[0])

    def surely(self, text: str, known: frozenset[str]) -> bool:
        """Returns whether a word is one of them for certain, and not switched off by its value.

        `known` are short options without a value, behind which another one may stand in a cluster.
        """
        name, given, value = text.partition("=")
        if text in self.exact:
            return True
        if given:
            return name in self.exact and value.lower() not in NOT_MEANT
        if text[:1] == "-" and text[1:2] != "-":
            for letter in text[1:]:
                if letter in self.letters:
                    return True
                if letter not in known:
                    break
        return False


def flags(given: Iterable[str]) -> Flags:
    """Compiles names of options."""
    exact = frozenset(given)
    letters = frozenset(name[1] for name in exact if len(name) == 2 and name[0] == "-")
    long = tuple(sorted(name for name in exact if name.startswith("--")))
    return Flags(exact, letters, long, all(name[:1] == "-" for name in exact))


class Closed(msgspec.Struct, frozen=True):
    """All options that a command may have.

    `plain` ones have no value of their own word, `valued` ones take one; of `fixed` ones only these
    values; `patterns` fit whole words. What stands behind one of `commands` is a command.
    """

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    fixed: dict[str, frozenset[str]] = {}
    patterns: Patterns = Patterns()
    commands: frozenset[str] = frozenset()
    numbers: bool = False
    open: bool = False

    def takes(self, text: str) -> tuple[bool, str]:
        """Returns whether an option is one of them, and its name if the next word is its value."""
        if text in self.plain or self.patterns.fit(text):
            return True, ""
        if self.numbers and _NUMBER.fullmatch(text):
            return True, ""
        if text in self.valued or (text in self.fixed and not self.fixed[text] <= _SWITCHED):
            return True, text
        name, given, value = text.partition("=")
        if given and (name in self.valued or (name.startswith("--") and name in self.plain)):
            return True, ""
        if given and value in self.fixed.get(name, ()):
            return True, ""
        return (self.open, "") if text.startswith("--") else self._cluster(text)

    def _cluster(self, text: str) -> tuple[bool, str]:
        for index, letter in enumerate(text[1:], 2):
            name = f"-{letter}"
            if name in self.valued or name in self.fixed:
                rest = text[index:]
                known = not rest or name in self.valued or rest in self.fixed[name]
                return known or self.open, "" if rest else name
            if name not in self.plain:
                return self.open, ""
        return True, ""

    def value_is_known(self, name: str, value: str) -> bool:
        """Returns whether the word behind an option may be its value."""
        return name in self.valued or value in self.fixed.get(name, ())


def closed(given: Iterable[str]) -> Closed:
    """Compiles the closed set of a shape's `flags`; `*` opens it."""
    plain: set[str] = set()
    valued: set[str] = set()
    fixed: dict[str, frozenset[str]] = {}
    globs: list[str] = []
    commands: set[str] = set()
    for entry in given:
        name, sign, value = entry.partition("=")
        if entry.endswith(" ;"):
            commands.add(entry.removesuffix(" ;"))
        elif "*" in entry:
            globs.append(entry)
        elif value:
            fixed[name] = fixed.get(name, frozenset()) | {value}
        else:
            (valued if sign else plain).add(name)
    return Closed(
        plain=frozenset(plain - {"-#"}),
        valued=frozenset(valued),
        fixed=fixed,
        patterns=compiled(entry for entry in globs if entry != "*"),
        commands=frozenset(commands),
        numbers="-#" in plain,
        open="*" in globs,
    )


def is_option(text: str) -> bool:
    """Returns whether a word looks like an option; a single `-` is an operand."""
    return text.startswith("-") and text != "-"


def operands(program: str, arguments: Sequence[Word]) -> list[Word]:
    """Returns the arguments that are no options, nor values of the program's global options."""
    valued = GLOBAL_OPTIONS.get(program, _NOBODYS)
    positional: list[Word] = []
    skip = ended = False
    for word in arguments:
        if ended or not (skip or is_option(word.text)):
            positional.append(word)
        elif word.text == "--" and not skip:
            ended = True
        else:
            skip = not skip and not positional and word.text in valued
    return positional


def maybe_starts(program: str, arguments: Sequence[Word], at: int) -> list[int]:
    """Returns the next operand's possible places: an unknown option may take the word behind it."""
    valued = GLOBAL_OPTIONS.get(program, _NOBODYS)
    starts: list[int] = []
    index = at
    while index < len(arguments) and len(starts) < _MAX_READINGS:
        text = arguments[index].text
        if is_option(text):
            index += 2 if text in valued else 1
            continue
        starts.append(index)
        before = arguments[index - 1].text if index else ""
        if index == at or not is_option(before) or "=" in before:
            break
        index += 1
    return starts
