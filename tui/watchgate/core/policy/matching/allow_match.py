"""The matcher of loosening rules: a shape covers a command only where every reading agrees."""

from __future__ import annotations

import re
from collections.abc import Sequence

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.matching.command_options import TAKES_NEXT_WORD, Closed, is_option
from watchgate.core.policy.matching.command_shape import Shape, Sub, is_fed_so
from watchgate.core.policy.matching.command_view import CommandView
from watchgate.core.policy.matching.staying import stays_in_folder
from watchgate.core.policy.shell.commands import Command, Word, names

_SYSTEM_FOLDERS = frozenset(
    """/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin
    /opt/local/bin""".split()
)
# A file of the project that is called so is not what the shell has of that name.
_OF_THE_SHELL = names("[ test [[ (( exit return wait cd pushd mapfile readarray set export trap")
# Their names have capital letters.
_CAPITAL = frozenset(("R", "Rscript"))
_HARMLESS_VARIABLE = re.compile(
    r"(?:LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|FORCE_COLOR|CLICOLOR(?:_FORCE)?|TERM|COLUMNS|LINES"
    r"|PYTHON(?:DONTWRITEBYTECODE|UNBUFFERED|UTF8|IOENCODING)|NODE_NO_WARNINGS"
    r"|GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)|AWS_PROFILE|AWS(?:_DEFAULT)?_REGION)\+?="
    r"|(?:GIT_)?PAGER=(?:cat)?$"
)
# What programs look at in small letters, and what is tied to their search path and names in zsh.
_OWN_VARIABLE = re.compile(
    r"(?!\w*(?:proxy|config|functions|aliases)|(?:cd|f|man|mail|module_)?path="
    r"|(?:argv|commands|options|prompt)=)[a-z][a-z0-9_]*="
)
_HERE = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1)(?::\d+)?/")
_NEGATIVE = re.compile(r"-\d+[A-Za-z]?")
_PIPE = re.compile(r"[<>]\(")
# What stands behind their first operand is none of their options.
_OPTIONS_END = names("sh bash dash zsh ksh redis-cli valkey-cli keydb-cli")
_FOLDER = re.compile(r"\$(?:HOME|PWD|\{HOME\}|\{PWD\})(?:/[\w./-]*)?")


def covers(wanted: Shape, view: CommandView, *, ordinary: bool = False) -> bool:
    """Returns whether the command has this shape for certain, and nothing besides.

    An `ordinary` one also stays in the session's folder, where its program may lie too.
    """
    if wanted.wrapper and view.command.words:
        view = view.own_part
    command = view.command
    if wanted.heads is not None and wanted.heads.isdisjoint(view.known_texts):
        return False
    if not command.words or not wanted.is_of(view.program):
        return False
    plain = not wanted.project_file and _is_named_plainly(view)
    own = wanted.project_file or view.program not in _OF_THE_SHELL
    if not plain and not (ordinary and own and _is_project_file(view)):
        return False
    if ordinary and not stays_in_folder(wanted, view):
        return False
    behind = _behind_sub(wanted, view)
    if behind is None or _operands_wrong(wanted, behind):
        return False
    return _texts_fit(wanted, view, globs=ordinary) and _feeds_fit(wanted, view)


def blocking_rule(view: CommandView) -> str:
    """Returns the id of the built-in rule that rules out any allow; empty without."""
    command = view.command
    for redirect in command.redirects:
        target = redirect.target
        if redirect.writes and (target.dynamic or target.text != "/dev/null"):
            return "policy.redirect"
        if redirect.reads and _unsafe_input(target):
            return "policy.redirect"
    if any(document.dynamic for document in command.documents):
        return "policy.redirect"
    if not all(_is_harmless(command, word.text) for word in command.assignments):
        return "policy.env"
    return ""


def writes_inside(view: CommandView) -> bool:
    """Returns whether all that the command's redirects write surely lies in the session's folder.

    A folder for temporary files will do, and nothing else about the redirects may be unclear.
    """
    place = view.place
    if any(document.dynamic for document in view.command.documents):
        return False
    for redirect in view.command.redirects:
        check()
        target = redirect.target
        if redirect.reads and _unsafe_input(target):
            return False
        if redirect.writes and (target.dynamic or not _may_be_written(place, target.text)):
            return False
    return True


def _may_be_written(place: Place, path: str) -> bool:
    forms = place.forms(path)
    if path.startswith("/dev/"):
        return not place.outside(path)
    return all(place.inside(form) or place.temporary(form) for form in forms)


