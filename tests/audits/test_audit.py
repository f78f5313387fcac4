"""Audits of contact functions: published mistakes are named, repaired ones pass, and anything else is one line."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer import SceneError
from contact_viewer.audits import audit as audits
from contact_viewer.audits.contact_rules import ContactJudge
from contact_viewer.audits.situations import Stage
from contact_viewer.cli import main
from contact_viewer.engines.registry import open_engine

from .terms import BIPED, CASES, FEET, SLOT, Case, first_column, make_model, net_force_is_contact


def audit(case: Case, term: Any) -> contact_viewer.AuditReport:
    return contact_viewer.audit(term, make_model(case.scene, case.geom), case.role, **case.options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_published_mistake_is_named_and_its_repair_passes(case: Case) -> None:
    found = audit(case, case.wrong)
    assert [finding.cause for finding in found.findings] == [case.cause], str(found)
    repaired = audit(case, case.right)
    assert repaired.ok, str(repaired)


def test_neither_model_nor_its_values_change() -> None:
    model = make_model(BIPED)
    before = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    after = before.copy()
    mujoco.mj_saveModel(model, None, before)
    contact_viewer.audit(first_column, model, "contact", **FEET)
    mujoco.mj_saveModel(model, None, after)
    assert (before == after).all()


def test_reads_are_named_slots_together_and_by_output() -> None:
    report = contact_viewer.audit(first_column, make_model(BIPED), "contact", **FEET)
    assert report.reads_by_output == (("left.slot*.force.normal",), ("right.slot*.force.normal",))

    def of_all(model: Any, data: Any) -> Any:
        return data.xpos[model.body("left_foot").id][2] + data.cfrc_ext[3, 5] > len(data.contact.dist)

    report = contact_viewer.audit(of_all, make_model(BIPED), "contact", **FEET)
    assert {"xpos[left_foot].z", "cfrc_ext[left_foot].force.z", "contact list: count"} == set(report.reads)


def test_table_has_the_truth_of_every_situation() -> None:
    report = contact_viewer.audit(first_column, make_model(BIPED), "contact", **FEET)
    rows = {row.situation: row for row in report.table if row.output == "left"}
    assert {"standing", "in the air", "upside down", "sliding"} <= rows.keys()
    assert all(row.agreement > 0.99 for row in rows.values())
    late = contact_viewer.audit(lambda model, data: np.zeros(2, bool), make_model(BIPED), "contact", **FEET)
    assert {row.situation: row for row in late.table}["standing"].missed == 1.0


@pytest.mark.parametrize(("change", "cause"), [(lambda force: force / 9.81, "unit"), (lambda force: -force, "sign")])
def test_forces_are_told_apart(change: Any, cause: str) -> None:
    def load(sensordata: Any) -> Any:
        return change(np.stack([_normal(sensordata, 0), _normal(sensordata, 4 * SLOT)], -1))

    report = contact_viewer.audit(load, make_model(BIPED), "force", **FEET)
    assert [finding.cause for finding in report.findings] == [cause]


@pytest.mark.parametrize(("shift", "cause"), [(-1, "body"), (1, "index")])
def test_number_of_another_body_is_told_from_its_parent(shift: int, cause: str) -> None:
    def load(model: Any, data: Any) -> Any:
        # After the left foot comes the right leg, which is no neighbour of it; before it the left leg, its parent.
        return [data.cfrc_ext[model.body("left_foot").id + shift][5]]

    report = contact_viewer.audit(load, make_model(BIPED), "force", of=["left_foot"])
    assert [finding.cause for finding in report.findings] == [cause], str(report)


def _loads(model: Any, data: Any) -> Any:
    """Return the sum of normal forces between each foot and the floor."""
    total, force = np.zeros(2), np.zeros(6)
    for number, contact in enumerate(data.contact):
        for k, name in enumerate(("left_foot", "right_foot")):
            if {"floor", name} == {model.geom(each).name for each in contact.geom}:
                mujoco.mj_contactForce(model, data, number, force)
                total[k] += force[0]
    return total


@pytest.mark.parametrize("level", [7.0, 7.5])
def test_a_small_share_of_the_load_is_a_sane_threshold(level: float) -> None:
    report = contact_viewer.audit(lambda sensordata: sensordata[:, [1, 14, 27, 40]] > level, "quadruped", "contact")
    assert report.ok, str(report)
    (note,) = report.notes
    assert abs(_level(note) / level - 1) < 0.02, note


@pytest.mark.parametrize("level", [15.0, 30.0, 100.0])
def test_a_threshold_that_is_too_high_is_printed(level: float) -> None:
    def heavy(model: Any, data: Any) -> Any:
        return _loads(model, data) > level

    (finding,) = contact_viewer.audit(heavy, make_model(BIPED), "contact", **FEET).findings
    assert finding.cause == "threshold"
    assert abs(_level(finding.text) / level - 1) < 0.02, finding


def test_several_wrong_signals_may_explain_a_term(monkeypatch: pytest.MonkeyPatch) -> None:
    def heavy(model: Any, data: Any) -> Any:
        return _loads(model, data) > 100.0

    # Left to the rule of wrong signals, of which torques and tangential forces fit alike.
    monkeypatch.setattr(ContactJudge, "threshold", lambda *_: None, raising=False)
    (finding,) = contact_viewer.audit(heavy, make_model(BIPED), "contact", **FEET).findings
    assert finding.outputs == ("left", "right")


def _level(text: str) -> float:
    """Return the threshold that a text names [N]."""
    found = re.search(r"becomes true at ([\d.]+) N", text)
    assert found is not None, text
    return float(found[1])


def _in_list(model: Any, data: Any) -> Any:
    return [(data.contact.geom == model.geom(name).id).any() for name in ("left_foot", "right_foot")]


def _overlaps(model: Any, data: Any) -> Any:
    near = data.contact.geom[data.contact.dist <= 0]
    return [(near == model.geom(name).id).any() for name in ("left_foot", "right_foot")]


class Released:
    """Contact that ends four steps after its force does."""

    def __init__(self) -> None:
        self.left = np.zeros(2, int)

    def __call__(self, model: Any, data: Any) -> Any:
        self.left = np.where(_loads(model, data) > 1.0, 5, np.maximum(self.left - 1, 0))
        return self.left > 0


@pytest.mark.parametrize("against", [None, "any"])
@pytest.mark.parametrize("single", [False, True])
def test_contacts_without_force_are_not_touching(against: str | None, single: bool) -> None:
    model = make_model(BIPED, 'margin=".01"')

    def any_listed(model: Any, data: Any) -> Any:
        return any(_in_list(model, data))

    term = any_listed if single else _in_list
    (finding,) = contact_viewer.audit(term, model, "contact", against=against, **FEET).findings
    assert finding.cause == "listed"
    stage = Stage(model)
    (situation,) = [each for each in stage.situations() if each.name == finding.situation]
    for step, _ in enumerate(stage.run(situation), 1):
        if step == finding.step:
            assert any(_in_list(model, stage.data))
            assert _loads(model, stage.data).min() == 0
            break
    else:
        pytest.fail("the situation has no such step")
    # Without a margin, geoms of contacts that have force overlap.
    assert contact_viewer.audit(_overlaps, make_model(BIPED), "contact", against=against, **FEET).ok
    for right in (lambda model, data: _loads(model, data) > 1.0, Released):
        report = contact_viewer.audit(right, model, "contact", against=against, **FEET)
        assert report.ok, str(report)


def test_an_error_of_the_audit_is_not_blamed_on_the_term(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("two\nlines")

    (tmp_path / "terms.py").write_text("def contact(data):\n    return [True]\n")
    monkeypatch.setattr(audits, "_audit", fail)
    replies: list[Any] = []
    request = {"folder": ".", "term": f"{tmp_path}/terms.py:contact", "model": "quadruped", "options": {}}
    monkeypatch.setattr(audits, "as_model", lambda path: None)
    audits._work(SimpleNamespace(request=request, reply=replies.append))  # type: ignore[arg-type]
    (reply,) = replies
    assert re.fullmatch(r"the audit itself failed at test_audit\.py:\d+, not your code: .*two lines.*", reply["error"])


class Late:
    """Contact of the call before."""

    def __init__(self) -> None:
        self.before = np.zeros(2, bool)

    def __call__(self, data: Any) -> Any:
        before, self.before = self.before, net_force_is_contact(data.sensordata)
        return before


class Latch(Late):
    """Contact that never ends, and outlasts the reset."""

    def __call__(self, data: Any) -> Any:
        self.before = self.before | net_force_is_contact(data.sensordata)
        return self.before

    def reset(self) -> None:
        self.before[:] = False


class NoReset(Latch):
    def reset(self) -> None:
        pass


@pytest.mark.parametrize(("term", "cause"), [(Latch, "latch"), (NoReset, "reset")])
def test_mistakes_of_state_are_named(term: Any, cause: str) -> None:
    report = contact_viewer.audit(term, make_model(BIPED), "contact", **FEET)
    assert [finding.cause for finding in report.findings] == [cause]


def test_unknown_mistake_is_a_symptom_with_what_it_reads() -> None:
    def low(model: Any, data: Any) -> Any:
        return [data.xpos[model.body(name).id][2] < 0.05 for name in ("left_foot", "right_foot")]

    (finding,) = contact_viewer.audit(low, make_model(BIPED), "contact", **FEET).findings
    assert finding.cause == ""
    assert "xpos[left_foot].z" in finding.text


def test_jax_terms_are_called_with_arrays_of_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")

    def feet_contact(sensordata: Any) -> Any:
        return jnp.stack([sensordata[:, 13 * i + 3] > 1.0 for i in range(4)], axis=-1)

    report = contact_viewer.audit(feet_contact, "quadruped")
    assert [finding.cause for finding in report.findings] == ["column"]
    assert "of JAX" in report.understood


def test_environments_and_calls_are_understood() -> None:
    def feet_contact(env: Any) -> Any:
        return env.unwrapped.data.sensordata[[1, 14, 27, 40]] > 1.0

    def above(values: Any, threshold: float) -> Any:
        return values[[1, 14, 27, 40]] > threshold

    assert contact_viewer.audit(feet_contact, "quadruped").ok
    assert contact_viewer.audit(above, "quadruped", "contact", call="f(data.sensordata, 0.5)").ok


def test_terms_of_torch_are_called_with_tensors() -> None:
    torch = pytest.importorskip("torch")

    def feet_contact(sensordata: Any) -> Any:
        return torch.stack([sensordata[:, 13 * i + 3] > 1.0 for i in range(4)], dim=-1)

    def on_a_gpu(sensordata: Any) -> Any:
        return torch.tensor([1.0], device="cuda") * sensordata[:, 1:5]

    def by_methods(data: Any) -> Any:
        return data.sensordata[:, [1, 14, 27, 40]].gt(1.0)

    report = contact_viewer.audit(feet_contact, "quadruped")
    assert [finding.cause for finding in report.findings] == ["column"]
    assert "of torch" in report.understood
    assert contact_viewer.audit(by_methods, "quadruped", "contact", lib="torch").ok
    if not torch.cuda.is_available():
        with pytest.raises(SceneError, match=r"on_a_gpu raised .*(NVIDIA|CUDA)") as error:
            contact_viewer.audit(on_a_gpu, "quadruped", "contact")
        assert "\n" not in str(error.value)


def test_poses_at_rest_are_what_their_names_say() -> None:
    model = make_model(BIPED, 'gap=".02"')
    stage = Stage(model)
    forces: dict[str, list[float]] = {}
    listed: dict[str, list[int]] = {}
    for situation in stage.situations(every=4):
        for _ in stage.run(situation):
            forces.setdefault(situation.name, []).append(stage.data.efc_force.sum())
            listed.setdefault(situation.name, []).append(stage.data.ncon)
    lowered, near = np.array(forces["within the gap"]), np.array(listed["within the gap"]) > 0
    assert 40 < (near & (lowered == 0)).sum() < len(near)
    # Touching begins once, and lasts.
    assert np.count_nonzero(np.diff(lowered > 0)) == 1
    tapped = np.array(forces["tapping"]) > 0
    lengths = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], tapped, [0]])))[::1])[::2]
    assert set(lengths.tolist()) == {1, 2, 3}
    assert "self-contact" not in forces
    crossed = mujoco.MjModel.from_xml_string(
        BIPED.format(geom="").replace('axis="0 1 0" range="-60 60"', 'axis="1 0 0" range="-60 60"')
    )
    stage = Stage(crossed)
    (situation,) = [each for each in stage.situations() if each.name == "self-contact"]
    assert all(stage.data.ncon and (stage.data.contact.geom > 0).all() for _ in stage.run(situation))


SHIN = """
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="trunk" pos="0 0 .4"><freejoint/><geom type="box" size=".2 .2 .05" mass="5"/>{}
  </body></worldbody></mujoco>"""
LEG = """<body name="shin{0}" pos="{1} 0 -.05">
  <joint axis="0 1 0" range="-100 100" damping="2"/><geom type="capsule" fromto="0 -.6 -.2 0 .6 -.2" size=".03"/>
  <geom name="sole{0}" pos="0 0 -.25" size=".03"/></body>"""


def test_what_was_guessed_may_be_the_feet_alone() -> None:
    model = mujoco.MjModel.from_xml_string(SHIN.format(LEG.format(0, -0.15) + LEG.format(1, 0.15)))

    def feet_contact(model: Any, data: Any) -> Any:
        found = [False, False]
        for contact in data.contact:
            for k in range(2):
                found[k] |= model.geom(f"sole{k}").id in contact.geom
        return found

    report = contact_viewer.audit(feet_contact, model)
    assert report.ok, str(report)
    assert report.of == ("sole0", "sole1")
    assert not contact_viewer.audit(feet_contact, model, of=["shin0", "shin1"], against="floor").ok


def test_every_array_and_the_count_of_contacts_are_reads() -> None:
    def counts(data: Any) -> Any:
        return data.ncon > 0

    def lit(data: Any) -> Any:
        return [data.light_xpos[0, 2] + data.cinert[1, 3] > 1.0, data.time > 0.1]

    assert contact_viewer.audit(counts, make_model(BIPED), "contact").reads == ("contact list: count",)
    reads = contact_viewer.audit(lit, "quadruped", "contact", of=["FL_foot", "FR_foot"]).reads_by_output
    assert {"light_xpos[0].z", "cinert[1].3"} == set(reads[0])
    assert reads[1] == ("time",)


CONTROL = """
def control(model, data):
    data.ctrl[:] = 0.3
