"""Every example runs, and prints what its scene makes certain."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
LIBRARIES = os.environ.get("ARRAY_LIBRARIES", "jax")
PRINTS = {
    "1_gymnasium_reward": ("", "reward"),
    "2_jax_batch": ("jax", "[19.6"),
    "3_torch_warp": ("torch", "19.62, 0.0]"),
    "4_mjlab_term": ("torch", "sensors ['feet_left', 'feet_right']"),
    "5_gymnasium_viewer": ("jax", "Humanoid-v5, episode 1: "),
}
"""The library that each example needs, and what it prints: forces are weights."""


def test_the_examples_are_there() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} >= set(PRINTS)


@pytest.mark.parametrize("name", [name for name, (library, _) in PRINTS.items() if library in LIBRARIES])
def test_it_runs(name: str, tmp_path: Path) -> None:
    # Films instead of windows, where it has them.
    arguments = [str(tmp_path), "10"] if name.endswith("viewer") else []
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert PRINTS[name][1] in done.stdout
    if arguments:
        assert len(list(tmp_path.glob("*.mp4"))) == 4
