"""The check that a command stays in the session's folder, as ordinary work has to.

Folders for temporary files count as within, and streams such as /dev/null. A program that runs what
it reads must not read from there: anybody on the machine may have put a file into `/tmp`. Nor may
its arguments name another machine, to which its code may do anything.

- Output folders, which builds and tests may empty before they write there. Such a folder may be one
  of sources, which no word of the command says; so only folders with names that are common for
  output, or that lie in a place for temporary files, are ordinary.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from msgspec.structs import replace

from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.matching.command_options import is_option
from watchgate.core.policy.matching.command_shape import Shape
from watchgate.core.policy.matching.command_view import SETS_VARIABLES, CommandView
from watchgate.core.policy.matching.touches import WRITERS, Touch
from watchgate.core.policy.matching.variable_values import is_harmless_setting
from watchgate.core.policy.shell.commands import Word, names

_OPTION = re.compile(
    r"--(?:out(?:-?dir)?|output(?:-dir)?|output-path|to-dir|dest|dist-dir|site-dir|destination|temp-dir(?:ectory)?"
    r"|coverage\.reportsDirectory)",
    re.IGNORECASE,
)
_EMPTYING = names(
    """mkdocs jekyll hugo tsup vite astro webpack playwright vitest c8 nyc parcel unbuild typedoc
    docusaurus vitepress ng vue-cli-service storybook tsdown next orval expo
    swagger-typescript-api"""
)
_SHORT = names("mkdocs jekyll hugo tsup tsdown storybook next swagger-typescript-api")
_FOLDER_OPTION = re.compile(r"-[a-z]{0,3}[do]")
# Vite and its kin keep files that they copy as they are in such a folder.
_SITES = names("mkdocs jekyll hugo")
_OUTPUT = re.compile(
    r"\.?_?(?:dist|build|out|outputs?|site|esm|cjs|coverage|htmlcov|te?mp|target|preview|reports?"
    r"|results|test-results|playwright-report|artifacts?|bundle|cache|nyc_output|next)"
    r"(?:[-_.][\w-]+)?",
    re.IGNORECASE,
)


def empties_sources(view: CommandView) -> bool:
    """Returns whether a command may empty a folder that is not for output."""
    texts = [word.text for word in view.command.words]
    tools = _EMPTYING.intersection(posixpath.basename(text) for text in texts[:4])
    if not tools:
        return False
    short = not tools.isdisjoint(_SHORT)
    public = not tools.isdisjoint(_SITES)
    option = ""
    for text in texts:
        name, given, value = text.partition("=")
        folder = ""
        if _OPTION.fullmatch(name) and given:
            folder = value
        elif _OPTION.fullmatch(option) or (short and _FOLDER_OPTION.fullmatch(option)):
            folder = text
        elif short and text.startswith("-d") and len(text) > len("-d"):
            folder = text[len("-d") :]
        if folder and not _is_for_output(folder, view, public=public):
            return True
        option = text
    return False


def _is_for_output(folder: str, view: CommandView, *, public: bool) -> bool:
    path = view.place.resolve(folder)
    if view.place.temporary(path):
        return True
    parts = posixpath.relpath(path, view.place.cwd or "/").split("/")
    return any(_OUTPUT.fullmatch(part) or (public and part == "public") for part in parts)


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


def stays_in_folder(wanted: Shape, view: CommandView) -> bool:
    """Returns whether a command runs in the session's folder and names no path beyond it."""
    if wanted.anywhere:
        return True
    place = view.place
    scratch = wanted.scratch and place.temporary(place.cwd)
    if place.cwd and not (place.inside(place.cwd) or scratch):
        return False
    if any(map(place.outside, place.leads_to(place.cwd))) and not scratch:
        return False
    if not sets_within(view) or empties_sources(view):
        return False
    if not wanted.scratch and _reaches_others(view):
        return False
    # Variables were looked at by themselves.
    texts = _texts(wanted, view) | {id(word) for word in _assigned(view)}
    if view.program in _LABELLED:
        texts |= {id(word) for word in view.arguments if _LABEL.fullmatch(word.text)}
    if view.program in _MSBUILD:
        texts |= {id(word) for word in view.arguments if _SWITCH.fullmatch(word.text)}
    if any(_glues_on(word) for word in view.arguments if id(word) not in texts):
        return False
    return all(
        id(touch.word) in texts
        or _is_within(touch, place, scratch=wanted.scratch)
        or (touch.kind == "write" and view.program not in WRITERS and _is_for_scratch(touch, place))
        for touch, _ in view.touched
    )