"""


def test_own_runs_are_compared(tmp_path: Path) -> None:
    model = make_model(BIPED)
    data, rows = mujoco.MjData(model), []
    for _ in range(300):
        rows.append((data.time, data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()))
        mujoco.mj_step(model, data)
    names = ("time", "qpos", "qvel", "ctrl")
    # Every row, and every fifth one, as many programs log.
    for name, step in (("all.npz", 1), ("some.npz", 5)):
        parts = zip(*rows[::step], strict=True)
        columns: dict[str, Any] = dict(zip(names, map(np.array, parts), strict=True))
        np.savez(tmp_path / name, **columns)
        log = tmp_path / name
        right = contact_viewer.audit(first_column, model, "contact", **FEET, log=log)
        assert right.ok, str(right)
        assert {row.situation for row in right.table} == {"log"}
        wrong = contact_viewer.audit(_swapped, model, "force", **FEET, log=log, save=tmp_path / name[:3])
        assert wrong.findings
        (saved,) = (tmp_path / name[:3]).glob("*.cvrun")
        again = contact_viewer.audit(first_column, model, "contact", **FEET, log=saved)
        assert again.ok
        assert {row.situation for row in again.table} == {"log"}
    (tmp_path / "walk.py").write_text(CONTROL)
    report = contact_viewer.audit(first_column, model, "contact", **FEET, control=str(tmp_path / "walk.py"))
    assert report.ok, str(report)
    assert "controlled, scene" in {row.situation for row in report.table}


def _swapped(sensordata: Any) -> Any:
    return np.stack([_normal(sensordata, 4 * SLOT), 2 * _normal(sensordata, 0)], -1)


def _normal(sensordata: Any, start: int) -> Any:
    return sensordata[..., [start + SLOT * slot + 1 for slot in range(4)]].sum(-1)


def _raises(data: Any) -> Any:
    return data.sensordata[10000]


def _hangs(data: Any) -> Any:
    while True:
        pass


def _moves(data: Any) -> Any:
    data.qpos[0] += 1.0
    return [True] * 4


def _changes_shape(data: Any) -> Any:
    return [True] * (4 if data.time < 0.2 else 3)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (_raises, r"_raises raised IndexError: .* \(test_audit.py, line \d+\)"),
        (_hangs, "did not end within 1 s"),
        (_moves, "changes the state"),
        (_changes_shape, "returned shapes"),
        (lambda data: "yes", "returned str"),
        (lambda data: exit(3), "ended the program"),
        (lambda one, two: one, "takes"),
    ],
)
def test_what_cannot_be_audited_is_one_line(term: Any, message: str) -> None:
    with pytest.raises(SceneError, match=message) as error:
        contact_viewer.audit(term, "quadruped", "contact", limit=1.0)
    assert "\n" not in str(error.value)


TERMS = """
import os
def feet_contact(data):
    print("hello")
    return data.sensordata[[1, 14, 27, 40]] > 1.0
