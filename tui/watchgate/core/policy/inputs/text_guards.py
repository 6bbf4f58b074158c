"""Detection of names that mix letters of several scripts and may pass for names in one.

A name in any one script is as good as another, also with digits, signs or a Latin ending
(`отчёт-2.pdf`), and composed or not: people name their files so. What nobody types is one run of
letters out of two of the scripts whose letters look alike, such as Latin with one Cyrillic letter.

Text guards: hidden characters and sheer length, which keep a person from judging a text.

- Findings about calls that reach into our own processes: a core, its consoles, waiting hooks. Which
  numbers of a call are such a process's is a fact that is looked up (`Subject.own_pids`); here it
  is only judged what the call would do with them.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import category

from watchgate.core.base.text import Span, hidden_spans
from watchgate.core.model.assessment import Finding, Segment
from watchgate.core.policy.inputs.subject import Subject

MAX_CHARS = 10_000
# What lies behind it is not looked at, not even for hidden characters, so that no input costs more
# than a moment; such a text is opaque and too long besides.
MAX_SCANNED_CHARS = 2 * MAX_CHARS


def text_findings(text: str) -> Iterator[Finding]:
    """Yields one finding for each thing that keeps a person from judging the text."""
    # An odd blank is marked on the screen and read as part of its word: nothing hides behind it.
    spans = hidden_spans(text[:MAX_SCANNED_CHARS])
    if spans := [span for span in spans if category(text[span[0]]) != "Zs"]:
        reason = "Holds characters that cannot be seen or that reorder what is read"
        yield Finding("text.hidden", reason, "unknown", spans[0])
    if len(text) > MAX_CHARS:
        reason = f"Is longer than {MAX_CHARS:,} characters, more than anybody reads"
        yield Finding("text.too-long", reason, "unknown")


OWN_PROCESS_RULE = "own.process"
OWN_PROCESS_UNKNOWN_RULE = "own.process-unseen"
_REACHES = re.compile(
    r"(?i)kill|signal|ptrace|trace\b|gdb|lldb|prlimit|renice|taskset|reptyr|nsenter|chrt|ionice"
    r"|cgexec|criu|process_vm|pidfd|/proc/|\bperf\b|gcore"
)
_NUMBER = re.compile(r"\d{1,10}")
_QUOTES = {ord(each): None for each in "'\"\\"}
_BY_PID = frozenset(
    """kill tkill strace ltrace gdb lldb prlimit renice taskset reptyr nsenter chrt ionice gcore
    perf""".split()
)
_MAX_CHARS = 64 * 1024
# Nothing of ours listens at a port: the core's sockets are files.
_WHO_LISTENS = re.compile(r"\$\(lsof (?:-ti ?|-t -i ?|-i ?-t )(?:tcp)?:[1-9]\d{3,4}\)")
_STARTS_JOB = re.compile(r"(?<![&<>|\\])&(?![&>])")
_JOB = re.compile(r"%\d+|\$!|\$\{?(\w+)\}?")


def numbers_in(text: str) -> frozenset[int]:
    """Returns the numbers in a text, with and without its quotes; of a long one, in its start."""
    begin = text[:_MAX_CHARS]
    as_written = {int(each) for each in _NUMBER.findall(begin)}
    return frozenset(as_written | {int(each) for each in _NUMBER.findall(begin.translate(_QUOTES))})


def own_process_findings(
    subject: Subject, text: str, segments: Sequence[Segment]
) -> Iterator[Finding]:
    """Yields the findings about a shell text of which these are the commands."""
    if subject.own_pids is None:
        return
    if subject.own_pids and _REACHES.search(text.translate(_QUOTES)):
        named = ", ".join(map(str, sorted(subject.own_pids)))
        reason = f"Reaches into Watchgate's own process {named}, which would end or change the gate"
        yield Finding(
            OWN_PROCESS_RULE, reason, "critical", _span(subject.own_pids, text), always_ask=True
        )
    for segment in segments:
        if process := _runtime_process(segment, text):
            reason = (
                f"Reaches into a process that only the run shows ({process}): it may be our own"
            )
            yield Finding(OWN_PROCESS_UNKNOWN_RULE, reason, "unknown", segment.span, segment.number)


def _runtime_process(segment: Segment, text: str) -> str:
    """Returns the word for a process that cannot be looked up; empty where there is none."""
    words = segment.words
    if not words or posixpath.basename(words[0]) not in _BY_PID:
        return ""
    named = [word for word in words[1:] if not word.startswith("-")]
    if words[0] == "kill" and named and all(_WHO_LISTENS.fullmatch(word) for word in named):
        return ""
    if words[0] == "kill" and named and all(_is_own_job(word, text) for word in named):
        return ""
    job = next((word for word in words[1:] if word.startswith("%")), "")
    return job or ("a variable or another command's output" if segment.dynamic else "")


def _is_own_job(word: str, text: str) -> bool:
    """Returns whether a word names a job that the text itself has put into the background."""
    job = _JOB.fullmatch(word)
    if job is None or not _STARTS_JOB.search(text) or "watchgate" in text:
        return False
    return job[1] is None or f"{job[1]}=$!" in text


def _span(pids: frozenset[int], text: str) -> tuple[int, int] | None:
    spans = (each.span() for each in _NUMBER.finditer(text) if int(each[0]) in pids)
    return next(spans, None)


_LOOK_ALIKE = frozenset(("LATIN", "CYRILLIC", "GREEK"))
# An accent that stands by itself does not end a run of letters.
_RUN = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f])+")
_SHOWN_CHARS = 40
_SHOWN_LETTERS = 3


def mixed_scripts(
    names: Iterable[tuple[str, Span | None]], segment: int | None = None
) -> Iterator[Finding]:
    """Yields a finding for each name with a run of letters of several scripts.

    The finding names the odd letters by code point. A name is given with its span in the shown
    text; one with a blank in it is prose.
    """
    for name, span in names:
        if not name.isascii() and (run := _mixed_run(name)):
            reason = (
                f"Mixes letters of several scripts, so it may be another name: {_odd_text(run)}"
            )
            yield Finding("text.mixed-scripts", reason, "medium", span, segment)


# A text may hold the same name many times.
@lru_cache(maxsize=64)
def _mixed_run(name: str) -> str:
    """Returns the first run of letters of several scripts; empty without any, and for prose."""
    if any(map(str.isspace, name)):
        return ""
    return next((run for run in _RUN.findall(name) if len(_scripts(run)) > 1), "")


def _scripts(run: str) -> frozenset[str]:
    """Returns the scripts, of those that look alike, to which the letters belong."""
    return _LOOK_ALIKE.intersection(map(_script, run))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _odd_text(run: str) -> str:
    """Returns a text that names the letters in the minority, each once, by code point."""
    scripts = [_script(letter) for letter in run]
    main_script = max(_scripts(run), key=scripts.count)
    others = [each for each in dict.fromkeys(run) if _script(each) in _LOOK_ALIKE - {main_script}]
    letters = ", ".join(
        f"{each} is U+{ord(each):04X} {unicodedata.name(each)}" for each in others[:_SHOWN_LETTERS]
    )
    more = f", and {len(others) - _SHOWN_LETTERS} more" if len(others) > _SHOWN_LETTERS else ""
    shown = run if len(run) <= _SHOWN_CHARS else f"{run[:_SHOWN_CHARS]}..."
    return f"in {shown} {letters}{more}"
