"""The clients whose words are read are those that the shipped rules speak of."""

from __future__ import annotations

from watchgate.core.policy.code.sql.sql_clients import CLIENTS
from watchgate.core.policy.matching.name_patterns import expanded
from watchgate.service.policies.policy_files import shipped


def test_the_set_of_the_rules_is_the_table_of_clients() -> None:
    assert set(expanded(("@sql-clients",), shipped().sets)) == CLIENTS.keys()