def wrong_column(data):
    return data.sensordata[[3, 16, 29, 42]] > 1.0
def dies(data):
    os._exit(7)
"""


def test_command_says_what_it_found_and_saves_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("terms.py").write_text(TERMS)
    assert main(["audit", "quadruped", "terms.py:feet_contact"]) == 0
    assert "hello" not in capfd.readouterr().out
    wrong = ["audit", "quadruped", "terms.py:wrong_column", "--as", "contact", "--save-run", "runs", "--junit", "a.xml"]
    assert main([*wrong, "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert report["findings"][0]["cause"] == "column"
    assert len(ElementTree.parse("a.xml").findall(".//failure")) == 1
    # The saved run is the situation: the engine takes the same steps, and the values are of the instant that opens.
    (command,) = report["saved"]
    program, file, option, seconds = command.split()
    assert (program, option) == ("contact-viewer", "--go-to")
    engine = open_engine(Path(file))
    log = contact_viewer.read_log(file, engine.model)
    shown = {each.channel.name: each for each in log.channels}
    place = int(np.argmin(abs(shown["wrong_column of foot_FL/value"].times - float(seconds))))
    told = [
        [bool(shown[f"wrong_column of {foot}/{kind}"].values[place]) for foot in report["of"]]
        for kind in ("value", "truth")
    ]
    assert told[0] != told[1]
    while engine.time < float(seconds) - 1e-6:
        engine.step(1)
    assert abs(engine.time - shown["wrong_column of foot_FL/value"].times[place]) < 1e-6
    assert [bool(engine.data.sensordata[1 + 13 * k] > 0) for k in range(4)] == told[1]
    assert main(["audit", "quadruped", "terms.py:dies", "--as", "contact"]) == 2
    assert "ended its process (code 7)" in capfd.readouterr().err
    assert main(["audit", "quadruped", "terms.py:feet"]) == 2


PLUGIN_TEST = """
import numpy as np, pytest
def right(data):
    return data.sensordata[[1, 14, 27, 40]] > 1.0
