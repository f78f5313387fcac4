"""Keeps quantities of the model that a user chose as channels of a run: joints, controls, forces, sensors."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from time import perf_counter

from ..channels.channel import ChannelName
from ..engines.contract import Engine
from ..engines.steps import Step
from ..errors import SceneError
from ..mjmodel.quantities import Quantity, list_quantities
from .branch import visiting
from .simulation import Simulation

_FILLING = 0.5
"""Longest that a new channel may take to be filled with past steps [s]."""
_SHOWN_NAMES = 5


class ModelChannels:
    """Observer of the steps of a run that adds the values of chosen quantities to its channels."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._chosen: dict[str, Quantity] = {}

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        """Quantities that can be chosen, by name."""
        return {quantity.name: quantity for quantity in list_quantities(self._simulation.shown.model)}

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the chosen quantities."""
        return tuple(self._chosen)

    def matching(self, patterns: Iterable[str]) -> list[str]:
        """Return the names that match any of some patterns, such as `joint position/*`. Raises SceneError for a pattern
        that matches nothing."""
        found: dict[str, None] = {}
        for pattern in patterns:
            names = [name for name in self.quantities if name == pattern or fnmatchcase(name, pattern)]
            if not names:
                known = ", ".join(list(self.quantities)[:_SHOWN_NAMES]) or "none"
                more = ", ..." if len(self.quantities) > _SHOWN_NAMES else ""
                raise SceneError(
                    f"no joint, control, actuator or sensor matches {pattern!r}; the model has {known}{more}"
                )
            found |= dict.fromkeys(names)
        return list(found)

    def choose(self, names: Iterable[str]) -> None:
        """Add channels, from now on and for as many past steps as can be re-simulated in half a second."""
        new = [self.quantities[name] for name in names if name not in self._chosen]
        if not new:
            return
        self.observe()
        self._fill(new)
        self._chosen |= {quantity.name: quantity for quantity in new}

    def observe(self) -> None:
        """Observe every step from now on, for channels and for their limits."""
        if self not in self._simulation.observers:
            self._simulation.observers.append(self)

    def drop(self, name: str) -> None:
        """Remove a channel."""
        if self._chosen.pop(name, None) is not None:
            self._simulation.live_channels.remove(name)
            self._simulation.channels.remove(name)

    def after_step(self, step: Step) -> None:
        channels, data = self._simulation.live_channels, step.engine.data
        for name, quantity in self._chosen.items():
            channels.open(ChannelName(name, quantity.unit)).append(step.time, quantity.read(data))
        if channels.limits:
            channels.check(step.time)

    def after_reset(self, engine: Engine) -> None:
        """Do nothing: channels are cleared with the run."""

    def _fill(self, quantities: list[Quantity]) -> None:
        simulation, history = self._simulation, self._simulation.history
        opened = [
            (simulation.channels.open(ChannelName(quantity.name, quantity.unit)), quantity) for quantity in quantities
        ]
        if history is None or not history.can_resume or not len(history):
            return
        with visiting(simulation):
            first, data = history.last, simulation.shown.data
            began = perf_counter()
            for _ in history.replay(max(history.last - 20, history.first)):
                pass
            each = (perf_counter() - began) / min(21, len(history))
            first = max(history.first, history.last - int(_FILLING / max(each, 1e-7)))
            for step in history.replay(first):
                time = history.time(step)
                for channel, quantity in opened:
                    channel.append(time, quantity.read(data))
