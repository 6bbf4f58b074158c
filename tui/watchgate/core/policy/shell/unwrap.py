"""The commands and scripts that the words of one command run, by the tables of wrappers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from watchgate.core.policy.shell.commands import SHELLS, Word, is_itself, plain_name
from watchgate.core.policy.shell.find_tests import sought
from watchgate.core.policy.shell.wrapper_options import WrapperOptions, split
from watchgate.core.policy.shell.wrappers import (
    PLAIN_SCRIPT,
    PLAIN_SHELLS,
    PREFIXES,
    RUST_TOOLS,
    SCRIPT_EACH,
    SCRIPT_OPERAND_OPTIONS,
    SCRIPT_OPERANDS,
    SCRIPT_OPTIONS,
    SEARCHES,
    SUB_PREFIXES,
    Prefix,
)

_MAX_INPUTS = 8
_CHANGERS = frozenset(("rm", "rmdir", "unlink", "sed", "gsed", "chmod", "touch"))
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
_QUESTIONS = frozenset(("--version", "--help", "-V"))
_VERSION = re.compile(r"v?\d[\d.]*|lts/[\w*]+|[\w-]+@[\w.-]+")
_TOOLCHAIN = re.compile(r"\+(?:stable|beta|nightly|\d)[\w.-]*")
_NAME = re.compile(r"[\w./-]+")
_FOLDER = re.compile(r"\$(?:HOME|PWD|\{HOME\}|\{PWD\}|\(pwd\))(?![\w])")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*])?\+?=")


class Wrapped(msgspec.Struct, frozen=True, gc=False):
    """The content of a wrapper: commands by their words, and texts that a shell reads.

    `transparent` says that running them is all it does; `unclear` that a word which is only known
    at run time decides where the command starts.
    """

    commands: tuple[tuple[Word, ...], ...] = ()
    scripts: tuple[Word, ...] = ()
    transparent: bool = False
    unclear: bool = False


def unwrap(words: Sequence[Word], documents: Sequence[Word]) -> Wrapped:
    """Returns the commands that these words run, and a shell's here-documents."""
    program = plain_name(words[0].text)
    prefix, own = PREFIXES.get(program), words[1:]
    if len(words) > 1 and (place := _sub_command(program, words)):
        prefix, own = _sub_prefix(program, words, place), words[place + 1 :]
    commands: tuple[tuple[Word, ...], ...] = ()
    transparent = unclear = False
    if program in RUST_TOOLS and len(words) > 2 and _TOOLCHAIN.fullmatch(words[1].text):
        # Which toolchain runs it changes nothing of what it does; one that lacks is installed.
        commands = ((words[0], *words[2:]),)
    elif program in SEARCHES:
        commands = tuple(filter(None, _searched(words, SEARCHES[program])))
    elif program == "parallel":
        commands = _parallel(words)
    elif prefix and program not in SCRIPT_OPERANDS:
        commands, transparent = _prefixed(own, prefix)
        if program in _CONTAINERS:
            # What is asked of the program that the container starts by itself.
            commands = tuple(c for c in commands if len(c) > 1 or c[0].text not in _QUESTIONS)
        behind = max(map(len, commands), default=len(own))
        unclear = any(_may_shift(word) for word in own[: len(own) - behind])
    scripts = (*_option_scripts(program, words), *_operand_scripts(program, words))
    # Some wrappers give a single word to a shell.
    scripts += tuple(words_[0] for words_ in commands if len(words_) == 1 and " " in words_[0].text)
    if program in SHELLS or (program == "ssh" and not scripts):
        scripts += tuple(documents)
    if program in PLAIN_SHELLS and len(words) == 3 and words[1].text in PLAIN_SCRIPT:
        transparent = True
    transparent &= is_itself(words[0].text) and bool(commands or scripts)
    return Wrapped(commands, scripts, transparent, unclear)


def _may_shift(word: Word) -> bool:
    """Returns whether an expansion may move the command's start; one quoted value stays one word.

    It must show whether it is an option: by what stands before it, or as a folder's path.
    """
    if word.expands == "value":
        return word.prefix[:1] == "" and not _FOLDER.match(word.text)
    return word.dynamic


def _sub_command(program: str, words: Sequence[Word]) -> int:
    """Returns the index of the sub-command that runs the rest; 0 if there is none."""
    for index, word in enumerate(words[1:8], 1):
        if _sub_prefix(program, words, index):
            # Anywhere else it is a name, such as the package of `npm install x`.
            return index if word.text != "x" or index == 1 else 0
    return 0


