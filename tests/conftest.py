"""The order of tests in one process: as they are written, or shuffled; those of headless drawing first in any case."""

import random
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("project", deadline=None)
settings.load_profile("project")
RENDER = Path(__file__).parent / "render"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run modules, and the tests of each, in another order")


# Before pytest puts together the tests of a module that share what it is set up with: engines would be opened for each.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is not None:
        order = random.Random(seed)
        # A module's tests stay together, because they share what is set up for it.
        keys = {path: order.random() for path in sorted({item.path for item in items})}
        order.shuffle(items)
        items.sort(key=lambda item: keys[item.path])
    # PyOpenGL binds itself to the first OpenGL platform that it sees: headless contexts do after that, and windows
    # work on theirs, but not the other way round.
    items.sort(key=lambda item: not item.path.is_relative_to(RENDER))
