"""Panels of the window, one file each: a module of this folder that has a `PANEL` is found and shown."""

from importlib import import_module
from pkgutil import iter_modules

from ..shell import Panel

_FIRST = ("sensors", "inspector", "sensor_editor", "controls", "display", "plots", "events", "touch", "findings")
"""Modules in the order of the View menu and of the tabs of a dock; all others follow."""


def find_panels() -> list[Panel]:
    """Return the panels of all modules."""
    others = sorted({module.name for module in iter_modules(__path__)} - set(_FIRST))
    modules = [import_module(f"{__name__}.{name}") for name in (*_FIRST, *others)]
    return [module.PANEL for module in modules if hasattr(module, "PANEL")]
