"""Declarations of contact sensors: what is wrong with them, and how they are written."""

from dataclasses import replace

import pytest
from contact_viewer.sensors.contact_declaration import (
    NUM_MAX,
    ContactDeclaration,
    ContactTarget,
    TargetKind,
    unique_name,
)
from contact_viewer.sensors.layout import Field
from contact_viewer.settings import Reduce

FOOT, FLOOR = ContactTarget(TargetKind.GEOM, "foot"), ContactTarget(TargetKind.BODY, "floor")
RIGHT = ContactDeclaration("step", FOOT, FLOOR, (Field.FOUND, Field.FORCE), 2)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"fields": ()}, "choose at least one field"),
        ({"num": 0}, f"num goes from 1 to {NUM_MAX:,}"),
        ({"num": 1}, None),
        ({"num": NUM_MAX}, None),
        ({"num": NUM_MAX + 1}, f"num goes from 1 to {NUM_MAX:,}"),
        ({"first": ContactTarget(TargetKind.SITE, "zone")}, None),
        ({"second": ContactTarget(TargetKind.SITE, "zone")}, "only object 1 can be a site"),
        ({"first": ContactTarget(TargetKind.ANY)}, None),
        ({"first": ContactTarget(TargetKind.GEOM)}, "choose the geom that is object 1"),
        ({"second": ContactTarget(TargetKind.BODY)}, "choose the body that is object 2"),
        ({"reduce": Reduce.NETFORCE}, None),
        ({"fields": (Field.FOUND, Field.ANGVEL)}, None),
        ({"reduce": Reduce.NETFORCE, "fields": (Field.FOUND, Field.ANGVEL)}, "a net contact has no velocity"),
        ({"reduce": Reduce.NETFORCE, "fields": (Field.LINVEL,)}, "a net contact has no velocity"),
        ({"name": "tab\t"}, "printable characters"),
        ({"name": "x" * 10_000}, "printable characters"),
        ({"name": ""}, None),
    ],
)
def test_what_is_wrong_in_every_scene_is_said(change: dict[str, object], problem: str | None) -> None:
    found = replace(RIGHT, **change).problem  # type: ignore[arg-type]
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


def test_attributes_are_those_that_differ_from_the_defaults() -> None:
    assert RIGHT.attributes == {"name": "step", "geom1": "foot", "body2": "floor", "num": "2", "data": "found force"}
    site = ContactTarget(TargetKind.SITE, "zone")
    other = replace(RIGHT, name="", first=site, second=ContactTarget(TargetKind.ANY), num=1, reduce=Reduce.MAXFORCE)
    assert other.attributes == {"site": "zone", "data": "found force", "reduce": "maxforce"}
    assert other.changes_from(RIGHT) == {
        "name": None,
        "geom1": None,
        "body2": None,
        "num": None,
        "site": "zone",
        "reduce": "maxforce",
    }
    assert RIGHT.changes_from(RIGHT) == {}
    assert (RIGHT.layout.slots, RIGHT.layout.fields) == (2, (Field.FOUND, Field.FORCE))


def test_another_process_has_the_same_declaration() -> None:
    declaration = replace(RIGHT, reduce=Reduce.MINDIST)
    assert ContactDeclaration.from_json(declaration.to_json()) == declaration


def test_names_are_numbered_from_two_on() -> None:
    assert [unique_name("foot", set(taken)) for taken in ([], ["foot"], ["foot", "foot_2", "foot_3"])] == [
        "foot",
        "foot_2",
        "foot_4",
    ]
