"""Mutated scenes: each opens and steps or is refused in one line; no traceback, no abort, no hang."""

import contextlib
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.scene_files.xml_tags import Tag, XmlError, find_tags
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TIME_MAX = 30.0
"""How long one test may look for trouble [s]; examples beyond are passed over."""
PATIENCE = 60.0
"""A scene that takes longer hangs [s]. Compiling is stopped long before."""

EVERYTHING = """<mujoco><size nkey="1"/><option timestep="0.002"/>
  <default><geom friction="1 .1 .1"/></default>
  <asset><texture name="t" type="2d" builtin="checker" width="8" height="8"/><material name="m" texture="t"/>
    <mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><hfield name="h" nrow="4" ncol="4" size="1 1 .1 .1"/></asset>
  <worldbody><light pos="0 0 3"/><camera name="c" pos="0 -2 1"/>
    <geom name="floor" type="plane" size="2 2 .1" material="m"/><geom type="hfield" hfield="h" pos="3 0 0"/>
    <body name="b" pos="0 0 .1"><freejoint/><geom name="g" type="box" size=".1 .1 .1"/><site name="s"/>
      <body name="b2" pos=".2 0 0"><joint name="j" range="-1 1"/><geom name="g2" size=".05"/></body></body>
    <body name="mb" pos="0 1 .5"><joint type="slide" axis="0 0 1"/><geom type="mesh" mesh="me"/></body>
    <replicate count="3" offset="0 0 1"><body pos="1 1 1"><freejoint/><geom name="r" size=".1"/></body></replicate>
    <body name="fx"><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1" radius=".01"
      pos="0 -1 1"/></body></worldbody>
  <tendon><fixed name="te"><joint joint="j" coef="1"/></fixed></tendon>
  <equality><joint joint1="j" polycoef="0 1"/></equality>
  <actuator><motor name="a" joint="j"/><position tendon="te" kp="1"/></actuator>
  <sensor><contact name="c1" geom1="g" data="found force pos" num="4"/><contact subtree1="b" body2="world"/>
    <contact geom1="r" reduce="netforce"/><touch site="s"/></sensor>
  <keyframe><key name="k" time="1"/></keyframe></mujoco>"""

VALUES = [
    *("", " ", "0", "1", "-1", "nan", "inf", "-inf", "1e308", "1e-308", "0.5", "2147483647", "-2147483648", "1e9"),
    *(
        "99999",
        "1000000",
        "4294967296",
        "1 2 3 4 5 6 7 8 9",
        "true",
        "box",
        "world",
        "floor",
        "g",
        "found force torque",
    ),
    *(
        "scene.xml",
        "../scene.xml",
        "/dev/zero",
        "..",
        "/",
        "🤖",
        "\u202e",
        "x" * 5000,
        "&lt;&amp;",
        "&#0;",
        "&bomb;",
        "%s%n",
    ),
]
ATTRIBUTES = [
    *(
        "name",
        "size",
        "pos",
        "type",
        "num",
        "data",
        "reduce",
        "geom1",
        "subtree1",
        "site",
        "file",
        "count",
        "nkey",
        "class",
    ),
    *("timestep", "iterations", "mass", "range", "solref", "memory", "width", "childclass", "mesh", "joint", "euler"),
]
ELEMENTS = [
    '<include file="scene.xml"/>',
    '<asset><model file="scene.xml"/></asset>',
    '<replicate count="100000"><body><freejoint/><geom size="1"/></body></replicate>',
    '<replicate count="30">',
    "<option timestep='0' iterations='2000000000'/>",
    "<size nkey='100000000'/>",
    "<compiler angle='radian' meshdir='..' autolimits='false' balanceinertia='true'/>",
    "<asset><texture name='big' type='2d' builtin='flat' width='40000' height='40000'/></asset>",
    "<asset><mesh name='gone' file='gone.stl'/></asset>",
    "<geom size='.1'/>",
    "<body><joint/><geom size='.1' mass='0'/></body>",
    "<sensor><contact num='100000'/></sensor>",
    "<sensor><contact/></sensor>",
    "<visual><quality numslices='1000000' shadowsize='-1'/></visual>",
    "<worldbody>",
    "</body>",
    "<!--",
    "<![CDATA[",
    "<?x",
    "\x00",
    "\xff\xfe",
]

place = st.floats(0, 1, exclude_max=True)
mutation = st.one_of(
    st.tuples(st.just("value"), place, st.one_of(st.sampled_from(VALUES), st.text(max_size=8))),
    st.tuples(st.just("value"), place, st.floats().map(str)),
    st.tuples(st.just("value"), place, st.integers(-(2**33), 2**33).map(str)),
    st.tuples(st.just("attribute"), place, st.sampled_from(ATTRIBUTES)),
    st.tuples(st.just("insert"), place, st.sampled_from(ELEMENTS)),
    st.tuples(st.just("delete"), place, st.just("")),
    st.tuples(st.just("double"), place, st.just("")),
    st.tuples(st.just("cut"), place, st.just("")),
    st.tuples(st.just("splice"), place, st.text(max_size=3)),
)
texts = st.sampled_from([EVERYTHING, *(scene.path.read_text() for scene in bundled_scenes())])


