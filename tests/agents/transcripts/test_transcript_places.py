from __future__ import annotations

from watchgate.agents.transcripts import transcript_places


def test_the_environment_says_where_and_parts_of_opencode_lie_beside_its_messages() -> None:
    env = {
        "CLAUDE_CONFIG_DIR": "/a,/b",
        "CODEX_HOME": "/c",
        "GEMINI_DATA_DIR": "/g",
        "QWEN_DATA_DIR": "/q",
        "OPENCODE_DATA_DIR": "/o",
    }
    found = transcript_places(env, "/home/u")
    assert {place.agent for place in found} == {"claude", "codex", "gemini", "qwen", "opencode"}
    assert not [place.root for place in found if place.root.startswith("/home")]
    parts = [place for place in found if place.form == "part"]
    assert [place.root for place in parts] == ["/o/storage/part"]


def test_without_any_variable_they_lie_in_the_home_folder() -> None:
    assert {place.root for place in transcript_places({}, "/h")} >= {
        "/h/.claude/projects",
        "/h/.codex/sessions",
        "/h/.codex/archived_sessions",
        "/h/.gemini/tmp",
        "/h/.qwen/projects",
        "/h/.local/share/opencode",
    }