def _is_harmless(command: Command, assigned: str) -> bool:
    """Returns whether setting this changes nothing that a program does.

    A script's own variables have small names; those that programs look at have capital ones, or
    are the few left out here.
    """
    if _HARMLESS_VARIABLE.match(assigned):
        return True
    if command.words:
        return command.program == "read" and assigned.startswith("IFS=")
    return _OWN_VARIABLE.match(assigned) is not None


def _unsafe_input(target: Word) -> bool:
    """Returns whether a file to read from is unknown, or is a connection.

    What a command prints is known: that command is judged by itself.
    """
    if target.expands == "value" and target.text.startswith("<("):
        return False
    return target.dynamic or target.text.startswith(("/dev/tcp/", "/dev/udp/"))


def _is_named_plainly(view: CommandView) -> bool:
    """Returns whether the program is the one of that name: no other letters, no own folder."""
    word, folder = view.command.words[0], view.command.folder
    if word.dynamic or (folder and folder not in _SYSTEM_FOLDERS) or not word.text.isascii():
        return False
    name = word.text.rpartition("/")[2]
    return (name == name.lower() or name in _CAPITAL) and (bool(folder) or "/" not in word.text)


def _is_project_file(view: CommandView) -> bool:
    """Returns whether the program is a file in the session's folder, named by its path."""
    word, place = view.command.words[0], view.place
    if word.dynamic or "/" not in word.text or not word.text.isascii():
        return False
    return all(map(place.inside, place.forms(word.text)))


def _read(
    wanted: Shape, view: CommandView, closed: Closed, arguments: Sequence[Word]
) -> tuple[list[Word], int] | None:
    """Returns the operands, and how many of them stand together; None if a word does not fit.

    The words are read by the rule's own set of options.
    """
    operands: list[Word] = []
    together = 0
    loose = closed.open and not _has_exceptions(wanted)
    valued = ""
    ended = False
    options_end = view.program in _OPTIONS_END
    for word in arguments:
        text = word.text
        behind = options_end and bool(operands)
        if valued and is_option(text) and not _NEGATIVE.fullmatch(text):
            # The program may take it for the value, whatever it says as an option.
            if valued not in closed.plain:
                return None
            valued = ""
        if valued:
            taken = closed.value_is_known(valued, text)
            taken = taken or (valued in view.global_options and valued not in closed.fixed)
            valued = ""
            if not taken:
                return None
            if word.expands in ("", "value"):
                continue
        if text == "--" and not ended and not word.dynamic:
            ended = True
        elif is_option(text) and not behind:
            in_front = bool(wanted.sub) and not operands
            known, valued = _option(closed, word, view.global_options if in_front else None)
            known = known and not (in_front and _may_take_next(view.program, closed, text, valued))
            if not known or not _name_stands(word, loose=loose):
                return None
            together = together or len(operands)
        elif loose or behind or not word.dynamic or _cannot_be_option(word, view.program):
            operands.append(word)
        else:
            return None
    if valued and not (loose or valued in closed.plain):
        return None
    return operands, together or len(operands)


def _without_commands(words: Sequence[Word], marks: frozenset[str]) -> Sequence[Word] | None:
    """Returns the words without the commands behind these options, which are judged apart.

    A command ends with `;`, or with `+` right behind `{}`; None where it ends in any other way,
    which the reader of commands and the program may take for two different things.
    """
    if not marks:
        return words
    remaining: list[Word] = []
    inside = False
    before = ""
    for word in words:
        text = "" if word.dynamic else word.text
        if not inside:
            inside = text in marks
            if not inside:
                remaining.append(word)
        elif text == ";" or (text == "+" and before == "{}"):
            inside = False
        elif text == "+":
            return None
        before = text
    return None if inside else remaining


def _option(closed: Closed, word: Word, in_front: frozenset[str] | None) -> tuple[bool, str]:
    """Returns whether an option may occur, and the name of it whose value the next word is.

    `in_front` are the program's own options with a value, where the sub-command is still to come;
    what an open set does not know could there take the sub-command for its value.
    """
    text = word.text
    listed = closed.open or text in closed.valued or text in closed.fixed
    if in_front and text in in_front and listed:
        return True, text
    known, valued = closed.takes(text)
    if in_front is not None and valued and not closed.open:
        return False, ""
    if in_front is not None and closed.open and not valued and "=" not in text:
        known = known and text in closed.plain
    return known and text.isascii(), valued


def _may_take_next(program: str, closed: Closed, text: str, valued: str) -> bool:
    """Returns whether a program may take the sub-command for the value of a flag before it."""
    return program in TAKES_NEXT_WORD and not valued and "=" not in text and not closed.open


def _has_exceptions(wanted: Shape) -> bool:
    exceptions = (wanted.no_flag, wanted.no_args, wanted.no_args_regex)
    return bool(wanted.not_sub) or any(each is not None for each in exceptions)


