"""Declarations of touch sensors, to text and MJCF and back."""

from dataclasses import replace

import mujoco
import pytest
from contact_viewer.touch.declaration import TouchDeclaration, parse_touch
from contact_viewer.touch.device import Measure, TouchType
from hypothesis import given, settings
from hypothesis import strategies as st

from .devices import WEIGHT, sample


def test_declaration_of_every_key() -> None:
    text = """site="the sole" type=force-3d table='0 0 0, 500 5e3 .01' resolution=5
              period=2.5 measure=mount seed=7"""
    assert parse_touch("foot", text) == TouchDeclaration(
        "foot",
        type=TouchType.FORCE3D,
        site="the sole",
        lookup_table=((0, 0, 0), (500, 5000, 0.01)),
        resolution=5,
        sampling_period=2.5,
        measure=Measure.MOUNT,
        seed=7,
    )


def test_declaration_defaults() -> None:
    declaration = parse_touch("nose", "body=head")
    assert declaration == TouchDeclaration("nose", body="head", sampling_period=10)
    assert declaration.to_text() == "type=bumper body=head"
    assert parse_touch("nose", "body=head table=''").lookup_table == ()


def test_declaration_text_is_readable() -> None:
    declaration = TouchDeclaration(
        "foot", TouchType.FORCE, site="sole", lookup_table=((0, 0, 0), (500, 5000, 0.01)), sampling_period=20
    )
    assert declaration.to_text() == "type=force site=sole table='0 0 0, 500 5000 0.01' period=20"


def test_declaration_builds_the_device() -> None:
    device = parse_touch("foot", "type=force site=sole table='' resolution=5 period=1 measure=mount seed=4").build()
    assert (device.name, device.measure, device.seed) == ("foot", "mount", 4)
    assert device.get_sampling_period() == 1
    assert sample(device, WEIGHT).tolist() == [50]
    assert parse_touch("foot", "site=sole period=0").build().get_sampling_period() == 0


def test_an_unknown_type_is_declared_as_a_bumper_with_a_warning() -> None:
    said = "unknown type 'Force': choose from bumper, force, force-3d; taken as a bumper"
    with pytest.warns(UserWarning, match=f"^touch:foot: {said}$"):
        assert parse_touch("foot", "site=a type=Force") == parse_touch("foot", "site=a")
    with pytest.warns(UserWarning, match=f"^{said}$"):
        assert TouchDeclaration("foot", "Force", site="a").type is TouchType.BUMPER  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs either a site or a body"),
        ("type=force", "needs either a site or a body"),
        ("site=a body=b", "needs either a site or a body"),
        ("site=", "needs either a site or a body"),
        ("site=a measure=x", "unknown measure 'x': choose from contact, mount"),
        ("site=a tabel=''", "unknown key 'tabel': choose from type, site, body, table, resolution, "),
        ("site=a site=b", "site is given twice"),
        ("site a", "expected key=value, not 'site'"),
        ("site='a", "a quote is not closed"),
        ("site=a table='0 0'", "row 1 must be three numbers: force, output, noise level; not 2"),
        ("site=a table='0 0 0,'", "row 2 must be three numbers"),
        ("site=a table='0 0 zero'", "table: expected a number, not 'zero'"),
        ("site=a table='0 0 0, 0 1 0'", "row 2 must have a larger force"),
        ("site=a table='0 0 nan'", "row 1: expected a finite number, not nan"),
        ("site=a period=fast", "period: expected a number, not 'fast'"),
        ("site=a period=-3", "sampling_period must be 0 or at least"),
        ("site=a resolution=0", "resolution must be -1"),
        ("site=a seed=1.5", "seed must be a whole number of at least 0, not 1.5"),
        ("site=a seed=-1", "seed must be a whole number of at least 0, not -1"),
    ],
)
def test_wrong_declarations_say_what_is_wrong_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^touch:foot: ") as error:
        parse_touch("foot", text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_all_declarations_are_checked() -> None:
    declaration = TouchDeclaration("foot", site="sole", lookup_table=[[0, 0, 0], [5, 5, 0]])  # type: ignore[arg-type]
    assert declaration.lookup_table == ((0, 0, 0), (5, 5, 0))
    with pytest.raises(ValueError, match="resolution"):
        replace(declaration, resolution=0)
    with pytest.raises(ValueError, match="needs a name"):
        replace(declaration, name="")


NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)
NAMES = st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1)


@settings(deadline=None)
@given(
    name=NAMES,
    target=NAMES,
    is_site=st.booleans(),
    type=st.sampled_from(TouchType),
    inputs=st.lists(NUMBERS, unique=True, max_size=5),
    data=st.data(),
    resolution=st.just(-1.0) | st.floats(1e-9, 1e9),
    period=st.just(0.0) | st.floats(1e-3, 1e6),
    measure=st.sampled_from(Measure),
    seed=st.integers(0, 2**70),
)
def test_declarations_survive_text_and_mjcf(
    name: str,
    target: str,
    is_site: bool,
    type: TouchType,
    inputs: list[float],
    data: st.DataObject,
    resolution: float,
    period: float,
    measure: Measure,
    seed: int,
) -> None:
    rows = tuple((force, data.draw(NUMBERS), data.draw(st.floats(0, 1))) for force in sorted(inputs))
    site, body = (target, None) if is_site else (None, target)
    declaration = TouchDeclaration(name, type, site, body, rows, resolution, period, measure, seed)
    assert parse_touch(name, declaration.to_text()) == declaration
    model = mujoco.MjModel.from_xml_string(f"<mujoco><custom>{declaration.to_mjcf()}</custom></mujoco>")
    text = bytes(model.text_data).rstrip(b"\0").decode()
    entry = model.names[model.name_textadr[0] :].split(b"\0")[0].decode()
    assert entry == f"touch:{name}"
    assert parse_touch(name, text) == declaration
