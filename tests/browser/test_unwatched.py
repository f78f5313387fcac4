"""A served window that nobody watches, where drawing is slow: its memory, its first picture, and that it goes on."""

import asyncio
import csv
import io
import json
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import contact_viewer
import mujoco
import numpy as np
import psutil
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from PIL import Image

from .driver import PROGRAM, serve, wait

UNWATCHED = 4.0
"""Time for which nobody watches [s]. Queued frames took 35 MB in each second of it."""
GROWTH = 60.0
"""What the history of the simulation may take meanwhile [MB]."""
LONGEST = 2.0
"""Longest until a picture comes, and until the window has ended [s], on a machine that has nothing else to do ..."""
FRAMES = 8
"""... and in times of what a frame takes, on one that has."""


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


async def look(url: str, count: int) -> tuple[float, float]:
    """See some pictures, as a browser does.

    Returns:
        Time until the first picture of the present, after one that was there already, and longest time that it may
        take, by the time between the pictures that followed [s].
    """
    begin, old, times = time.monotonic(), None, list[float]()
    async with ClientSession() as session:
        stream = await connect(session, url)
        while len(times) < count:
            message = await asyncio.wait_for(stream.receive(), 60.0)
            if message.type is WSMsgType.BINARY:
                number = int.from_bytes(message.data[8:12], "little")
                old = number if old is None else old
                if number != old:
                    times.append(time.monotonic() - begin)
                await stream.send_json({"type": "shown", "number": number})
        await stream.close()
    return times[0], max(LONGEST, FRAMES * float(np.median(np.diff(times))))


async def look_together(url: str, browsers: int, count: int) -> list[tuple[float, float]]:
    return await asyncio.gather(*(look(url, count) for _ in range(browsers)))


def growth(process: psutil.Process, act: Callable[[], object]) -> float:
    """Memory that a process has taken while something was done [MB]."""
    before = process.memory_info().rss
    act()
    return float(process.memory_info().rss - before) / 1e6


@pytest.mark.parametrize("browsers", [pytest.param(1, marks=pytest.mark.long), 5])
def test_a_window_that_is_drawn_slowly_keeps_its_memory_and_answers_within_two_seconds(
    slow_scene: Path, browsers: int
) -> None:
    with serve(slow_scene, folder=slow_scene.parent) as served:
        process = psutil.Process(served.process.pid)
        time.sleep(1.0)
        assert growth(process, lambda: time.sleep(UNWATCHED)) < GROWTH
        seen = asyncio.run(look_together(served.url, browsers, 8))
        assert all(first < longest for first, longest in seen), seen
        # Encoders and pictures of that size are there now.
        assert growth(process, lambda: asyncio.run(look_together(served.url, browsers, 12))) < GROWTH
        assert growth(process, lambda: time.sleep(UNWATCHED)) < GROWTH
        begin = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(60) == 128 + signal.SIGTERM
        assert time.monotonic() - begin < seen[0][1]


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
                step()

        def step() -> None:
            mujoco.mj_step(model, data)
            viewer.sync()
            time.sleep(0.002)

        run(1.0)
        assert growth(process, lambda: run(UNWATCHED)) < GROWTH
        with ThreadPoolExecutor() as pool:
            # The picture of a loop changes while it runs.
            seen = pool.submit(asyncio.run, look(viewer.url, 8))
            while not seen.done():
                step()
        first, longest = seen.result()
        assert first < longest
        begin = time.monotonic()
    assert time.monotonic() - begin < longest


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
        begin = time.monotonic()
        asyncio.run(record(2.0))
        wait(lambda: any(tmp_path.glob("*.mp4")))
        longest = time.monotonic() - begin
    (video,) = tmp_path.glob("*.mp4")
    probe = ["ffprobe", "-v", "error", "-show_format", "-of", "json", str(video)]
    found = json.loads(subprocess.run(probe, capture_output=True, check=True).stdout)
    # A busy machine takes the keys late.
    assert 1.0 < float(found["format"]["duration"]) < longest + 0.1


def test_time_goes_on_while_nobody_watches(tmp_path: Path) -> None:
    begin = time.monotonic()
    with serve("bounce", "--save-run", "unseen.cvrun", folder=tmp_path):
        time.sleep(3.0)
    longest = time.monotonic() - begin
    subprocess.run([PROGRAM, "export", "unseen.cvrun", "-o", "steps.csv"], cwd=tmp_path, check=True)
    with (tmp_path / "steps.csv").open() as file:
        times = [float(row["time"]) for row in csv.DictReader(file)]
    assert 1.0 < max(times) < longest


def test_a_scene_that_is_saved_while_nobody_watches_is_what_the_next_one_sees(tmp_path: Path) -> None:
    def write(colour: str) -> None:
        floor = f'<geom type="plane" size="9 9 .1" rgba="{colour} 1"/>'
        scene.write_text(f'<mujoco><worldbody><light pos="0 0 3"/>{floor}</worldbody></mujoco>')

    async def see_red() -> None:
        async with ClientSession() as session:
            stream = await connect(session, served.url)
            while True:
                message = await asyncio.wait_for(stream.receive(), 60.0)
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
