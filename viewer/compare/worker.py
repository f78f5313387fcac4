"""Reads a scene and its steps as plain arrays. Imports nothing of this package: as a script it runs with the MuJoCo of
another environment, and sends what it reads."""

from typing import Any

import numpy as np

ATTRIBUTES = {
    "geom": (
        "type size contype conaffinity condim priority friction solmix solref solimp margin gap".split()  # noqa: SIM905
    ),
    "pair": ["geom1", "geom2", "dim", "friction", "solref", "solreffriction", "solimp", "margin", "gap"],
    "exclude": ["signature"],
    "body": ["mass"],
    "sensor": ["objtype", "objid", "reftype", "refid", "intprm"],
}
"""What is read of the things of a model that decide about contacts, by their kind."""
OPTIONS = [
    "timestep",
    "gravity",
    "integrator",
    "cone",
    "solver",
    "iterations",
    "tolerance",
    "ls_iterations",
    "noslip_iterations",
    "impratio",
    "disableflags",
    "enableflags",
    "o_margin",
    "o_solref",
    "o_solimp",
    "o_friction",
    "density",
    "viscosity",
    "wind",
    "ccd_iterations",
]
CONTACT = ("geom", "flex", "pos", "frame", "dist", "friction", "solref", "solimp", "includemargin", "dim")
"""What is read of each contact in the list, beside its force."""
STATE, INPUTS = ("qpos", "qvel", "act"), ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")


def names_of(model: Any, kind: str) -> list[str]:
    """Return a name for every thing of a kind; what has none gets its number."""
    text = model.names
    names = [
        text[at : text.index(b"\0", at)].decode(errors="replace") for at in getattr(model, f"name_{kind}adr").tolist()
    ]
    if kind == "geom":
        bodies, holders = names_of(model, "body"), model.geom_bodyid.tolist()
        return [name or f"geom {i} of {bodies[holders[i]]}" for i, name in enumerate(names)]
    return [name or f"{kind} {i}" for i, name in enumerate(names)]


def read_scene(model: Any) -> dict[str, dict[str, Any]]:
    """Return what a model has that decides about contacts: by kind, arrays by attribute, and a list of names."""
    options = {name: np.array(getattr(model.opt, name)) for name in OPTIONS if hasattr(model.opt, name)}
    scene: dict[str, dict[str, Any]] = {"option": options}
    for kind, attributes in ATTRIBUTES.items():
        known = [name for name in attributes if hasattr(model, f"{kind}_{name}")]
        scene[kind] = {name: np.array(getattr(model, f"{kind}_{name}")) for name in known}
        scene[kind]["names"] = names_of(model, kind)
    joints = {"names": names_of(model, "jnt"), "qpos": model.jnt_qposadr, "qvel": model.jnt_dofadr}
    scene["joint"] = {name: values if name == "names" else np.array(values) for name, values in joints.items()}
    scene["joint"]["sizes"] = {"qpos": int(model.nq), "qvel": int(model.nv)}
    return scene


def read_values(data: Any) -> dict[str, Any]:
    """Return the state that a step has left, and the inputs that it started with, each (n,)."""
    return {name: np.array(getattr(data, name), float).ravel() for name in (*STATE, *INPUTS)}


def read_contacts(data: Any, forces: Any) -> dict[str, Any]:
    """Return the contact list, one array for each of CONTACT, and the given forces, (k, 6)."""
    found = {name: np.array(getattr(data.contact, name)) for name in CONTACT if hasattr(data.contact, name)}
    return found | {"force": forces}
