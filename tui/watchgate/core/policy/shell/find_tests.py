"""The names of the files that a `find` acts on, where its tests tell.

`find . -name '*.pyc' -delete` deletes `./*/*.pyc`, as deep as may be; so does `-exec rm {} +`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.policy.shell.commands import Word, names

_ENDS = names("-delete -exec -execdir -ok -okdir")
# They leave out some of what the other tests take in.
_NARROWS = names(
    """-type -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -newer -size -user -group
    -perm -path -wholename -ipath"""
)
_STANDS_ALONE = names("-prune -print -print0 -not ! -depth -d -xdev -mount -empty -H -P -E -x")
_MAX_NAMES = 8


def sought(words: Sequence[Word]) -> tuple[Word, ...]:
    """The paths of what a `find` acts on; () where they may be any.

    Every path has the name that is looked for somewhere behind the folder where the search starts.
    """
    arguments = list(words[1:])
    end = next((i for i, word in enumerate(arguments) if word.text in _ENDS), len(arguments))
    behind = next((i for i, word in enumerate(arguments) if word.text[:1] in "-(!"), end)
    starts, tests = arguments[:behind], arguments[behind:end]
    patterns = _named(tests)
    if not patterns or any(word.dynamic for word in (*starts, *tests)):
        return ()
    folders = [word.text.rstrip("/") or "/" for word in starts] or ["."]
    paths = [_path(folder, word) for folder in folders for word in patterns]
    return tuple(paths) if len(paths) <= _MAX_NAMES else ()


def _named(tests: Sequence[Word]) -> list[Word]:
    """The names of which a file has one whatever else is asked; none where it may have any."""
    patterns: list[Word] = []
    index = 0
    while index < len(tests):
        text = tests[index].text
        negated = index > 0 and tests[index - 1].text in ("-not", "!")
        if text == "(":
            close = next((i for i, each in enumerate(tests) if i > index and each.text == ")"), 0)
            among = tests[index + 1 : close]
            if patterns or negated or not among or not _are_names(among):
                return []
            patterns = list(among[1::3])
            index = close + 1
        elif text == "-name" and index + 1 < len(tests):
            if patterns or negated:
                return []
            patterns = [tests[index + 1]]
            index += 2
        elif text in _NARROWS:
            index += 2
        elif text in _STANDS_ALONE:
            index += 1
        else:
            return []
    return [] if any("/" in word.text for word in patterns) else patterns


def _are_names(words: Sequence[Word]) -> bool:
    """Tells whether these are `-name a -o -name b`, and no more."""
    texts = [word.text for word in words]
    kinds = [texts[start::3] for start in range(3)]
    return (
        len(texts) % 3 == 2
        and all(text == "-name" for text in kinds[0])
        and all(text in ("-o", "-or") for text in kinds[2])
    )


def _path(folder: str, name: Word) -> Word:
    text, prefix = f"{folder}/*/{name.text}", f"{folder}/"
    at = (name.start,) * len(text)
    return msgspec.structs.replace(name, text=text, at=at, expands="glob", prefix=prefix)
