"""Variables and words of which it is known what they may become, though not which of it they are.

`for c in $(docker ps -q)` gives numbers of containers, `for f in logs/*.log` names that begin with
`logs/`: neither becomes an option, or more words than stand there.

- Variables that a text sets to what stands in it: `a=git; $a push` runs git. So does a loop over
  words, `for f in a .env`. A command that names one is judged once more as it is with the value.
  The text stays opaque, since nobody can tell for sure what the variable holds then: the value can
  only make it graver.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, product

from msgspec.structs import replace

from watchgate.core.policy.shell.commands import Command, Tame, Word, names
from watchgate.core.policy.shell.script import Notes

_VALUES_A_NAME = 8
_VARIANTS_A_COMMAND = 8
# So few that they alone do not fill what is looked at of a text.
_VARIANTS_A_TEXT = 32
_MAX_CHARS = 400

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_PLAIN = re.compile(r"[\w./:@%+,=~^-]+", re.ASCII)
_NAMED_CONSTANT = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)


class Constants:
    """The values that a text gives to its variables, by name."""

    def __init__(self, notes: Notes) -> None:
        self._values: dict[str, list[str]] = {}
        self._looped = notes.looped
        self._left = _VARIANTS_A_TEXT

    def note(self, command: Command) -> None:
        """Remembers what a command assigns, where the text shows it."""
        for word in command.assignments:
            match = _ASSIGNED.match(word.text)
            if match is None or word.dynamic:
                continue
            self._add(match[1], word.text[match.end() :])

    def _add(self, name: str, value: str) -> None:
        values = self._values.setdefault(name, [])
        if value not in values and len(values) < _VALUES_A_NAME and len(value) < _MAX_CHARS:
            values.append(value)

    def variants(self, command: Command) -> Iterator[Command]:
        """The command with the values in place of the names."""
        while self._looped:
            name, listed = self._looped.popitem()
            for value in filter(_PLAIN.fullmatch, listed):
                self._add(name, value)
        targets = [redirect.target for redirect in command.redirects]
        given = [word for word in (*command.words, *targets) if word.dynamic]
        if not self._values or not given:
            return
        named = {name for word in given for name in _names(word)} & self._values.keys()
        if not named:
            return
        choices = product(*(self._values[name] for name in sorted(named)))
        for chosen in islice(choices, min(_VARIANTS_A_COMMAND, self._left)):
            self._left -= 1
            values = dict(zip(sorted(named), chosen, strict=True))
            words = tuple(each for word in command.words for each in _filled(word, values))
            redirects = tuple(
                replace(each, target=_filled(each.target, values)[0]) for each in command.redirects
            )
            if words != command.words or redirects != command.redirects:
                yield replace(command, words=words, redirects=redirects, nested=True)


def _names(word: Word) -> list[str]:
    return [hit[1] or hit[2] for hit in _NAMED_CONSTANT.finditer(word.text)]


def _filled(word: Word, values: dict[str, str]) -> Sequence[Word]:
    """The words that one word becomes; outside of quotes a value is split at its blanks."""
    if not word.dynamic or values.keys().isdisjoint(_names(word)) or len(word.text) > _MAX_CHARS:
        return (word,)
    text, done = "", 0
    at: list[int] = []
    rest = False
    for hit in _NAMED_CONSTANT.finditer(word.text):
        value = values.get(hit[1] or hit[2])
        if value is None:
            rest = True
            continue
        text += word.text[done : hit.start()] + value
        at += [*word.at[done : hit.start()], *[word.start] * len(value)]
        done = hit.end()
    text += word.text[done:]
    at += word.at[done:]
    rest = rest or "$(" in text or "`" in text or word.expands == "glob"
    expands = word.expands if rest else ""
    prefix = text[: text.find("$")] if rest and "$" in text else text
    if word.expands != "words" or rest or not text.split():
        return (Word(text, tuple(at), word.start, word.end, expands, prefix),)
    return [
        Word(piece, (word.start,) * len(piece), word.start, word.end, "", piece)
        for piece in text.split()
    ]


_FINDERS = names("find gfind")
FILLING = _FINDERS | names("xargs")
"""Programs that fill in words of the commands that they run."""
_MAX_NAMES = 8
_LITERAL = re.compile(r"[\w./:@%+][\w./:@%+,=-]*", re.ASCII)
_GLOB = re.compile(r"[\w./*?][\w./*?-]*", re.ASCII)
_WILD = re.compile(r"[*?]")
_MADE = re.compile(r"\$\(([^$`;&<>()\\\n]{1,300})\)")
_READ = re.compile(
    r"(?:^|[;&\n]|\bdo\b|\bthen\b)([^$`;&<>()\\\n]{1,300})\|\s*while\s+(?:IFS=\s+)?"
    r"read\s+-r\s+([a-z]\w*)\s*;"
)

_BARE = re.compile(r"(?<![\w$.{/-])([A-Za-z_]\w*)\b(?!\.)", re.ASCII)
_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\b", re.ASCII)
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*):?=", re.ASCII)

_PLAIN_WORD = re.compile(r"[\w=.:/,-]+", re.ASCII)
_NAMED = re.compile(r"(?:table )?\{\{ ?\.(?:Names?|ID) ?\}\}")
_JSON = re.compile(r"\.\[\d*\] ?(?:\| ?)?\.(?:number|databaseId)")
_LISTS = (
    ("ps",),
    ("images",),
    ("container", "ls"),
    ("image", "ls"),
    ("volume", "ls"),
    ("network", "ls"),
    ("compose", "ps"),
)


def names_of(looped: Mapping[str, Sequence[str]], text: str) -> dict[str, str]:
    """The variables that a text sets by such loops alone, with the pattern for files of one."""
    given = {name: list(values) for name, values in looped.items()}
    reads: list[str] = []
    for match in _READ.finditer(text):
        given.setdefault(match[2], []).append(f"$({match[1]})")
        reads.append(match[2])
    calm: dict[str, str] = {}
    for name, values in list(given.items())[:_MAX_NAMES]:
        if _set_otherwise(name, text, reads.count(name)):
            continue
        if len(values) == 1 and _GLOB.fullmatch(values[0]) and _WILD.search(values[0]):
            calm[name] = values[0]
        elif all(map(_is_tame_value, values)):
            calm[name] = ""
    return calm


def _set_otherwise(name: str, text: str, reads: int) -> bool:
    """Returns whether a name may be set by more than loops: it stands somewhere without its `$`.

    Of the loops that read lines, so many read what is known.
    """
    bare = sum(variable == name for variable in _BARE.findall(text))
    loops = sum(variable == name for variable in _LOOP.findall(text))
    return bare != loops + reads or name in _DEFAULT.findall(text)


def _is_tame_value(value: str) -> bool:
    if _LITERAL.fullmatch(value):
        return True
    made = _MADE.fullmatch(value)
    if made is None:
        return False
    reader = shlex.shlex(made[1], posix=True, punctuation_chars="|")
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        tokens = list(reader)
    except ValueError:
        return False
    parts: list[list[str]] = [[]]
    for each in tokens:
        if each == "|":
            parts.append([])
        else:
            parts[-1].append(each)
    return _is_tame_pipe(parts)


def prints_names(commands: Sequence[Command]) -> bool:
    """Returns whether a pipeline prints nothing but such numbers and names."""
    if any(each.nested or each.redirects or each.assignments for each in commands):
        return False
    return _is_tame_pipe([[word.text for word in each.words] for each in commands])


def _is_tame_pipe(parts: Sequence[Sequence[str]]) -> bool:
    if not parts or not all(parts):
        return False
    first, *rest = parts
    makes = _MAKERS.get(first[0])
    return makes is not None and makes(first[1:]) and all(map(_keeps, rest))


def _keeps(words: Sequence[str]) -> bool:
    """Returns whether a filter only leaves out lines, or parts of a name."""
    program, arguments = words[0], words[1:]
    if program in ("head", "tail"):
        return all(re.fullmatch(r"-n|-?n?\d+", each) for each in arguments)
    if program in ("sort", "uniq"):
        return all(re.fullmatch(r"-[urnV]+", each) for each in arguments)
    if program == "grep":
        return sum(not re.fullmatch(r"-[viEwx]+", each) for each in arguments) == 1
    return program == "cut" and sorted(arguments) == ["-d/", "-f2"]


def _containers(words: Sequence[str]) -> bool:
    head = next((each for each in _LISTS if tuple(words[: len(each)]) == each), None)
    if head is None:
        return False
    rest = words[len(head) :]
    quiet = any(re.fullmatch(r"-a?qa?|--quiet", each) for each in rest)
    named = [each for each in rest if _NAMED.fullmatch(each.removeprefix("--format="))]
    if any(each.startswith("--format=") and each not in named for each in rest):
        return False
    return (quiet or bool(named)) and all(
        _PLAIN_WORD.fullmatch(each) or each in named for each in rest
    )


def _cluster(words: Sequence[str]) -> bool:
    text = " ".join(words)
    if not re.search(r"(?:^| )get ", text) or not all(map(_PLAIN_WORD.fullmatch, words)):
        return False
    asked = re.findall(r"(?<!\S)(?:-o[ =]?|--output[ =])(\S+)", text)
    return asked == ["name"] and not re.search(r"--(?:kubeconfig|server|template)| -s\b", text)


def _forge(words: Sequence[str]) -> bool:
    if len(words) < 4 or words[0] not in ("pr", "issue", "run") or words[1] != "list":
        return False
    asked = [b for a, b in pairwise(words) if a in ("-q", "--jq")]
    return len(asked) == 1 and _JSON.fullmatch(asked[0]) is not None and "-t" not in words


def _numbers(words: Sequence[str]) -> bool:
    return bool(words) and all(re.fullmatch(r"\d+", each) for each in words)


def _processes(words: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-[fxnou]+|[\w./:][\w./: -]*", each) for each in words)


_MAKERS: dict[str, Callable[[Sequence[str]], bool]] = {
    **dict.fromkeys(names("docker podman nerdctl"), _containers),
    **dict.fromkeys(names("kubectl oc"), _cluster),
    "gh": _forge,
    "seq": _numbers,
    "pgrep": _processes,
}


def calmed(word: Word, calm: Mapping[str, str]) -> Word:
    """The word as what is known of the variable that it is, if it is one of these."""
    name = word.text[1:].strip("{}")
    if not word.dynamic or name not in calm or word.text not in (f"${name}", f"${{{name}}}"):
        return word
    glob = calm[name]
    if not glob:
        return replace(word, expands="value", tame="name")
    wild = _WILD.search(glob)
    prefix = glob[: wild.start()] if wild else glob
    return Word(glob, (word.start,) * len(glob), word.start, word.end, "glob", prefix)


def kind_fed(command: Command) -> Tame:
    """Returns the kind of words that a command finds or is fed; "" if it is not known."""
    words = [word.text for word in command.words]
    if command.program in _FINDERS:
        return "path" if _starts_plainly(command.words) else ""
    if command.program != "xargs" or not command.piped_from:
        return ""
    if prints_names(command.piped_from):
        return "name"
    (*_, last) = command.piped_from
    ends = any(word in ("-0", "--null", "-0r", "-r0") for word in words[1:4])
    prints_nul = last.program in _FINDERS and last.words[-1].text == "-print0"
    return "path" if ends and prints_nul and _starts_plainly(last.words) else ""


def _starts_plainly(words: Sequence[Word]) -> bool:
    """Returns whether all that a search finds begins with a path that the command shows.

    Some put nothing in front of a name behind `-execdir`.
    """
    start = words[1] if len(words) > 1 else None
    if any(word.text in ("-execdir", "-okdir", "-files0-from") for word in words):
        return False
    return start is None or (start.expands in ("", "glob") and start.prefix[:1] not in ("", "*"))


def fed(words: Sequence[Word], own: Sequence[Word], kind: Tame) -> tuple[Word, ...]:
    """The words of a command that another fills, with what is known of those that it fills."""
    mine = {id(word) for word in own}
    return tuple(
        replace(word, tame=kind) if word.dynamic and id(word) not in mine else word
        for word in words
    )
