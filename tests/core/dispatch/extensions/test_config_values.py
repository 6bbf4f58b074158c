from __future__ import annotations

from typing import Any

import pytest

from tests.core.dispatch.extensions.manifests import load, refusal
from watchgate.core.dispatch.extensions.extension_spec import override_name

ENTRY: dict[str, Any] = {"key": "api-key", "secret_env": "GUARD_KEY", "default": "from manifest"}
OVERRIDE = "WATCHGATE_EXTENSION_GUARD_API_KEY"


def value(environ: dict[str, str], config: dict[str, str], entry: dict[str, Any] = ENTRY) -> Any:
    return load({"config": [entry]}, environ, config=config).initialize["config"].get("api-key")


def test_sy_33_the_order_is_override_user_secret_default() -> None:
    environ = {OVERRIDE: "from override", "GUARD_KEY": "from secret"}
    given = {"api-key": "from user"}
    assert value(environ, given) == "from override"
    del environ[OVERRIDE]
    assert value(environ, given) == "from user"
    assert value(environ, {}) == "from secret"
    assert value({}, {}) == "from manifest"


def test_sy_33_a_required_value_that_nobody_gives_is_an_error_that_says_where_to_set_it() -> None:
    said = refusal({"config": [{"key": "api-key", "required": True, "secret_env": "GUARD_KEY"}]})
    assert "config.api-key" in said
    assert OVERRIDE in said
    assert "$GUARD_KEY" in said


def test_sy_33_a_value_that_is_not_required_is_left_out() -> None:
    assert value({}, {}, {"key": "api-key"}) is None
    assert load({"config": [{"key": "api-key"}]}).initialize["config"] == {}


def test_an_empty_variable_is_a_value() -> None:
    assert value({OVERRIDE: ""}, {}) == ""


def test_a_default_may_be_any_json() -> None:
    assert value({}, {}, {"key": "api-key", "default": [1, {"a": False}]}) == [1, {"a": False}]


def test_a_key_that_the_manifest_does_not_declare_is_refused() -> None:
    said = refusal({"config": [ENTRY]}, config={"apikey": "x"})
    assert "config.apikey" in said
    assert "allowed: api-key" in said


@pytest.mark.parametrize(
    ("id", "key", "name"),
    [
        ("safe-bash", "api_key", "WATCHGATE_EXTENSION_SAFE_BASH_API_KEY"),
        ("a.b", "c-d", "WATCHGATE_EXTENSION_A_B_C_D"),
    ],
)
def test_the_name_of_an_override(id: str, key: str, name: str) -> None:
    assert override_name(id, key) == name


def test_sy_b7_the_environment_is_read_when_the_extension_is_loaded_and_not_again() -> None:
    environ = {OVERRIDE: "first"}
    spec = load({"config": [ENTRY]}, environ)
    environ[OVERRIDE] = "second"
    environ["GUARD_KEY"] = "later"
    assert spec.initialize["config"] == {"api-key": "first"}
    assert "GUARD_KEY" not in spec.env
