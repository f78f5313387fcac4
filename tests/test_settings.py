"""Saved choices: what was saved comes back, what is broken falls back."""

import json

import pytest
from contact_viewer.settings import GizmoSettings, Palette, ScaleMode, Theme, ViewState


def test_saved_choices_come_back() -> None:
    gizmos = GizmoSettings(points=False, scale_mode=ScaleMode.FIXED, width=2.5, palette=Palette.COLORBLIND)
    state = ViewState(gizmos=gizmos, theme=Theme.LIGHT, show_legend=False)
    assert ViewState.from_json(state.to_json()) == state


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"gizmos": 4}', '{"gizmos": {"width": "wide", "points": 1}}'])
def test_broken_text_falls_back(text: str) -> None:
    assert ViewState.from_json(text) == ViewState()


def test_what_is_unknown_or_wrong_is_left_out() -> None:
    saved = {"theme": "pink", "future": 1, "gizmos": {"width": 2, "palette": "none", "scale_mode": "fixed"}}
    state = ViewState.from_json(json.dumps(saved))
    assert state.theme is Theme.DARK
    assert state.gizmos == GizmoSettings(width=2.0, scale_mode=ScaleMode.FIXED)


@pytest.mark.parametrize(
    "text",
    [
        '{"history_megabytes": NaN, "record_last": Infinity, "gizmos": {"width": -Infinity}}',
        '{"history_megabytes": 1e308, "record_last": -1, "plots": {"seconds": 0}, "gizmos": {"length": -2}}',
        '{"history_megabytes": 1' + "0" * 400 + "}",
        '{"record_last": 1' + "0" * 5000 + "}",
        '{"theme": ["dark"], "show_legend": null, "plots": {"signals": {}}}',
        '{"record_folder": "\\ud800", "recent_scenes": "a\\u0000b"}',
        "[" * 100_000,
        '{"gizmos":' * 100_000,
        "\0\x7fELF",
    ],
    ids=["nan", "out of bounds", "too large", "too long", "wrong types", "no text", "deep list", "deep", "garbage"],
)
def test_no_saved_text_keeps_the_window_from_opening(text: str) -> None:
    assert ViewState.from_json(text) == ViewState()
