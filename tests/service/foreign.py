"""Installs a package with an agent of its own: what a distribution's files would be."""

from __future__ import annotations

from pathlib import Path

GOOD = """
import msgspec
from tests.agents.tables import TABLE
from watchgate.agents.table.adapter import TableAdapter

class Nova(TableAdapter):
    def __init__(self):
        super().__init__(msgspec.structs.replace(TABLE, name="nova"))
"""

FAULTY = (
    GOOD
    + """
    def decode(self, payload, intake):
        if b"decode" in payload:
            raise RuntimeError("a bug in decode")
        return super().decode(payload, intake)

    def answer(self, event, reply):
        if "answer" in str(event.tool):
            raise KeyError("a bug in answer")
        if "nonsense" in str(event.tool):
            return "yes"
        return super().answer(event, reply)

    def closed(self, native, lane, reason):
        raise ValueError("a bug in closed")
"""
)


def install(folder: Path, code: str, names: str = "nova = nova_package:Nova") -> None:
    """Lays a package into a folder that is on the path of modules."""
    (folder / "nova_package.py").write_text(code)
    info = folder / "nova_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nova-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[watchgate.agents]\n{names}\n")