def mutate(text: str, kind: str, at: float, words: str) -> str:
    """One change at a place from 0 (start) to 1 (end)."""
    if kind == "cut":
        return text[: int(at * len(text))]
    if kind == "splice":
        middle = int(at * len(text))
        return text[:middle] + words + text[middle + 1 :]
    tags = list_tags(text)
    if not tags:
        return text + words
    tag = tags[int(at * len(tags))]
    if kind == "insert":
        return text[: tag.end] + words + text[tag.end :]
    if kind == "delete":
        return text[: tag.start] + text[tag.end :]
    if kind == "double":
        return text[: tag.end] + text[tag.start : tag.end] + text[tag.end :]
    spans = [(tag, name, span) for tag in tags if tag.opens for name, span in tag.attribute_spans().items()]
    if not spans:
        return text
    _, name, (_, first, last, _) = spans[int(at * len(spans))]
    if kind == "attribute":
        start = text.rindex(name, 0, first)
        return text[:start] + words + text[start + len(name) :]
    return text[:first] + words.replace('"', "'") + text[last:]


def list_tags(text: str) -> list[Tag]:
    tags = []
    try:
        for tag in find_tags(text):
            tags.append(tag)
    except XmlError:
        pass
    return tags


class Worker:
    """A process that opens scenes, so that one that dies or hangs takes no test run with it."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder.name
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def open(self, name: str, content: bytes) -> str:
        """What became of a scene: `opened`, or the message of one that was refused."""
        path = Path(self.folder.name, name)
        path.write_bytes(content)
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(str(path))}\n")
        self.process.stdin.flush()
        try:
            answer = self._answers.get(timeout=PATIENCE)
        except queue.Empty:
            pytest.fail(f"hangs on {content[:2000]!r}")
        if not answer:
            pytest.fail(f"dies (exit code {self.process.wait()}) of {content[:2000]!r}")
        verdict = json.loads(answer)
        assert "trace" not in verdict, f"{verdict['trace']}\n{content[:2000]!r}"
        message: str = verdict["message"]
        assert message
        assert message.isprintable()
        assert len(message) < 800
        return message

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


examples = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.timeout(2 * TIME_MAX + PATIENCE)
def test_mutated_scenes(worker: Worker) -> None:
    end = time.monotonic() + TIME_MAX
    outcomes = {True: 0, False: 0}

    @settings(examples, max_examples=400)
    @given(texts, st.lists(mutation, min_size=1, max_size=3))
    def run(text: str, mutations: list[tuple[str, float, str]]) -> None:
        if time.monotonic() > end and min(outcomes.values()) > 10:
            return
        for change in mutations:
            text = mutate(text, *change)
        message = worker.open("scene.xml", text.encode("utf-8", "surrogatepass"))
        assert message == "opened" or "scene.xml" in message
        outcomes[message == "opened"] += 1

    run()
    # Mutations that are all harmless, or all fatal, would look for trouble in the wrong place.
    assert outcomes[True] > 10
    assert outcomes[False] > 10


@pytest.mark.timeout(2 * TIME_MAX + PATIENCE)
def test_mutated_compiled_models(worker: Worker) -> None:
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    end = time.monotonic() + TIME_MAX / 2

    numbers = st.sampled_from([-1, 0, 1, 7, 255, 100_000, 2**31 - 1, -(2**31)])

    @settings(examples, max_examples=60)
    @given(st.lists(st.tuples(place, numbers), min_size=1, max_size=4))
    def run(changes: list[tuple[float, int]]) -> None:
        if time.monotonic() > end:
            return
        data = bytearray(buffer.tobytes())
        words = np.frombuffer(data, np.int32, len(data) // 4)
        for at, number in changes:
            words[5 + int(at * (len(words) - 5))] = number
        worker.open("scene.mjb", bytes(data))

    run()


def serve() -> None:
    """Open, step and read the scenes whose paths come in, one line each."""
    import traceback

    from contact_viewer.engines.mujoco.engine import MujocoEngine
    from contact_viewer.errors import EngineError, SceneError, UnstableError
    from contact_viewer.processes import Limits
    from contact_viewer.scene_files import compile_worker
    from contact_viewer.scene_files.safe_open import open_safely

    compile_worker.DEFAULT_LIMITS = Limits(time=4, memory=10**9)
    for line in sys.stdin:
        try:
            engine = MujocoEngine(open_safely(Path(json.loads(line))))
            with contextlib.suppress(UnstableError, EngineError):
                engine.step(20)
            for sensor in list(engine.sensors)[:20]:
                engine.array(sensor.name)
                engine.contacts(sensor.name)
                engine.details(sensor.name)
            verdict = {"message": "opened"}
        except SceneError as error:
            verdict = {"message": str(error)}
        except BaseException:
            verdict = {"trace": traceback.format_exc()}
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    serve()
