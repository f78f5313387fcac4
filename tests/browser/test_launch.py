"""Windows that a user's own program serves: where they are, what they show, and that they end with it."""

import asyncio
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import contact_viewer
import mujoco
import psutil
import pytest
from aiohttp import ClientSession, WSMsgType
from contact_viewer.assets import bundled_scene
from contact_viewer.errors import SceneError

from .driver import serve, wait


async def numbers(url: str, count: int) -> list[int]:
    """Numbers of the next pictures that a browser would show."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    found: list[int] = []
    async with (
        ClientSession() as session,
        session.ws_connect(f"{origin}/stream?codec=jpeg&{parts.query}", headers={"Origin": origin}) as stream,
    ):
        await stream.send_json({"type": "size", "width": 400, "height": 300})
        while len(found) < count:
            message = await stream.receive(20)
            if message.type is WSMsgType.BINARY:
                found.append(int.from_bytes(message.data[8:12], "little"))
                await stream.send_json({"type": "shown", "number": found[-1]})
    return found


def watch(url: str) -> None:
    """Sees pictures that change."""
    found = asyncio.run(numbers(url, 4))
    assert found == sorted(set(found))


def load(name: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    scene = bundled_scene(name)
    assert scene is not None
    model = mujoco.MjModel.from_xml_path(str(scene.path))
    return model, mujoco.MjData(model)


def test_a_scene_is_served_and_returns_its_address(capfd: pytest.CaptureFixture[str]) -> None:
    with contact_viewer.launch("slope", serve=True) as viewer:
        assert viewer.is_running()
        watch(viewer.url)
        port = urlsplit(viewer.url).port
        lines = capfd.readouterr().out.splitlines()
        assert lines[0] == f"serving at {viewer.url}"
        assert f"ssh -L {port}:127.0.0.1:{port}" in lines[1]
        assert viewer.url in repr(viewer)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(viewer.url.partition("?")[0])
    assert not viewer.is_running()
    viewer.close()


def test_a_programs_own_data_and_controller_are_stepped_in_real_time() -> None:
    model, data = load("slope")
    times = []
    with contact_viewer.launch(model, data, control=lambda _, data: times.append(data.time), serve=True) as viewer:
        watch(viewer.url)
        wait(lambda: data.time > 0.5)
    assert not viewer.is_running()
    assert len(times) > 100
    assert times == sorted(times)


def test_the_window_of_a_loop_is_served() -> None:
    model, data = load("slope")
    with contact_viewer.launch_passive(model, data, serve=True) as viewer:
        assert viewer.url is not None
        pictures = numbers(viewer.url, 4)

        async def loop() -> list[int]:
            watching = asyncio.create_task(pictures)
            while not watching.done():
                mujoco.mj_step(model, data)
                viewer.sync()
                await asyncio.sleep(0.002)
            return await watching

        found = asyncio.run(loop())
        assert found == sorted(set(found))


@pytest.mark.parametrize(
    ("options", "display"),
    [(("--envs", "4"), True), (("--engine", "motrix"), False), (("--engine", "both", "--control", "still.py"), False)],
    ids=["environments, beside a display", "MotrixSim", "both engines and a controller"],
)
def test_every_option_of_the_command_is_served(tmp_path: Path, options: tuple[str, ...], display: bool) -> None:
    (tmp_path / "still.py").write_text("def control(model, data):\n    pass\n")
    with serve("slope", *options, folder=tmp_path, display=display) as served:
        watch(served.url)


def test_what_cannot_be_served_is_one_line() -> None:
    with pytest.raises(SceneError, match=r"nothing\.xml"):
        contact_viewer.launch("nothing.xml", serve=True)
    with pytest.raises(SceneError, match="port"):
        contact_viewer.launch("slope", serve=70_000)


def test_a_served_window_ends_with_the_program_that_opened_it() -> None:
    code = "import contact_viewer, time; v = contact_viewer.launch('slope', serve=True); time.sleep(60)"
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    url = program.stdout.readline().split()[-1]
    (window,) = psutil.Process(program.pid).children()
    assert urllib.request.urlopen(url).status == 200
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert window.wait(20) is None or not window.is_running()


def test_a_notebook_shows_the_page_in_its_output() -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(kernel_name="python3")

    def run(cell: str) -> list[dict[str, str]]:
        """What a cell shows, by kind."""
        shown = []
        client.execute_interactive(
            cell,
            timeout=60,
            output_hook=lambda message: (
                shown.append(message["content"]["data"])
                if message["msg_type"] in ("display_data", "execute_result")
                else None
            ),
        )
        return shown

    try:
        page, link = run("import contact_viewer; v = contact_viewer.launch('slope', serve=True); v")
        (address,) = run("v.url")
        url = address["text/plain"].strip("'")
        assert f'<iframe src="{url}"' in page["text/html"]
        # Once a cell, not twice.
        assert "<iframe" not in link["text/html"]
        (again,) = run("v")
        assert f'<iframe src="{url}"' in again["text/html"]
        with urllib.request.urlopen(url) as answer:
            # Another page may hold it only where the token is given; there may be no cookies inside a notebook.
            assert "frame-ancestors *" in answer.headers["Content-Security-Policy"]
            assert b"viewer.js?token=" in answer.read()
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
