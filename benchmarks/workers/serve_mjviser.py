"""Serves a scene with mjviser, and measures what a frame costs while one browser watches.

Usage: serve_mjviser.py SCENE PORT SECONDS: prints "ready"; after a line on standard input, which says that a browser
watches, frames a second, processor time a frame [s] and the simulation's speed.
"""

import json
import os
import sys
import threading
import time

import mujoco
import viser
from mjviser import Viewer


def main(scene: str, port: int, seconds: float) -> None:
    model = mujoco.MjModel.from_xml_path(scene)
    data = mujoco.MjData(model)
    server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    viewer = Viewer(model, data, server=server)
    frames = 0
    render = viewer._render

    def counted() -> None:
        nonlocal frames
        frames += 1
        render()

    viewer._render = counted

    def measure() -> None:
        sys.stdin.readline()
        time.sleep(min(3.0, 2 * seconds))
        begin, drawn, used, simulated = time.perf_counter(), frames, time.process_time(), data.time
        time.sleep(seconds)
        elapsed, count = time.perf_counter() - begin, max(frames - drawn, 1)
        figures = {
            "rate": count / elapsed,
            "processor": (time.process_time() - used) / count,
            "speed": (data.time - simulated) / elapsed,
        }
        print(json.dumps(figures), flush=True)
        os._exit(0)

    threading.Thread(target=measure, daemon=True).start()
    print("ready", flush=True)
    viewer.run()


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
