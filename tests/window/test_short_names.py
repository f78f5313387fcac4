"""Names in little room: both ends stay, and different names read differently."""

from functools import partial

from contact_viewer.window.widgets import shorten, shorten_all
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text("abc_0123", min_size=1, max_size=40)
ROOM = st.integers(1, 50)


def fit(room: int, text: str, place: float = 0.5) -> str:
    return shorten(text, room, len, place)


def test_both_ends_of_a_name_stay() -> None:
    assert fit(40, "left_ankle_roll_link") == "left_ankle_roll_link"
    assert fit(11, "left_ankle_roll_link") == "left_…_link"


def test_both_names_of_a_pair_stay() -> None:
    assert fit(23, "left_ankle_roll_link × right_ankle_roll_link") == "left…_link × righ…_link"
    # That they are geoms is left out first.
    assert fit(23, "geom floor × geom right_foot") == "floor × right_foot"
    assert fit(23, "geom 46 of left/wrist × body left_hand") == "46 of…wrist × left_hand"
    # A short one leaves its room to the other.
    assert fit(23, "floor × right_ankle_roll_link") == "floor × right_a…ll_link"


@given(NAMES, NAMES, ROOM)
def test_it_fits_and_uses_its_room(first: str, second: str, room: int) -> None:
    for text in (first, f"{first} × {second}"):
        short = fit(room, text)
        if len(text) <= room:
            assert short == text
        elif room >= 5:
            assert len(short) == room
            assert "…" in short


def test_names_that_differ_anywhere_read_differently() -> None:
    names = [f"left_hand_{finger}_{i}_collision" for finger in ("thumb", "index") for i in range(3)]
    pairs = [f"floor × {name}" for name in names]
    for room, texts in ((15, names), (24, pairs)):
        # Cut in the middle, they would not.
        assert len({fit(room, text) for text in texts}) < len(texts)
        short = shorten_all(texts, partial(fit, room))
        assert len(set(short)) == len(texts)
        assert all(len(text) <= room for text in short)
    assert shorten_all(["a", "a", "b"], lambda text, place: text) == ["a", "a", "b"]
