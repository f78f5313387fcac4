"""What MotrixSim will make of a sensor: predicted by rules, and those rules judged by the engine."""

import time
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.assets import BundledScene, bundled_scenes
from contact_viewer.engines.motrix.portability import check, predict
from contact_viewer.engines.motrix.probe import ProbedScene
from contact_viewer.mjmodel.declarations import declared_sensors
from contact_viewer.scene_files.scene import load_scene

SCENE = """
<mujoco>
  {assets}
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/>
      <body name="kid" pos="0 0 .3"><joint/><geom name="kid" size=".05"/>
        <body name="grandkid" pos="0 0 .3"><joint/><geom name="grandkid" size=".05"/></body>
      </body>
      <body name="empty"/>
    </body>
    <body name="other" pos="1 1 .1"><freejoint/><geom name="ball" size=".1"/><site name="site" size=".5"/></body>
  </worldbody>
  <sensor>
    {sensors}
  </sensor>
</mujoco>"""
SENSORS = {
    'geom1="floor" geom2="box" data="found force" num="4"': "take",
    'geom1="box" geom2="floor" data="found force" num="4"': "take",
    'body1="box" body2="other" data="force" reduce="netforce"': "take",
    'subtree1="box" subtree2="other" data="force normal tangent" reduce="netforce"': "take",
    'subtree1="box" subtree2="grandkid"': "take",
    'body1="box" body2="kid"': "take",
    'geom1="floor" geom2="box" nsample="4" delay=".01"': "take",
    "": "ignore",
    'geom2="box"': "ignore",
    'body2="box"': "ignore",
    'site="site"': "ignore",
    'geom1="box"': "refuse",
    'subtree1="box"': "refuse",
    'site="site" geom2="box"': "refuse",
    'geom1="box" body2="other"': "refuse",
    'body1="box" subtree2="other"': "refuse",
    'body1="world" body2="box"': "refuse",
    'subtree1="world" subtree2="box"': "refuse",
    'geom1="box" geom2="box"': "refuse",
    'body1="box" body2="box"': "refuse",
    'body1="empty" body2="empty"': "take",
    'subtree1="box" subtree2="kid"': "refuse",
    'geom1="floor" geom2="box" data="found linvel"': "refuse",
}


def open_scene(path: Path) -> tuple[Any, list[Any]]:
    scene = load_scene(path)
    return scene.model, declared_sensors(scene.model, hidden=scene.companions.values())


def named(attributes: str, number: int) -> str:
    return f'<contact name="s{number}" {attributes}/>'


@pytest.fixture
def everything(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    sensors = "\n".join(named(attributes, i) for i, attributes in enumerate(SENSORS))
    path.write_text(SCENE.format(sensors=sensors, assets=""))
    return path


def test_every_prediction_is_what_the_engine_does(everything: Path) -> None:
    model, declared = open_scene(everything)
    verified = check(everything, model, declared)
    for sensor, (attributes, verdict) in zip(declared, SENSORS.items(), strict=True):
        predicted, seen = predict(model, sensor), verified[sensor.name]
        assert predicted.verdict == verdict, attributes
        assert seen.verdict == verdict, attributes
        assert seen.verified
        assert not predicted.verified
        assert bool(predicted.reason) == bool(seen.reason) == (verdict != "take"), attributes
        assert "\n" not in seen.reason


def test_reasons_hold_the_engines_own_words(everything: Path) -> None:
    model, declared = open_scene(everything)
    verified = dict(zip(SENSORS, check(everything, model, declared).values(), strict=True))
    assert "geom2 must be set if geom1 is set" in verified['geom1="box"'].reason
    assert "names only the first" in verified['geom1="box"'].reason
    assert "OrderedPair cannot have the same indices" in verified['geom1="box" geom2="box"'].reason
    assert "failed to get link by name" in verified['body1="world" body2="box"'].reason
    assert "will be ignored" in verified['site="site"'].reason
    assert "unknown variant `linvel`" in verified['geom1="floor" geom2="box" data="found linvel"'].reason


def test_notes_tell_where_a_taken_sensor_reads_otherwise(everything: Path) -> None:
    model, declared = open_scene(everything)
    verified = dict(zip(SENSORS, check(everything, model, declared).values(), strict=True))
    notes = {attributes: " ".join(one.notes) for attributes, one in verified.items()}
    assert notes['geom1="floor" geom2="box" data="found force" num="4"'] == ""
    assert "third component" in notes['geom1="box" geom2="floor" data="found force" num="4"']
    assert "request normal and tangent" in notes['body1="box" body2="other" data="force" reduce="netforce"']
    subtree = notes['subtree1="box" subtree2="other" data="force normal tangent" reduce="netforce"']
    assert "direct children" in subtree
    assert "array's own normal" in subtree
    assert "delay" in notes['geom1="floor" geom2="box" nsample="4" delay=".01"']


def test_sensors_without_a_name_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(sensors='<contact geom1="floor" geom2="box"/>', assets=""))
    model, declared = open_scene(path)
    for one in (predict(model, declared[0]), check(path, model, declared)[declared[0].name]):
        assert one.verdict == "ignore"
        assert "name" in one.reason


