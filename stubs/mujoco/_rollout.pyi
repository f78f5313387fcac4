# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"

from typing import Any
from numpy.typing import ArrayLike
from mujoco._stub_types import Integer

class Rollout:
    def __init__(self, *, nthread: Integer) -> None: ...
    def rollout(self, model: list[Any], data: list[Any], nstep: Integer, control_spec: Integer, state0: ArrayLike, warmstart0: ArrayLike | None = ..., control: ArrayLike | None = ..., state: ArrayLike | None = ..., sensordata: ArrayLike | None = ..., chunk_size: Integer | None = ...) -> None: ...
