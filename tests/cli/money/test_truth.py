"""`costs` on generated transcripts whose true sums are known, where their generator is at hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from scripts.cost_totals import VARIABLES, totals
from tests.cli.conftest import Cli

GENERATOR: Final = Path(__file__).parents[4] / "shared" / "harness" / "gen_transcripts.py"
KINDS: Final = {
    "input": ("input",),
    "output": ("output",),
    "cache_read": ("cache_read",),
    "cache_write": ("cache_5m", "cache_1h"),
}

pytestmark = pytest.mark.skipif(not GENERATOR.is_file(), reason="the generator is not here")


@pytest.fixture(params=[3, 41])
def generated(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A set of transcripts by one seed."""
    out = tmp_path / "generated"
    command = [sys.executable, str(GENERATOR), str(out), "--seed", str(request.param)]
    subprocess.run([*command, "--calls", "5"], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return out


def test_every_call_is_counted_exactly_once(
    cli: Cli, generated: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected: dict[str, Any] = json.loads((generated / "expected.json").read_text())
    differing = {}
    for case, truth in expected.items():
        for variable in VARIABLES.values():
            monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
        agent = case.split("/")[0]
        monkeypatch.setenv(VARIABLES[agent], str(generated / case))
        rows = cli("costs", "--by", "agent", "--json").lines
        found = totals(rows)["totals"]
        wanted = {
            name: sum(model[kind] for model in truth["models"].values() for kind in kinds)
            for name, kinds in KINDS.items()
        }
        if {name: found[name] for name in wanted} != wanted:
            differing[case] = found, wanted
        assert any(row["lower_bound"] for row in rows) >= truth.get("lower_bound", False), case
    assert differing == {}
    assert len(expected) > 30
