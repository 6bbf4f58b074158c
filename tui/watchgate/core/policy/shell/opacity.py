"""Commands that run something which their words do not show, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.policy.shell import powershell_given
from watchgate.core.policy.shell.commands import INTERPRETERS, SHELLS, Word, names, plain_name
from watchgate.core.policy.shell.unwrap import after_options, script_option, unwrap

_INLINE_FLAGS = frozenset("cerpE")
_INLINE_OPTIONS = ("--eval", "--print", "--execute")
# They have the program look at a file's syntax.
_CHECKING = names("ruby perl")
_CHECKS = names("-c -cw -wc")
_FACTS_OF_PHP = names("-l -n -i -m -v --ini --ri --version")
_SOURCES = frozenset(("source", "."))
_COMPUTING = names(
    "test [ [[ (( let printf read declare typeset local export readonly unset mapfile readarray"
    " wait getopts"
)


def unread(words: Sequence[Word], fed: bool) -> str:
    """Returns the reason the command runs more than its words show; empty if they show it all.

    That is a program named by an expansion, code of another language, a sourced file that is not
    named, or a shell that reads its commands from what is `fed` to it.
    """
    program = plain_name(words[0].text)
    if words[0].dynamic:
        return "Runs a program that is only known at run time"
    if not words[0].text.isascii():
        return "Runs a program whose name has letters that may look like others"
    if program in _SOURCES and (fed or not _one_file(words)):
        return "Runs commands in this shell that are only known at run time"
    if powershell_given.scripts(program, words):
        return ""
    if program in SHELLS or program in INTERPRETERS:
        return _of_code(program, words, fed)
    if program == "ssh" and fed and not any(unwrap(words, ()).scripts):
        return "Gives a shell commands that are only known at run time"
    if program == "hash" or (program == "enable" and len(words) > 1):
        return "Changes what the names of commands mean"
    return ""


def computes(words: Sequence[Word]) -> bool:
    """Returns whether the command takes words for names of variables or for arithmetic."""
    return words[0].text in _COMPUTING


def _one_file(words: Sequence[Word]) -> bool:
    """Returns whether the words name a file for certain, as they do where a shell gets a script."""
    named = words[1:]
    return bool(named) and not named[0].dynamic and not named[0].text.startswith(("/dev/", "-"))


def _of_code(program: str, words: Sequence[Word], fed: bool) -> str:
    operands = after_options(words[1:])
    flags = [word.text for word in words[1 : len(words) - len(operands)]]
    if program in SHELLS:
        if fed and not any(script_option(flag, ("-c",)) for flag in flags):
            return "Gives a shell commands that are only known at run time"
        return ""
    if program == "php" and flags and all(flag in _FACTS_OF_PHP for flag in flags):
        return ""
    if program in _CHECKING:
        flags = [flag for flag in flags if flag not in _CHECKS]
    if any(map(_inline, flags)):
        return "Runs code of another language that stands in the command"
    if fed and [word.text for word in operands] in ([], ["-"]):
        return "Gives an interpreter code on its standard input"
    return ""


def _inline(flag: str) -> bool:
    if flag.startswith("--"):
        return flag.startswith(_INLINE_OPTIONS)
    # What stands behind -I is a folder.
    return bool(_INLINE_FLAGS & set(flag.partition("I")[0]))
