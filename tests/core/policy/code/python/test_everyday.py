"""Python that people and agents give to an interpreter all day is ordinary work."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules
from tests.core.policy.code.python.samples import Sample, judged, samples
from watchgate.core.policy.code.code_reading import read

EVERYDAY = samples("everyday.txt")
COMPUTING = [sample for sample in EVERYDAY if sample[0] == "computes"]


@pytest.mark.parametrize("sample", EVERYDAY)
def test_everyday_code_is_read_and_held_by_nothing(sample: Sample) -> None:
    found = judged(sample[1])
    assert (found.decision, found.risk, found.opaque) == ("ask", "medium", False)
    assert "code.read" in rules(found)


@pytest.mark.parametrize("sample", COMPUTING)
def test_code_that_only_computes_does_nothing_else(sample: Sample) -> None:
    assert read("python", sample[1]).commands == ()


@pytest.mark.parametrize("sample", COMPUTING[::9])
def test_it_is_so_however_the_interpreter_gets_it(sample: Sample) -> None:
    code = sample[1]
    for command in (
        f"python3 - <<'END'\n{code}\nEND",
        f"cat > z.py <<'END'\n{code}\nEND\npython3 z.py",
        f"cat <<'END' | .venv/bin/python -\n{code}\nEND",
    ):
        found = judge_command(command)
        assert (found.risk, "code.read" in rules(found)) == ("medium", True)
