"""Output folders, which builds and tests may empty before they write there.

Such a folder may be one of sources, which no word of the command says; so only folders with names
that are common for output, or that lie in a place for temporary files, are ordinary.
"""

from __future__ import annotations

import posixpath
import re

from watchgate.core.policy.matching.seen import Seen
from watchgate.core.policy.shell.words import names

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


def empties_sources(view: Seen) -> bool:
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


def _is_for_output(folder: str, view: Seen, *, public: bool) -> bool:
    path = view.place.resolve(folder)
    if view.place.temporary(path):
        return True
    parts = posixpath.relpath(path, view.place.cwd or "/").split("/")
    return any(_OUTPUT.fullmatch(part) or (public and part == "public") for part in parts)