def sets_within(view: CommandView) -> bool:
    """Returns whether no variable that a command sets leads out of the folder or the machine.

    A name alone hands on what was set before.
    """
    if view.program in _EXPORTS and any("=" not in word.text for word in view.operands):
        # An array begins empty.
        return view.program in _DECLARES and [w.text for w in view.dashed] in (["-A"], ["-a"])
    return all(_is_set_within(view, word) for word in _assigned(view))


def _reaches_others(view: CommandView) -> bool:
    """Returns whether an argument is an address of another machine, or the name of one."""
    option = ""
    for word in view.arguments:
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
    """Returns the hosts of the addresses in a text that are no names of this machine."""
    return {match[1].lower() for match in _ADDRESS.finditer(text)} - _THIS_MACHINE


def with_known_values(view: CommandView) -> CommandView:
    """Returns the view with a number where the command counts processors.

    And with a dot in place of the folder where it runs.
    """
    if "$" not in "".join([word.text for word in view.command.words]):
        return view
    words = tuple(_here(_counted(word), view.place.cwd) for word in view.command.words)
    return view.of(replace(view.command, words=words))


def _here(word: Word, cwd: str) -> Word:
    match = _HERE.fullmatch(word.text) if word.dynamic else None
    if match is None or (word.expands == "words" and not _UNSPLIT.fullmatch(cwd)):
        return word
    text = f"{match[1] or ''}.{match[2]}"
    return replace(word, text=text, at=(word.start,) * len(text), expands="", prefix=text)


def _counted(word: Word) -> Word:
    match = _COUNT.fullmatch(word.text) if word.dynamic else None
    if match is None:
        return word
    text = f"{match[1] or ''}8"
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
    """Returns whether an option has a path or a command glued to it that no reader splits off.

    As in `-fo/home/me/x`, `-sC../x`, `-o:/x` and `-fo'|sh'`.
    """
    glued = _GLUED.match(word.text)
    if glued is None:
        return False
    return glued[1] in "|!" or _LEADS_OUT.match(word.text, glued.start(1)) is not None


def _is_for_scratch(touch: Touch, place: Place) -> bool:
    """Returns whether a path is the folder for temporary files itself, as a target."""
    return not touch.word.dynamic and place.temporary(f"{touch.path.rstrip('/')}/_")


def _assigned(view: CommandView) -> Iterator[Word]:
    """Yields the words that set a variable, for the command or for what follows."""
    yield from view.command.assignments
    if view.program in SETS_VARIABLES:
        yield from (word for word in view.arguments if _ASSIGNED.match(word.text))


def _is_set_within(view: CommandView, word: Word) -> bool:
    """Returns whether a variable gets no path beyond the folder and no other machine's address."""
    if view.is_harmless(word) or is_harmless_setting(word, view.place):
        return True
    if word.expands not in ("", "glob"):
        return False
    value = word.text.partition("=")[2]
    if _ADDRESS.search(value):
        return not _other_hosts(value)
    pieces = [piece for piece in _PIECES.split(value) if piece]
    led_to = [path for piece in pieces for path in view.place.leads_to(piece)]
    return not any(map(view.place.outside, (*pieces, *led_to)))


def _texts(wanted: Shape, view: CommandView) -> set[int]:
    """Returns the values of options that are text and no path, by the identity of their words."""
    word_ids: set[int] = set()
    if not wanted.texts:
        return word_ids
    is_text = False
    for word in view.arguments:
        text = word.text
        if is_text:
            word_ids.add(id(word))
            is_text = False
        elif is_option(text):
            name, given, _ = text.partition("=")
            glued = text[1] != "-" and len(text) > 2 and text[:2] in wanted.texts
            if glued or (given and name in wanted.texts):
                word_ids.add(id(word))
            else:
                is_text = _ends_with(text, wanted.texts)
    return word_ids


def _ends_with(option: str, texts: frozenset[str]) -> bool:
    """Returns whether an option, or the last one of a cluster such as `-am`, takes a next word."""
    if option in texts:
        return True
    return option[1:].isalpha() and f"-{option[-1]}" in texts
