"""Turns MotrixSim's link forces into the forces on a body."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mjmodel.body_forces import BodyContacts
from .calls import running_calls


class MotrixForces:
    """Contact forces on the links of the first environment. What a link passes on to its parent is not known."""

    from_mujoco = False

    def __init__(self, motrix: Any, links: Sequence[str], state: Callable[[], Any], num_envs: int = 1) -> None:
        """`links`: name of each body's link in the MuJoCo model's order, empty where there is none; `state`: the
        engine's state now, which is another one after a reset."""
        self._motrix, self._state = motrix, state
        self._single = num_envs == 1
        self._links = list(links)
        reports = motrix.reports
        reports.contact_forces = reports.contacting_geoms = True
        self._places = [motrix.get_link_index(name) if name else None for name in links]
        self._geoms = [[geom.index for geom in motrix.get_link(name).geoms] if name else [] for name in links]
        self._forces: NDArray[np.float32] = np.zeros((len(motrix.link_names), 6), np.float32)
        self._query: Any = None

    def refusal(self, body: int, mount: bool) -> str | None:
        if mount:
            return "measure mount is known on MuJoCo only"
        return None if self._places[body] is not None else "MotrixSim does not report the forces on this body"

    def read(self) -> None:
        with running_calls("read contact forces"):
            forces = self._motrix.get_link_net_contact_forces(self._state())
            self._query = self._motrix.get_contact_query(self._state()) if self._single else None
        self._forces = forces if self._single else forces[0]

    def contacts(self, body: int) -> BodyContacts:
        force = self._forces[self._places[body], :3].astype(np.float64)
        if self._query is None:
            # Of several environments only the forces are known.
            return BodyContacts(force, int(force.any()))
        with running_calls("read contacts"):
            found = sum(len(self._query.contacting_geoms(geom)) for geom in self._geoms[body])
        return BodyContacts(force, found)

    def mount(self, body: int) -> NDArray[np.float64]:
        raise NotImplementedError("MotrixSim does not report what a link passes on to its parent")

    def contact_points(self, body: int) -> NDArray[np.float64]:
        return np.zeros((0, 3))