def own_words(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a wrapper in front of the command that it runs; all where that is not sure."""
    program = plain_name(words[0].text)
    prefix, place = PREFIXES.get(program), 0
    if len(words) > 1 and (place := _sub_command(program, words)):
        prefix = _sub_prefix(program, words, place)
    if prefix is None or prefix.appends or program in SCRIPT_OPERANDS:
        return words
    own = words[place + 1 :]
    if prefix.mark and _behind_mark(own, prefix) is None:
        return words
    commands, _ = _prefixed(own, prefix)
    return words[: len(words) - min(map(len, commands), default=0)]


def _behind_mark(words: Sequence[Word], prefix: Prefix) -> tuple[Word, ...] | None:
    """The words behind a wrapper's mark; None without it."""
    for index, word in enumerate(words[:-1]):
        if word.text == prefix.mark and not word.dynamic:
            return tuple(words[index + 1 :])
    return None


def _sub_prefix(program: str, words: Sequence[Word], place: int) -> Prefix | None:
    """The wrapper that a sub-command of one word or two is, whose last one stands there."""
    last = words[place].text
    both = f"{words[place - 1].text} {last}"
    return SUB_PREFIXES.get((program, last)) or SUB_PREFIXES.get((program, both))


def _prefixed(words: Sequence[Word], prefix: Prefix) -> tuple[tuple[tuple[Word, ...], ...], bool]:
    if prefix.mark and (marked := _behind_mark(words, prefix)):
        return (marked,), False
    parted = split(words, prefix.options)
    if any(option in prefix.only_asks for option in parted.given):
        return (), False
    ended = parted.length > 0 and words[parted.length - 1].text == "--"
    if ended and prefix.may_lack:
        # Its own operands would stand before the sign.
        prefix = msgspec.structs.replace(prefix, operands=0, may_lack=False)
    starts = [_behind(words, parted.length, prefix)]
    if parted.unknown and starts[0] + 1 < len(words):
        # The option may have a value, which then was taken for the command.
        starts.append(_behind(words, starts[0] + 1, prefix))
    behind = next((i for i, w in enumerate(words) if w.text == "--" and i > starts[0]), None)
    if prefix.may_lack and not _is_version(words[parted.length : parted.length + 1]):
        starts.append(parted.length)
    if prefix.operands and behind is not None:
        starts.append(behind + 1)
    commands = tuple(
        _filled(words[start:], words[: parted.length], parted.given, prefix)
        for start in starts
        if not all(ASSIGNMENT.match(word.text) for word in words[start:])
    )
    harmless = prefix.harmless
    alone = harmless is not None and not parted.unknown and harmless.issuperset(parted.given)
    return commands, alone


def _is_version(words: Sequence[Word]) -> bool:
    return any(_VERSION.fullmatch(word.text) for word in words)


def _behind(words: Sequence[Word], start: int, prefix: Prefix) -> int:
    """Finds the start of the command behind a wrapper's own operands."""
    if not prefix.operands:
        return start
    start = min(start + prefix.operands, len(words))
    return start + (start < len(words) and words[start].text == "--")


def _filled(
    words: Sequence[Word], own: Sequence[Word], given: Sequence[str], prefix: Prefix
) -> tuple[Word, ...]:
    """The command with the words of its input where the wrapper puts them."""
    if not prefix.appends:
        return tuple(words)
    if not prefix.replaces.isdisjoint(given):
        texts = [word.text for word in own]
        mark = next((t.lstrip("-IJi") for t in texts if len(t) > 2 and t[1] in "IJi"), "")
        marks = {mark} if mark else {"{}", *texts[1:]}
        return tuple(_replaced(word, marks) for word in words)
    end = words[-1].end
    return (*words, Word("", (), end, end, "words", ""))


def _replaced(word: Word, marks: set[str]) -> Word:
    for mark in marks:
        place = word.text.find(mark) if mark else -1
        if place >= 0 and word.expands != "words":
            return msgspec.structs.replace(word, expands="value", prefix=word.text[:place])
    return word


def _searched(words: Sequence[Word], marks: frozenset[str]) -> Iterator[tuple[Word, ...]]:
    start: int | None = None
    for index, word in enumerate(words):
        if start is None:
            start = index + 1 if word.text in marks else None
        elif word.text in (";", "+"):
            yield _names_matched_by(words[start:index], words)
            start = None
    if start is not None:
        yield _names_matched_by(words[start:], words)


def _names_matched_by(words: Sequence[Word], search: Sequence[Word]) -> tuple[Word, ...]:
    """The command with the files that are found in it: by name where it changes them."""
    if words and words[0].text in _CHANGERS and (named := sought(search)):
        return tuple(each for word in words for each in (named if word.text == "{}" else (word,)))
    return tuple(_replaced(word, {"{}", "{/}", "{.}"}) for word in words)


def _parallel(words: Sequence[Word]) -> tuple[tuple[Word, ...], ...]:
    """The command whose words are given one by one; one word alone is a script."""
    own = _before_inputs(words)
    if not own or (len(own) == 1 and not _NAME.fullmatch(own[0].text)):
        return ()
    marks = {"{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}"}
    if any(mark in word.text for word in own for mark in marks):
        return (tuple(_replaced(word, marks) for word in own),)
    given = [(*own, each) for each in _inputs(words)[:_MAX_INPUTS]]
    return ((*own, Word("", (), own[-1].end, own[-1].end, "words", "")), *given)


def _inputs(words: Sequence[Word]) -> Sequence[Word]:
    """Returns the inputs behind `:::` in the words; a file of inputs, `::::`, is not read."""
    start = next((i for i, word in enumerate(words) if word.text in (":::", ":::+")), len(words))
    return [word for word in words[start + 1 :] if not word.text.startswith(":::")]


def _before_inputs(words: Sequence[Word]) -> Sequence[Word]:
    known = PREFIXES["parallel"].options
    own = words[1:]
    own = own[split(own, known).length :]
    return own[: next((i for i, word in enumerate(own) if word.text.startswith(":::")), None)]


def _option_scripts(program: str, words: Sequence[Word]) -> Iterator[Word]:
    options = SCRIPT_OPTIONS.get(program, ())
    for index, word in enumerate(words[1:], 1) if options else ():
        if option := script_option(word.text, options):
            glued = len(word.text[len(option) :].removeprefix("="))
            if glued:
                text, at = word.text[-glued:], word.at[-glued:]
                own = msgspec.structs.replace(word, text=text, at=at)
                yield _split_by_env((own, *words[index + 1 :])) if program == "env" else own
            elif program == "env":
                yield _split_by_env(words[index + 1 :])
            elif index + 1 < len(words):
                yield words[index + 1]


def _split_by_env(words: Sequence[Word]) -> Word:
    """The command of `env -S`: it splits the first word, and keeps those behind as they are."""
    quoted = [*words[:1]]
    if quoted and quoted[0].text.startswith("-"):
        # More of its own options.
        quoted.insert(0, msgspec.structs.replace(quoted[0], text="env", at=(quoted[0].start,) * 3))
    for word in words[1:]:
        text = shlex.quote(word.text)
        if text == word.text:
            quoted.append(word)
            continue
        at = (word.start,) * len(text)
        quoted.append(msgspec.structs.replace(word, text=text, at=at))
    return _joined(quoted) if quoted else Word("", (), 0, 0)


def script_option(text: str, options: Sequence[str]) -> str:
    """The option of these that a word is, also at the end of a cluster such as `-lc`."""
    for option in options:
        long = option.startswith("--")
        if text == option or (text.startswith(option) and (long or option == "-S")):
            return option
        letters = text[1:]
        if not long and text[:1] in ("-", "+") and option[1] in letters and _plain(letters):
            return text
    return ""


def _plain(letters: str) -> bool:
    return letters.isascii() and letters.isalpha()


def _operand_scripts(program: str, words: Sequence[Word]) -> Iterator[Word]:
    if program == "alias":
        yield from (_aliased(word) for word in words[1:] if "=" in word.text)
    if program == "parallel" and not _parallel(words):
        yield from _before_inputs(words) or _inputs(words)
    if program not in SCRIPT_OPERANDS:
        return
    known = SCRIPT_OPERAND_OPTIONS.get(program) or PREFIXES.get(program, Prefix()).options
    own = words[1:]
    operands = own[split(own, known).length :][SCRIPT_OPERANDS[program] :]
    if program == "ssh" and operands and operands[0].text == "--":
        operands = operands[1:]
    if program in SCRIPT_EACH:
        yield from _between(own, known)
    elif operands:
        yield operands[0] if program == "trap" else _joined(operands)


def _between(words: Sequence[Word], known: WrapperOptions) -> Iterator[Word]:
    """The operands, between which options may stand."""
    while words := words[split(words, known).length :]:
        yield words[0]
        words = words[1:]


def _aliased(word: Word) -> Word:
    start = word.text.index("=") + 1
    return msgspec.structs.replace(word, text=word.text[start:], at=word.at[start:])


def _joined(words: Sequence[Word]) -> Word:
    """The words with one blank between them, as `eval` reads them."""
    text = " ".join([word.text for word in words])
    at: list[int] = []
    for word in words:
        at += (*word.at, word.end)
    dynamic = any(word.dynamic for word in words)
    return Word(text, tuple(at[:-1]), words[0].start, words[-1].end, "words" if dynamic else "")


def after_options(words: Sequence[Word]) -> Sequence[Word]:
    """The words behind the options, each of which is taken to have no value."""
    return words[split(words, WrapperOptions()).length :]
