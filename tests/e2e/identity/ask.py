"""Asks a core, from wherever it was started: `ask.py SOCKET OUT REQUEST...`, each as JSON.

What the core answers to each goes to the file OUT, which is there once it is whole.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path


def main() -> None:
    """Asks, and writes down what was answered."""
    place, out, *requests = sys.argv[1:]
    answers = []
    with socket.socket(socket.AF_UNIX) as core:
        core.connect(place)
        with core.makefile("rwb") as lines:
            lines.readline()
            for number, request in enumerate(requests, 1):
                lines.write(json.dumps({"id": number, **json.loads(request)}).encode() + b"\n")
                lines.flush()
                answers.append(json.loads(lines.readline()))
    Path(out + ".new").write_text(json.dumps(answers))
    Path(out + ".new").replace(out)


if __name__ == "__main__":
    main()
