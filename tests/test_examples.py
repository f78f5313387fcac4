"""Every example runs, and prints what its scene makes certain."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
LIBRARIES = os.environ.get("ARRAY_LIBRARIES", "jax")
PRINTS = {
    "01_decode_an_array": ("jax", "[0.   0.   9.81]"),
    "02_read_contacts": ("jax", "all feet carry 109.9 N, the robot weighs 109.9 N"),
    "03_own_loop": ("jax", "simulated 2.00 s"),
    "04_own_loop_in_a_browser": ("jax", "simulated 2.00 s"),
    "05_gymnasium": ("jax", "Humanoid-v5, episode 1: "),
    "06_reward_air_time": ("", "reward"),
    "07_controller": ("jax", "1.20 s: "),
    "08_log": ("jax", "exit code 0"),
    "09_touch_sensor": ("jax", "sole reports"),
    "10_events": ("jax", "touchdowns"),
    "11_film_and_export": ("jax", "exit code 0 - ['.csv', '.csv', '.json', '.mp4']"),
    "12_sweep": ("jax", "foot_FL"),
    "13_compare": ("jax", "motrix: 10."),
    "15_jax_batch": ("jax", "[19.6"),
    "16_torch_warp": ("torch", "19.62, 0.0]"),
    "17_mjlab_term": ("torch", "sensors ['feet_left', 'feet_right']"),
}
"""The library that each example needs, and what it prints: forces are weights."""


def test_the_examples_are_there() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", [name for name, (library, _) in PRINTS.items() if library in LIBRARIES])
def test_it_runs(name: str, tmp_path: Path) -> None:
    # Films instead of windows, where it has them.
    arguments = [str(tmp_path), "10"] if name.endswith("gymnasium") else []
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


@pytest.mark.skipif("jax" not in LIBRARIES, reason="once is enough")
def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "14_notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "left_foot" in notebook.cells[2].outputs[0]["data"]["text/plain"]
