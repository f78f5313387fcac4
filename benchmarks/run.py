"""What all benchmarks of one run share: its size, its folder, its display, and where the peers are."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TypeVar

from .environments import Environments
from .screen import VirtualScreen

T = TypeVar("T")


@dataclass
class Run:
    """One run of some benchmarks."""

    environments: Environments
    tiny: bool = False
    """Only to see that everything works: the figures mean nothing."""
    _stack: ExitStack = field(default_factory=ExitStack)

    def sized(self, full: T, tiny: T) -> T:
        """A number of repeats, frames or seconds."""
        return tiny if self.tiny else full

    @cached_property
    def folder(self) -> Path:
        """For files that are gone after the run."""
        return Path(self._stack.enter_context(TemporaryDirectory(prefix="benchmarks-")))

    @cached_property
    def screen(self) -> VirtualScreen:
        """Where windows open."""
        return self._stack.enter_context(VirtualScreen(self.folder))

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
