"""Telling whether a command stays in the session's folder, as ordinary work has to.

Folders for temporary files count as within, and streams such as /dev/null. A program that runs what
it reads must not read from there: anybody on the machine may have put a file into `/tmp`. Nor may
its arguments name another machine, to which its code may do anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from watchgate.core.policy.matching.command import Shape
from watchgate.core.policy.matching.emptied import empties_sources
from watchgate.core.policy.matching.options import is_option
from watchgate.core.policy.matching.seen import SETS_VARIABLES, Seen
from watchgate.core.policy.matching.settings import is_known
from watchgate.core.policy.matching.touches import WRITERS, Touch
from watchgate.core.policy.places import Place
from watchgate.core.policy.shell.words import Word

_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_PIECES = re.compile(r"[\s:,;=]+")
# It begins in the middle, so that no run of letters is tried from each of them.
_ADDRESS = re.compile(r"(?<=[a-z0-9+.-])://(?:[^/@\s]*@)?(\[[^]/]*\]|[^/:?#\s]*)", re.IGNORECASE)
# What git keeps and runs itself is no file of the project; nor are those for CI and editors that a
# program is told to write by an option.
_GLUED = re.compile(r"-{1,2}[A-Za-z][\w-]*?:?([|!/~.])")
_LEADS_OUT = re.compile(r"/(?=\w)|~|\.\./|\.git/|\./|[|!]")
_OBEYED = re.compile(r"(?:^|/)\.(?:git|husky)/", re.IGNORECASE)
_LATER = re.compile(
    r"(?:^|/)\.(?:github/(?:workflows|actions)|circleci|gitlab-ci|vscode|devcontainer|envrc|idea)",
    re.IGNORECASE,
)
_THIS_MACHINE = frozenset(("", "localhost", "127.0.0.1", "[::1]", "0.0.0.0"))  # noqa: S104
_HOST_OPTION = re.compile(r"--?(?:[\w-]*[-_])?(?:h|host|hostname|server|endpoint|addr|address)")
_HOST = re.compile(r"(?![^:]*\.(?:py|js|ts|json|ya?ml|toml|log|txt)$)(?:[\w-]+\.)+[\w-]+(?::\d+)?")
_LOCAL_HOST = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0)(?::\d+)?")
_REMOTE_PATH = re.compile(r"[\w.-]+@[\w-]+(?:\.[\w-]+)+:")
# They print how many processors there are.
_COUNT = re.compile(
    r"(-[a-zA-Z]|--[a-z-]+=)?\$\((?:nproc|sysctl -n hw\.n?cpu|getconf _NPROCESSORS_ONLN)\)"
)

_HERE = re.compile(r"(--[a-z-]+=)?(?:\$PWD|\$\{PWD\}|\$\(pwd\))((?:/[\w@%+.,-]*)*)")
_UNSPLIT = re.compile(r"[\w./@%+,-]+")

# They name targets as `//folder:name`, which is no path from the root.
_LABELLED = frozenset(("bazel", "bazelisk", "buck2", "pants"))
# MSBuild's switches begin as paths do.
_MSBUILD = frozenset(("dotnet", "msbuild", "xbuild"))
_SWITCH = re.compile(
    r"/(?:(?:t|target):(?:(?:re)?build|clean|restore|test|pack|compile|resx)|(?:p|property|v|verbosity|m|maxcpucount|nologo|warnaserror|warnasmessage|nowarn|nr"
    r"|nodereuse|clp|consoleloggerparameters|restore|r|graph|bl|binarylogger|ds|detailedsummary)"
    r"(?::[\w=;,.+*:-]*)?)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"-?//[\w./-]*(?::[\w.*-]+)?")

_DECLARES = frozenset(("declare", "typeset"))
_EXPORTS = frozenset(("export", "declare", "typeset", "readonly"))


def stays(wanted: Shape, seen: Seen) -> bool:
    """Tell whether a command runs in the session's folder and names no path beyond it."""
    if wanted.anywhere:
        return True
    place = seen.place
    scratch = wanted.scratch and place.temporary(place.cwd)
    if place.cwd and not (place.inside(place.cwd) or scratch):
        return False
    if any(map(place.outside, place.leads_to(place.cwd))) and not scratch:
        return False
    if not sets_within(seen) or empties_sources(seen):
        return False
    if not wanted.scratch and _reaches_others(seen):
        return False
    # Variables were looked at by themselves.
    texts = _texts(wanted, seen) | {id(word) for word in _assigned(seen)}
    if seen.program in _LABELLED:
        texts |= {id(word) for word in seen.arguments if _LABEL.fullmatch(word.text)}
    if seen.program in _MSBUILD:
        texts |= {id(word) for word in seen.arguments if _SWITCH.fullmatch(word.text)}
    if any(_glues_on(word) for word in seen.arguments if id(word) not in texts):
        return False
    return all(
        id(touch.word) in texts
        or _is_within(touch, place, scratch=wanted.scratch)
        or (touch.kind == "write" and seen.program not in WRITERS and _is_for_scratch(touch, place))
        for touch, _ in seen.touched
    )