def wrong(data):
    return data.sensordata[[3, 16, 29, 42]] > 1.0
def test_right(contact_truth):
    contact_truth("quadruped").assert_contact(right)
def test_wrong(contact_truth):
    contact_truth("quadruped").assert_contact(wrong)
def test_reads(contact_truth):
    contact_truth("quadruped").assert_reads(wrong, "*.force.normal", role="contact")
def test_never(contact_truth):
    contact_truth("quadruped").assert_never("peak above 20 N")
"""


def test_pytest_fixture_fails_with_the_cause_and_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_terms.py").write_text(PLUGIN_TEST)
    names = ("contact_viewer.audits.pytest_plugin", "contact_viewer.checks.pytest_plugin", "no:cacheprovider")
    plugin = [word for name in names for word in ("-p", name)]
    example = str(Path(__file__).parents[2] / "examples" / "audit")
    command = [sys.executable, "-m", "pytest", "-q", *plugin, ".", example]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **alone}, capture_output=True, text=True, check=False
    )
    assert "3 failed, 6 passed" in done.stdout, done.stdout
    assert "the wrong column of the sensor's array" in done.stdout
    assert "wrong-column.cvrun" in done.stdout
    assert "reads foot_FL.slot0.force.tangent1" in done.stdout
    assert ", above 20 N" in done.stdout
    never = re.search(r"contact-viewer (\S+never.cvrun) --go-to ([\d.]+)", done.stdout)
    assert never is not None
    engine = open_engine(Path(never[1]))
    while engine.time < float(never[2]) - 1e-6:
        engine.step(1)
    assert engine.data.efc_force.sum() > 20


def test_plugins_load_nothing_that_a_project_does_not_use() -> None:
    code = "import sys, contact_viewer.audits.pytest_plugin, contact_viewer.checks.pytest_plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mujoco", "numpy", "contact_viewer.audits.audit"} & set(loaded)
