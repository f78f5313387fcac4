"""`contact-viewer scenes`: list the bundled scenes."""

import argparse

from ..assets import bundled_scenes
from .parsing import Parser


def parser() -> Parser:
    return Parser("scenes", "List the bundled scenes.")


def run(_: argparse.Namespace) -> int:
    scenes = bundled_scenes()
    width = max(len(scene.name) for scene in scenes)
    for scene in scenes:
        print(f"{scene.name:{width}}  {scene.description}")
    return 0