def sets_within(seen: Seen) -> bool:
    """Tell whether no variable that a command sets leads out of the folder, or to another machine.

    A name alone hands on what was set before.
    """
    if seen.program in _EXPORTS and any("=" not in word.text for word in seen.operands):
        # An array begins empty.
        return seen.program in _DECLARES and [w.text for w in seen.dashed] in (["-A"], ["-a"])
    return all(_is_set_within(seen, word) for word in _assigned(seen))


def _reaches_others(seen: Seen) -> bool:
    """Tell whether an argument is an address of another machine, or the name of one."""
    option = ""
    for word in seen.arguments:
        name, given, value = word.text.partition("=")
        named = value if given else word.text
        if _REMOTE_PATH.match(named) or _other_hosts(word.text):
            return True
        is_host = bool(_HOST_OPTION.fullmatch(name if given else option))
        if is_host and _HOST.fullmatch(named) and not _LOCAL_HOST.fullmatch(named):
            return True
        option = word.text
    return False


def _other_hosts(text: str) -> set[str]:
    """The hosts of the addresses in a text that are no names of this machine."""
    return {found[1].lower() for found in _ADDRESS.finditer(text)} - _THIS_MACHINE


def counted(seen: Seen) -> Seen:
    """The command with a number where it asks how many processors there are.

    And with a dot for the folder where it runs.
    """
    if "$" not in "".join([word.text for word in seen.command.words]):
        return seen
    words = tuple(_here(_counted(word), seen.place.cwd) for word in seen.command.words)
    return seen.of(replace(seen.command, words=words))


def _here(word: Word, cwd: str) -> Word:
    found = _HERE.fullmatch(word.text) if word.dynamic else None
    if found is None or (word.expands == "words" and not _UNSPLIT.fullmatch(cwd)):
        return word
    text = f"{found[1] or ''}.{found[2]}"
    return replace(word, text=text, at=(word.start,) * len(text), expands="", prefix=text)


def _counted(word: Word) -> Word:
    found = _COUNT.fullmatch(word.text) if word.dynamic else None
    if found is None:
        return word
    text = f"{found[1] or ''}8"
    return replace(word, text=text, at=word.at[: len(text)], expands="", prefix=text)


def _is_within(touch: Touch, place: Place, *, scratch: bool) -> bool:
    if touch.word.expands not in ("", "glob"):
        return False
    if _OBEYED.search(touch.path) or (is_option(touch.word.text) and _LATER.search(touch.path)):
        return False
    if not place.outside(touch.path):
        return True
    return place.temporary(touch.path) and (scratch or touch.kind != "read")


def _glues_on(word: Word) -> bool:
    """Tell whether an option has a path or a command glued to it that no reader of options sees.

    As in `-fo/home/me/x`, `-sC../x`, `-o:/x` and `-fo'|sh'`.
    """
    glued = _GLUED.match(word.text)
    if glued is None:
        return False
    return glued[1] in "|!" or _LEADS_OUT.match(word.text, glued.start(1)) is not None


def _is_for_scratch(touch: Touch, place: Place) -> bool:
    """Tell whether a path is the very folder for temporary files, into which something is put."""
    return not touch.word.dynamic and place.temporary(f"{touch.path.rstrip('/')}/_")


def _assigned(seen: Seen) -> Iterator[Word]:
    """The words that set a variable, for the command or for what follows."""
    yield from seen.command.assignments
    if seen.program in SETS_VARIABLES:
        yield from (word for word in seen.arguments if _ASSIGNED.match(word.text))


def _is_set_within(seen: Seen, word: Word) -> bool:
    """Tell whether a variable gets no path beyond the folder, and no address of another machine."""
    if seen.is_harmless(word) or is_known(word, seen.place):
        return True
    if word.expands not in ("", "glob"):
        return False
    value = word.text.partition("=")[2]
    if _ADDRESS.search(value):
        return not _other_hosts(value)
    pieces = [piece for piece in _PIECES.split(value) if piece]
    led_to = [path for piece in pieces for path in seen.place.leads_to(piece)]
    return not any(map(seen.place.outside, (*pieces, *led_to)))


def _texts(wanted: Shape, seen: Seen) -> set[int]:
    """The values of options that are text and no path, by the identity of their words."""
    found: set[int] = set()
    if not wanted.texts:
        return found
    is_text = False
    for word in seen.arguments:
        text = word.text
        if is_text:
            found.add(id(word))
            is_text = False
        elif is_option(text):
            name, given, _ = text.partition("=")
            glued = text[1] != "-" and len(text) > 2 and text[:2] in wanted.texts
            if glued or (given and name in wanted.texts):
                found.add(id(word))
            else:
                is_text = _ends_with(text, wanted.texts)
    return found


def _ends_with(option: str, texts: frozenset[str]) -> bool:
    """Tell whether an option, or the last one of a cluster such as `-am`, takes the next word."""
    if option in texts:
        return True
    return option[1:].isalpha() and f"-{option[-1]}" in texts
