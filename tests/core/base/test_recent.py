"""A dict of the keys that came last, whatever is done with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.bounded import Recent

DOINGS = st.lists(st.tuples(st.sampled_from(["set", "renew", "pop"]), st.integers(0, 9)))


@given(st.integers(1, 5), DOINGS)
def test_it_holds_the_keys_that_came_last_in_their_order(
    most: int, doings: list[tuple[str, int]]
) -> None:
    kept: Recent[int, int] = Recent(most)
    model: list[tuple[int, int]] = []
    for value, (doing, key) in enumerate(doings):
        place = next((n for n, (known, _) in enumerate(model) if known == key), None)
        if doing == "pop":
            kept.pop(key, None)
        elif doing == "renew":
            kept.renew(key, value)
        else:
            kept[key] = value
        if place is not None and doing == "set":
            model[place] = key, value
            continue
        if place is not None:
            del model[place]
        if doing != "pop":
            model = [*model, (key, value)][-most:]
        assert len(kept) <= most
    assert list(kept.items()) == model


def test_a_key_set_again_is_forgotten_with_its_age_and_a_renewed_one_is_not() -> None:
    kept: Recent[str, int] = Recent(2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert list(kept) == ["b", "c"]
    kept.renew("b", 5)
    kept["d"] = 6
    assert kept == {"b": 5, "d": 6}
