"""`contact-viewer record SCENE -o FILE`: record a video without a window."""

import argparse
from fractions import Fraction
from pathlib import Path

from ..settings import Options, Quality, Reduce, ViewState
from .parsing import Parser, add_scene_arguments, number


def parser() -> Parser:
    parser = Parser("record", "Record a video.")
    add_scene_arguments(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--duration", type=number(0.001, 1e6), default=10.0)
    parser.add_argument("--fps", type=number(1, 1000), default=60)
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..engines.opening import open_engine
    from ..recording.headless import film
    from ..recording.recorder import Recorder
    from ..recording.timeline import Timeline
    from ..render.offscreen import OffscreenRenderer
    from ..session import Session

    engine = open_engine(arguments.scene)
    session = Session(engine, ViewState())
    timeline = Timeline.plan(engine.timestep, arguments.duration, Fraction(arguments.fps), arguments.speed)
    with (
        OffscreenRenderer(engine.model, 1280, 720, Quality(arguments.quality)) as renderer,
        Recorder(arguments.output, (1280, 720), timeline.fps) as recorder,
    ):
        for _, picture in film(session, renderer, timeline):
            recorder.add(picture)
        print(recorder.finish())
    return 0
