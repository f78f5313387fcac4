"""A served window that nobody watches, where drawing is slow: its memory, its first picture, and that it goes on."""

import asyncio
import csv
import io
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import contact_viewer
import mujoco
import numpy as np
import psutil
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from PIL import Image

from .driver import PROGRAM, serve, wait

UNWATCHED = 8.0
"""Time for which nobody watches [s]. Queued frames took 35 MB in each second of it."""
GROWTH = 60.0
"""What the history of the simulation may take meanwhile [MB]."""
LONGEST = 2.0
"""Longest until a picture comes, and until the window has ended [s]."""


@pytest.fixture
def slow_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene of which one thread draws a few frames a second: panes of glass behind each other, and balls."""
    monkeypatch.setenv("LP_NUM_THREADS", "1")
    panes = "".join(
        f'<geom type="box" size="2 .01 2" pos="0 {0.05 * k - 1.5} 1" rgba=".3 .5 .7 .1" contype="0" conaffinity="0"/>'
        for k in range(40)
    )
    balls = "".join(
        f'<body pos="{0.3 * (k % 5) - 0.6} {0.3 * (k // 5) - 0.6} 1"><freejoint/><geom size=".1"/></body>'
        for k in range(25)
    )
    lights = '<light pos="-1 0 3"/><light pos="1 0 3"/>'
    path = tmp_path / "panes.xml"
    path.write_text(
        f'<mujoco><worldbody>{lights}<geom name="floor" type="plane" size="3 3 .1"/>{panes}{balls}</worldbody>'
        '<sensor><contact name="floor" geom1="floor" num="4"/></sensor></mujoco>'
    )
    return path


async def connect(session: ClientSession, url: str) -> ClientWebSocketResponse:
    address, _, token = url.partition("/?token=")
    stream = await session.ws_connect(f"{address}/stream?codec=jpeg&token={token}", headers={"Origin": address})
    await stream.send_json({"type": "size", "width": 1280, "height": 720, "ratio": 1})
    return stream


async def look(url: str, seconds: float) -> float:
    """Time until a browser has its first picture of the present, after one that was there already [s]; it looks on for
    some seconds."""
    begin = time.monotonic()
    first, old = 0.0, None
    async with ClientSession() as session:
        stream = await connect(session, url)
        while (rest := begin + seconds - time.monotonic()) > 0 or not first:
            message = await asyncio.wait_for(stream.receive(), max(rest, 30.0))
            if message.type is WSMsgType.BINARY:
                number = int.from_bytes(message.data[8:12], "little")
                old = number if old is None else old
                if number != old:
                    first = first or time.monotonic() - begin
                await stream.send_json({"type": "shown", "number": number})
        await stream.close()
    return first


async def look_together(url: str, count: int, seconds: float) -> list[float]:
    return await asyncio.gather(*(look(url, seconds) for _ in range(count)))


def growth(process: psutil.Process, act: Callable[[], object]) -> float:
    """Memory that a process has taken while something was done [MB]."""
    before = process.memory_info().rss
    act()
    return float(process.memory_info().rss - before) / 1e6


@pytest.mark.alone
@pytest.mark.parametrize("browsers", [1, 5])
def test_a_window_that_is_drawn_slowly_keeps_its_memory_and_answers_within_two_seconds(
    slow_scene: Path, browsers: int
) -> None:
    with serve(slow_scene, folder=slow_scene.parent) as served:
        process = psutil.Process(served.process.pid)
        time.sleep(1.0)
        assert growth(process, lambda: time.sleep(UNWATCHED)) < GROWTH
        first = asyncio.run(look_together(served.url, browsers, 2.0))
        assert max(first) < LONGEST
        # Encoders and pictures of that size are there now.
        assert growth(process, lambda: asyncio.run(look_together(served.url, browsers, 4.0))) < GROWTH
        assert growth(process, lambda: time.sleep(UNWATCHED)) < GROWTH
        begin = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(30) == 128 + signal.SIGTERM
        assert time.monotonic() - begin < LONGEST


@pytest.mark.alone
def test_the_served_window_of_a_loop_keeps_its_memory_and_answers_within_two_seconds(slow_scene: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(slow_scene))
    data = mujoco.MjData(model)
    others = set(psutil.Process().children())
    with contact_viewer.launch_passive(model, data, serve=True) as viewer:
        (process,) = set(psutil.Process().children()) - others
        assert viewer.url is not None

        def run(seconds: float) -> None:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                mujoco.mj_step(model, data)
                viewer.sync()
                time.sleep(0.002)

        run(1.0)
        assert growth(process, lambda: run(UNWATCHED)) < GROWTH
        assert asyncio.run(look(viewer.url, 0.0)) < LONGEST
        begin = time.monotonic()
    assert time.monotonic() - begin < LONGEST


def test_a_recording_goes_on_when_everybody_has_left(tmp_path: Path) -> None:
    async def record(leave_for: float) -> None:
        async with ClientSession() as session:
            for pause in (leave_for, 0.0):
                stream = await connect(session, served.url)
                key = {"type": "key", "code": "F9", "key": "F9"}
                await stream.send_json(key | {"down": True})
                await stream.send_json(key | {"down": False})
                await stream.close()
                await asyncio.sleep(pause)

    with serve("slope", folder=tmp_path) as served:
        asyncio.run(record(3.0))
        wait(lambda: any(tmp_path.glob("*.mp4")))
    (video,) = tmp_path.glob("*.mp4")
    probe = ["ffprobe", "-v", "error", "-show_format", "-of", "json", str(video)]
    found = json.loads(subprocess.run(probe, capture_output=True, check=True).stdout)
    assert float(found["format"]["duration"]) == pytest.approx(3.0, abs=1.0)


def test_time_goes_on_while_nobody_watches(tmp_path: Path) -> None:
    with serve("bounce", "--save-run", "unseen.cvrun", folder=tmp_path):
        time.sleep(4.0)
    subprocess.run([PROGRAM, "export", "unseen.cvrun", "-o", "steps.csv"], cwd=tmp_path, check=True)
    with (tmp_path / "steps.csv").open() as file:
        times = [float(row["time"]) for row in csv.DictReader(file)]
    assert max(times) == pytest.approx(4.0, abs=1.5)


def test_a_scene_that_is_saved_while_nobody_watches_is_what_the_next_one_sees(tmp_path: Path) -> None:
    def write(colour: str) -> None:
        floor = f'<geom type="plane" size="9 9 .1" rgba="{colour} 1"/>'
        scene.write_text(f'<mujoco><worldbody><light pos="0 0 3"/>{floor}</worldbody></mujoco>')

    async def see_red() -> None:
        async with ClientSession() as session:
            stream = await connect(session, served.url)
            while True:
                message = await asyncio.wait_for(stream.receive(), 20.0)
                if message.type is WSMsgType.BINARY:
                    red, green, _ = np.asarray(Image.open(io.BytesIO(message.data[12:])))[300, 640].astype(int)
                    if red > green + 60:
                        return
                    await stream.send_json({"type": "shown", "number": int.from_bytes(message.data[8:12], "little")})

    scene = tmp_path / "floor.xml"
    write("0 1 0")
    with serve(scene, folder=tmp_path) as served:
        time.sleep(1.0)
        write("1 0 0")
        time.sleep(2.0)
        asyncio.run(see_red())
