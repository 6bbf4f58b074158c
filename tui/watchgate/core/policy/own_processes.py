"""Findings about calls that reach into our own processes: a core, its consoles, waiting hooks.

Which numbers of a call are such a process's is a fact that is looked up (`Subject.own_pids`); here
it is only judged what the call would do with them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from watchgate.core.policy.assessment import Finding, Segment
from watchgate.core.policy.subject import Subject

RULE = "own.process"
UNSEEN = "own.process-unseen"
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


def numbers(text: str) -> frozenset[int]:
    """Returns the numbers in a text, with and without its quotes; of a long one, in its start."""
    begin = text[:_MAX_CHARS]
    as_written = {int(each) for each in _NUMBER.findall(begin)}
    return frozenset(as_written | {int(each) for each in _NUMBER.findall(begin.translate(_QUOTES))})


def reached(subject: Subject, text: str, segments: Sequence[Segment]) -> Iterator[Finding]:
    """Yields the findings about a shell text of which these are the commands."""
    if subject.own_pids is None:
        return
    if subject.own_pids and _REACHES.search(text.translate(_QUOTES)):
        named = ", ".join(map(str, sorted(subject.own_pids)))
        reason = f"Reaches into Watchgate's own process {named}, which would end or change the gate"
        yield Finding(RULE, reason, "critical", _span(subject.own_pids, text), always_ask=True)
    for segment in segments:
        if process := _runtime_process(segment, text):
            reason = (
                f"Reaches into a process that only the run shows ({process}): it may be our own"
            )
            yield Finding(UNSEEN, reason, "unknown", segment.span, segment.number)


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