def test_a_scene_that_is_refused_for_its_own_sake(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    assets = '<asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 .1"/></asset>'
    text = SCENE.format(sensors=named('geom1="floor" geom2="box"', 0), assets=assets)
    path.write_text(text.replace("<worldbody>", '<worldbody><geom type="hfield" hfield="h" pos="9 9 0"/>'))
    model, declared = open_scene(path)
    seen = check(path, model, declared)["s0"]
    assert seen.verdict == "refuse"
    assert seen.verified
    assert "the scene itself" in seen.reason


def test_sensors_in_an_included_file(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    (tmp_path / "parts").mkdir()
    sensors = named('geom1="floor" geom2="box"', 0) + named('geom1="box"', 1)
    (tmp_path / "parts" / "sensors.xml").write_text(f"<mujoco><sensor>{sensors}</sensor></mujoco>")
    include = '</sensor><include file="parts/sensors.xml"/><sensor>'
    path.write_text(SCENE.format(sensors=include, assets=""))
    model, declared = open_scene(path)
    assert [(one.verdict, one.verified) for one in check(path, model, declared).values()] == [
        ("take", True),
        ("refuse", True),
    ]


def test_sensors_that_cannot_be_distinguished_stay_predicted(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    (tmp_path / "part.xml").write_text(
        "<mujoco><worldbody><body><freejoint/><geom name='g' size='.1'/></body></worldbody>"
        "<sensor><contact name='c' geom1='g'/></sensor></mujoco>"
    )
    path.write_text(
        "<mujoco><asset><model name='part' file='part.xml'/></asset>"
        "<worldbody><attach model='part' body='' prefix='a_'/></worldbody></mujoco>"
    )
    model, declared = open_scene(path)
    seen = check(path, model, declared)[declared[0].name]
    assert seen.verdict == "refuse"
    assert not seen.verified
    assert any("refuses this scene" in note for note in seen.notes)


@pytest.mark.parametrize("scene", bundled_scenes(), ids=lambda scene: scene.name)
def test_bundled_scenes_are_predicted_right(scene: BundledScene) -> None:
    model, declared = open_scene(scene.path)
    verified = check(scene.path, model, declared)
    assert all(one.verified for one in verified.values())
    if any("the scene itself" in one.reason for one in verified.values()):
        assert {one.verdict for one in verified.values()} == {"refuse"}
    else:
        predicted = {sensor.name: predict(model, sensor).verdict for sensor in declared}
        assert predicted == {name: one.verdict for name, one in verified.items()}


def test_of_thousands_of_refused_sensors_only_some_are_asked_about(everything: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("contact_viewer.engines.motrix.portability._MOST_ALONE", 3)
    model, declared = open_scene(everything)
    verdicts = check(everything, model, declared)
    assert [verdicts[one.name].verdict for one in declared] == list(SENSORS.values())
    refused = [verdicts[one.name].verified for one in declared if verdicts[one.name].verdict == "refuse"]
    assert refused == [True] * 3 + [False] * (len(refused) - 3)
    assert all(verdicts[one.name].verified for one in declared if verdicts[one.name].verdict == "take")


def test_what_the_engine_says_of_a_sensor_is_found_by_its_whole_name() -> None:
    log = ("warn: sensors: Contact sensor s1 is odd", "warn: Contact sensor s11 is odd", "Contact sensor s1 is back")
    scene = ProbedScene(None, {}, (*log, "Contact sensor left foot is odd", "at last foot"))
    assert scene.line_about("s1") == log[0]
    assert scene.line_about("s11") == log[1]
    assert scene.line_about("left foot") == "Contact sensor left foot is odd"
    assert scene.line_about("foot") == "Contact sensor left foot is odd"
    assert scene.line_about("s") == scene.line_about("at") == scene.line_about("last foot") == ""


@pytest.mark.alone
def test_verdicts_on_sixteen_times_as_many_sensors_take_no_more_than_their_share(tmp_path: Path) -> None:
    def duration(count: int) -> float:
        kinds = ('geom1="floor" geom2="box"', 'geom2="box"')
        path = tmp_path / f"{count}.xml"
        sensors = "".join(f'<contact name="s{i}" {kinds[i % 2]}/>' for i in range(count))
        path.write_text(SCENE.format(assets="", sensors=sensors))
        model = load_scene(path).model
        declared = [sensor for sensor in declared_sensors(model) if sensor.name.startswith("s")]
        best = float("inf")
        for _ in range(3):
            probed = ProbedScene(None, {}, tuple(f"sensors: Contact sensor s{i} is ignored" for i in range(count)))
            start = time.thread_time()
            for sensor in declared:
                predict(model, sensor)
                assert probed.line_about(sensor.name)
            best = min(best, time.thread_time() - start)
        return best

    # 256 times as long if each sensor looks at all.
    assert duration(8000) < 40 * duration(500)
