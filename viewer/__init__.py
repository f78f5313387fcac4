"""contact-viewer: the contact debugger for robot simulation.

Public names; `help(contact_viewer.launch)` explains one:

    launch(scene)                    a window on a scene, until it is closed
    launch_passive(model, data)      a window on your own loop, which calls `sync` after every step
    launch_batch(model, num_envs)    a window on one environment of a batch, whichever engine steps it
    open_engine(scene)               a scene to step, and its contacts to read, without a window
    ContactLayout, ContactBatch      contacts from flat arrays of contact sensors
    ContactEvents, ContactEvent      when contacts begin and end
    TouchSensor                      readings of a touch sensor, from forces
    Engine, PassiveViewer, BatchViewer   returned by open_engine, launch_passive and launch_batch
    read_log                         a log of states, to be re-simulated
    SceneError                       raised if a scene cannot be used; its message is one line
    check(model, data)               problems of a scene's contacts: a list of Finding
    find_cure(scene, avoid)          the smallest change of a scene after which something does not happen
    audit(term, model)               errors of your own contact function: an AuditReport
    metrics                          contact times, slip, peaks and impulses from contacts over time
    sweep(scenes, seeds)             many runs, as a table with metrics of every sensor
    show(run)                        a run in a notebook: its page in a frame
    gymnasium.ContactViewer(env)     a window, films and contact events for environments

The documentation is in the folder `docs` of the repository.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from . import gymnasium as gymnasium
    from . import metrics
    from .audits.audit import AuditReport, audit
    from .checks.check import check
    from .checks.finding import Finding
    from .compare.cures import find_cure
    from .engines.contract import Engine
    from .engines.registry import open_engine
    from .errors import SceneError
    from .events.contact_events import ContactEvent, ContactEvents
    from .page.child import show
    from .passive.batch import BatchViewer
    from .passive.launch import launch, launch_batch, launch_passive
    from .passive.viewer import PassiveViewer
    from .scene_files.log_files import read_log
    from .sensors.contacts import ContactBatch
    from .sensors.layout import ContactLayout
    from .sweeps.sweep import sweep
    from .touch.device import TouchSensor

__all__ = [
    "AuditReport",
    "BatchViewer",
    "ContactBatch",
    "ContactEvent",
    "ContactEvents",
    "ContactLayout",
    "Engine",
    "Finding",
    "PassiveViewer",
    "SceneError",
    "TouchSensor",
    "__version__",
    "audit",
    "check",
    "find_cure",
    "launch",
    "launch_batch",
    "launch_passive",
    "metrics",
    "open_engine",
    "read_log",
    "show",
    "sweep",
]
_HOMES = {
    "AuditReport": ".audits.audit",
    "BatchViewer": ".passive.batch",
    "ContactBatch": ".sensors.contacts",
    "ContactEvent": ".events.contact_events",
    "ContactEvents": ".events.contact_events",
    "ContactLayout": ".sensors.layout",
    "Engine": ".engines.contract",
    "PassiveViewer": ".passive.viewer",
    "SceneError": ".errors",
    "Finding": ".checks.finding",
    "TouchSensor": ".touch.device",
    "audit": ".audits.audit",
    "check": ".checks.check",
    "find_cure": ".compare.cures",
    "launch": ".passive.launch",
    "launch_batch": ".passive.launch",
    "launch_passive": ".passive.launch",
    "open_engine": ".engines.registry",
    "read_log": ".scene_files.log_files",
    "show": ".page.child",
    "sweep": ".sweeps.sweep",
}
"""Module of each public name. It is imported on first use: decoding needs numpy alone, and the command line must be
able to catch Ctrl-C before any library is loaded."""


def __getattr__(name: str) -> Any:
    if name in ("gymnasium", "metrics"):
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "gymnasium"]
