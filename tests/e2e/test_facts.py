"""What a held call would touch is told beside it, and the look leaves everything as it is."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.programs import Core


def test_a_deletion_is_counted_on_the_disk_and_nothing_is_deleted(
    core: Core, tmp_path: Path
) -> None:
    src = tmp_path / "src"
    src.mkdir()
    for name in ("a", "b", "c"):
        (src / name).write_text("x")
    core.configure('profile = "strict"\n')
    core.start()

    hook, request, facts = core.looked_at("rm -rf src", tmp_path)

    assert "3 files" in facts[0]["text"]
    assert core.pending() == [request]
    assert hook.waits
    assert sorted(each.name for each in src.iterdir()) == ["a", "b", "c"]
