"""One call of a tool, from the answer that let it run to what became of it."""

from __future__ import annotations

from traceback import format_exception_only
from typing import Any

from watchgate.client_api.core_dialog import Answer, CallQuestion

TEXT_CHARS = 100_000
"""Characters of a call's result that are recorded: too long a line would be dropped whole."""


class Call:
    """A call that may run now.

    Run `input`, which an operator may have edited, and nothing else: what ran otherwise is an
    alarm. Set `returned` to what came of it, if that is to be on record (the journal keeps it only
    where its content is "full").
    """

    def __init__(self, asked: CallQuestion, answer: Answer) -> None:
        self.answer = answer
        self.returned: object = ""
        self._asked = asked

    @property
    def input(self) -> dict[str, Any]:
        """The input that may run."""
        return self.answer.input

    def ended(self, fault: BaseException | None, took_s: float) -> dict[str, Any]:
        """Returns the report of the call's end: that it ran, or how it failed."""
        failed = fault is not None
        output = "".join(format_exception_only(fault)).strip() if failed else str(self.returned)
        return {
            "kind": "tool.error" if failed else "tool.post",
            "tool": self._asked.tool,
            "tool_class": self._asked.tool_class,
            "input": self.input,
            "call_id": self._asked.call_id,
            "ok": not failed,
            "took_ms": max(0, round(took_s * 1000)),
            # Bytes that are no text arrive in Python as surrogates, which no line can hold.
            "text": output[:TEXT_CHARS].encode(errors="backslashreplace").decode(),
        }
