"""Views of what is kept: secrets replaced, and of a record only what the configuration keeps.

Redaction is a view: digests and answers always use the original.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from watchgate.core.base.ids import canonical_json
from watchgate.core.base.patterns.allowance import one_text
from watchgate.core.base.text import Span
from watchgate.core.model.large_inputs import IN, LARGE_BYTES, REFERRING_LINE_CHARS
from watchgate.core.secrets.secret_finder import SHORT_BYTES, Secret, has_memory, marked, secrets

Content = Literal["commands", "full", "none"]

# Keys of a record's data that hold what was said or what came back.
_WORDS = ("text", "prompt", "message", "result", "raw")
# What is larger is looked through once alone: twice takes longer than it may.
_LARGE_BYTES = 262_144
_STREAMS = ("stdout", "stderr")
# Of a long line so much more than is kept is looked through: a secret may stand across its end.
_LOOKED_BEYOND_CHARS = 8_192
# The largest parts of a record come last: what they take is not taken from the others.
_LAST = ("before", "tool")
# Keys whose parts point into the summary, as pairs of positions.
_SPANNED = ("findings", "segments")
# Keys that repeat the call or tell of it, with the number of what they hold kept.
_TELLING = ("questions", "answers", "facts", "segments", "rules")


def coverable(text: str, starts: Sequence[int] = (), *, one_line: bool = False) -> list[Secret]:
    """The secrets of a command that may be covered where somebody decides about it.

    Where one of its commands starts (`starts`) inside of what looks like a secret, it is none:
    nothing that runs may hide behind one. With `one_line` (the text was not understood) nothing
    that holds a newline is covered either.
    """
    spans = secrets(text)
    if not spans:
        return spans
    begins = sorted((*starts, len(text)))
    return [
        secret
        for secret in spans
        if begins[bisect_right(begins, secret.start)] >= secret.end
        and not (one_line and "\n" in text[secret.start : secret.end])
    ]


def redact(text: str, starts: Sequence[int] = (), *, one_line: bool = False) -> str:
    """The text with its secrets replaced by what they are and how long: `<aws-key, 20 chars>`."""
    parts: list[str] = []
    done = 0
    for secret in coverable(text, starts, one_line=one_line):
        parts += (text[done : secret.start], secret.shown)
        done = secret.end
    return "".join((*parts, text[done:])) if parts else text


def redacted_span(text: str, span: Span) -> Span:
    """Finds a span of the text in its redacted view; a cut secret is covered whole."""
    start, end = span
    shift_start = shift_end = 0
    for secret in secrets(text):
        growth = len(secret.shown) - (secret.end - secret.start)
        if secret.end <= start:
            shift_start += growth
        elif secret.start < start:
            start = secret.start
        if secret.start < span[1]:
            shift_end += growth
            end = max(end, secret.end)
    return start + shift_start, end + shift_end


def journal_json(data: Mapping[str, Any], content: Content) -> msgspec.Raw:
    """Encodes a record's data as the journal keeps it: secrets redacted, as canonical JSON.

    `commands` drops what was said and what came back and keeps what was done; `none` drops the
    tool's input and what was made of it as well; `full` keeps all. What is dropped leaves its
    length as `<key>_chars`, and an input its size as `input_bytes`; digests stay. Of a line of more
    than 65,536 characters (8,192 where another record holds the input) the beginning stays. All
    texts of a record together may take as long as one; those not looked at by then are covered
    whole, the input's first.
    """
    view, left_out_chars = _with_short_line(_by_content(data, content))
    encoded = canonical_json(view)
    # One look at the whole is far cheaper than one at each of its texts.
    if len(encoded) <= SHORT_BYTES and not left_out_chars and not marked(view):
        return msgspec.Raw(encoded)
    with one_text():
        if len(encoded) > _LARGE_BYTES or has_memory() or marked(view):
            view = _without_secrets(view)
            encoded = canonical_json(view)
    if left_out_chars:
        encoded = canonical_json({**view, "summary": _with_end(view, left_out_chars)})
    return msgspec.Raw(encoded)


def _with_short_line(view: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """The view with no more of a long line than is looked at, and how much of it is left out.

    The words of its commands, which repeat it, leave their number.
    """
    line, max_chars = view.get("summary"), _line_chars(view)
    if not isinstance(line, str) or len(line) <= max_chars:
        return view, 0
    short = {**view, "summary": line[: max_chars + _LOOKED_BEYOND_CHARS]}
    segments = short.get("segments")
    if segments and len(canonical_json(segments)) > LARGE_BYTES:
        short["segments_count"] = len(short.pop("segments"))
    return short, len(line) - max_chars


def _line_chars(view: Mapping[str, Any]) -> int:
    tool = view.get("tool")
    return REFERRING_LINE_CHARS if isinstance(tool, Mapping) and IN in tool else LARGE_BYTES


def _with_end(view: Mapping[str, Any], left_out_chars: int) -> str:
    tool = view.get("tool")
    holder = tool.get(IN) if isinstance(tool, Mapping) else None
    place = f", see record {holder}" if holder else ""
    return f"{view['summary'][: _line_chars(view)]}… {left_out_chars} more characters{place}"


def _by_content(data: Mapping[str, Any], content: Content) -> Mapping[str, Any]:
    if content == "none":
        data = _without_deeds(data)
    if content == "full":
        return data
    if isinstance(rows := data.get("rows"), list | tuple):
        data = {**data, "rows": [_without_streams(row) for row in rows]}
    dropped = [key for key in _WORDS if isinstance(data.get(key), str)]
    if not dropped:
        return data
    view = dict(data)
    for key in dropped:
        view[f"{key}_chars"] = len(view.pop(key))
    return view


def _without_streams(row: Any) -> Any:
    """A row of a hook trace without what the handler wrote; its detail says what it meant."""
    run = row.get("run") if isinstance(row, Mapping) else None
    if not isinstance(run, Mapping):
        return row
    run_fields = {key: value for key, value in run.items() if key not in _STREAMS}
    sizes = {f"{key}_chars": len(run[key]) for key in _STREAMS if isinstance(run.get(key), str)}
    return {**row, "run": {**run_fields, **sizes}}


def _without_secrets(view: Mapping[str, Any]) -> dict[str, Any]:
    order = sorted(view, key=lambda key: key in _LAST)
    clean: dict[str, Any] = redact_all({key: view[key] for key in order})
    summary = view.get("summary")
    for key in _SPANNED:
        if key in view and isinstance(summary, str):
            pairs = zip(clean[key], view[key], strict=True)
            clean[key] = [{**new, **_moved(old, summary)} for new, old in pairs]
    return clean


def redact_all(value: Any) -> Any:
    """A value such as JSON has, with every text in it redacted.

    The words of a list are looked at together: a secret may stand behind `--token`, its announcer.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: redact_all(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return _redacted_words(value)
        return [redact_all(part) for part in value]
    return value


def _redacted_words(words: Sequence[str]) -> list[str]:
    line = " ".join(words)
    spans = secrets(line)
    clean: list[str] = []
    start = 0
    for word in words:
        end = start + len(word)
        parts, done = [], start
        for secret in spans:
            if secret.start < end and start < secret.end:
                parts += [line[done : max(done, secret.start)], secret.shown]
                done = min(end, secret.end)
        clean.append("".join((*parts, line[done:end])))
        start = end + 1
    return clean


def _without_deeds(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data without anything that tells what a call would do, but for the tool's name."""
    redacted = dict(data)
    tool = redacted.get("tool")
    if isinstance(tool, Mapping):
        size = len(msgspec.json.encode(tool.get("input")))
        redacted["tool"] = {**tool, "input": {}, "input_bytes": size}
        redacted["summary"] = tool.get("name", "")
    elif isinstance(tool, str) and "summary" in redacted:
        redacted["summary"] = tool
    for key, known_by in (("detail", "native"), ("what", "alarm")):
        if redacted.get(known_by) and isinstance(redacted.get(key), str):
            redacted[f"{key}_chars"] = len(redacted.pop(key))
    for key in _TELLING:
        if redacted.get(key):
            redacted[f"{key}_count"] = len(redacted.pop(key))
    if (before := redacted.pop("before", None)) is not None:
        redacted["before_bytes"] = len(msgspec.json.encode(before))
    if asked := redacted.pop("asked", ""):
        redacted["asked_chars"] = len(asked)
    # A handler's reason is its own words, and they may quote the call; the policy's never do.
    author = redacted.get("decided_by") or redacted.get("rule") or ""
    if isinstance(redacted.get("reason"), str) and (
        "rows" in redacted or author.startswith("handler ")
    ):
        redacted["reason_chars"] = len(redacted.pop("reason"))
    if isinstance(rows := redacted.get("rows"), list | tuple):
        redacted["rows"] = [{k: v for k, v in row.items() if k != "detail"} for row in rows]
        redacted["summary"] = redacted.get("tool", "")
        if isinstance(redacted.get("shown"), str):
            redacted["shown_chars"] = len(redacted.pop("shown"))
    return _without_quotes(redacted)


def _without_quotes(data: dict[str, Any]) -> dict[str, Any]:
    """The data without where findings point, and without the call that a raised risk names."""
    raised = data.pop("raised", "")
    if raised:
        data["raised_chars"] = len(raised)
    if raised and data.get("reason") == raised:
        data["reason"] = ""
    if "findings" in data:
        findings = [{k: v for k, v in f.items() if k != "span"} for f in data["findings"]]
        data["findings"] = [{**f, "reason": ""} if f["reason"] == raised else f for f in findings]
    return data


def _moved(part: Mapping[str, Any], summary: str) -> dict[str, Any]:
    """The span of a finding or segment where the redacted summary shows it."""
    span = part.get("span")
    return {"span": list(redacted_span(summary, (span[0], span[1])))} if span else {}
