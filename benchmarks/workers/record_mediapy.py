"""A video by mujoco.Renderer and mediapy; prints how long it took."""

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator

import imageio_ffmpeg
import mediapy
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("scene")
parser.add_argument("-o", dest="output")
parser.add_argument("--duration", type=float)
parser.add_argument("--fps", type=int)
parser.add_argument("--size")
parser.add_argument("--gl")
parser.add_argument("--contacts", action="store_true")
parser.add_argument("--crf", type=float)
parser.add_argument("--preset")
parser.add_argument("--x264")
arguments = parser.parse_args()
# MuJoCo asks for it when it is imported; ours finds by itself what works.
os.environ["MUJOCO_GL"] = arguments.gl
import mujoco  # noqa: E402

if shutil.which("ffmpeg") is None:
    mediapy.set_ffmpeg(imageio_ffmpeg.get_ffmpeg_exe())
width, height = map(int, arguments.size.split("x"))
settings = {}
if arguments.crf is not None:
    settings = {"crf": arguments.crf, "ffmpeg_args": f"-preset {arguments.preset} -x264-params {arguments.x264}"}

start = time.perf_counter()
model = mujoco.MjModel.from_xml_path(arguments.scene)
# A framebuffer of the video's size, not of the largest that the scene provides for.
model.vis.global_.offwidth, model.vis.global_.offheight = width, height
data = mujoco.MjData(model)
option = mujoco.MjvOption()
if arguments.contacts:
    option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTPOINT] = True
    option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTFORCE] = True


def pictures() -> Iterator[np.ndarray]:
    with mujoco.Renderer(model, height, width) as renderer:
        for frame in range(round(arguments.duration * arguments.fps)):
            while data.time < frame / arguments.fps - 1e-9:
                mujoco.mj_step(model, data)
            renderer.update_scene(data, scene_option=option)
            yield renderer.render()


# Given one by one, pictures are encoded while the next are drawn: the fastest way to use it.
mediapy.write_video(arguments.output, pictures(), fps=arguments.fps, **settings)
print(json.dumps({"seconds": time.perf_counter() - start}))