def _name_stands(word: Word, *, loose: bool) -> bool:
    """Returns whether an option's name stands in the text, whatever its value becomes."""
    if not word.dynamic:
        return True
    return loose or (word.expands == "value" and "=" in word.prefix)


def _cannot_be_option(word: Word, program: str) -> bool:
    """Returns whether an expanded word becomes no option and no more words than stand there.

    All that a pathname pattern becomes starts with what stands before its first wildcard.
    """
    if (
        word.tame
        or program == "[["
        or (word.expands in ("value", "glob") and word.prefix[:1] not in ("", "-"))
    ):
        return True
    # The path of a pipe, /dev/fd/63; and a home or a folder, which begins with a slash.
    if word.expands == "value" and _PIPE.match(word.text):
        return True
    return _FOLDER.fullmatch(word.text) is not None


def _behind_sub(wanted: Shape, view: CommandView) -> list[Word] | None:
    """Returns the operands behind the sub-command; None for another, or a word that misfits."""
    closed = wanted.closed
    words = None if closed is None else _without_commands(view.arguments, closed.commands)
    read = None if closed is None or words is None else _read(wanted, view, closed, words)
    if read is None:
        return None
    operands, together = read
    if not wanted.sub:
        return operands
    for sub in wanted.sub:
        head = operands[: len(sub)]
        if len(sub) <= together and all(
            not word.dynamic and each.fit(word.text) for each, word in zip(sub, head, strict=True)
        ):
            return operands[len(sub) :]
    return None


def _operands_wrong(wanted: Shape, behind: list[Word]) -> bool:
    match wanted.operands:
        case "none":
            wrong = any(word.text != "-" for word in behind)
        case "one":
            wrong = len(behind) != 1 or not (
                behind[0].expands in ("", "value") or _is_address_here(behind[0])
            )
        case "some":
            wrong = not behind
        case _:
            wrong = False
    if wanted.first and not wrong:
        unknown = not behind or (behind[0].dynamic and not _is_address_here(behind[0]))
        wrong = unknown or not wanted.first(behind[0].text)
    return wrong


def _is_address_here(word: Word) -> bool:
    """Returns whether a pattern is an address of this machine, whose `?` no file is named after."""
    return word.expands == "glob" and _HERE.match(word.prefix) is not None


def _texts_fit(wanted: Shape, view: CommandView, *, globs: bool) -> bool:
    """Returns whether flags, arguments and paths surely are as the rule asks.

    With `globs` a pattern for files is known well enough: it becomes names of files only.
    """
    if not _flags_fit(wanted, view):
        return False
    certain = ("", "glob") if globs else ("",)
    literal = [
        text
        for text, word in zip(view.texts, view.arguments, strict=True)
        if word.expands in certain
    ]
    # A path that is found below another is none of the words that a rule looks for.
    paths = sum(word.tame == "path" for word in view.arguments)
    all_known = len(literal) + paths == len(view.arguments)
    for test in (wanted.args, wanted.args_regex):
        if test is not None and not any(map(test, literal)):
            return False
    for test in (wanted.no_args, wanted.no_args_regex):
        if test is not None and (not all_known or any(map(test, literal))):
            return False
    if wanted.sub_regex and not wanted.sub_regex(view.operand_line):
        return False
    if wanted.statement and not (view.statements and view.statements <= wanted.statement):
        return False
    if wanted.line and not (all_known and wanted.line(view.line)):
        return False
    return wanted.paths is None or view.touches_only(wanted.paths)


def _flags_fit(wanted: Shape, view: CommandView) -> bool:
    flags = [word.text for word in view.arguments if is_option(word.text)]
    if wanted.no_flag and any(map(wanted.no_flag.maybe, flags)):
        return False
    asked = (*wanted.all_flag, *((wanted.any_flag,) if wanted.any_flag else ()))
    if not all(any(each.surely(flag, wanted.known) for flag in flags) for each in asked):
        return False
    return not (wanted.not_sub and _may_have(wanted.not_sub, view))


def _may_have(subs: tuple[Sub, ...], view: CommandView) -> bool:
    texts = [word.text for word in view.arguments if not is_option(word.text)]
    return any(
        all(p.fit(t) for p, t in zip(sub, texts[start:], strict=False))
        for sub in subs
        for start in range(len(texts) - len(sub) + 1)
    )


def _feeds_fit(wanted: Shape, view: CommandView) -> bool:
    command = view.command
    if not is_fed_so(wanted, command):
        return False
    for feeding, commands in (
        (wanted.piped_from, command.piped_from),
        (wanted.built_from, command.built_from),
    ):
        if feeding is not None and not any(covers(feeding, o) for o in view.others(commands)):
            return False
    return True
