"""Reads a scene and its steps as plain arrays. Imports nothing of this package: it runs as a script with the MuJoCo of
another environment, takes the requested steps, and sends their arrays."""

import sys
from multiprocessing.connection import Connection
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
"""Attributes of a model that affect contacts, by the kind of object."""
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
"""Attributes of each contact that are compared, beside its force."""
STATE, INPUTS = ("qpos", "qvel", "act"), ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
START, HELD = ("time", *STATE, "qacc_warmstart"), (*INPUTS, "eq_active", "userdata")
"""Names in mjData of the values that a step changes, and of the values that it only reads."""


def names_of(model: Any, kind: str) -> list[str]:
    """Return a name for every object of a kind; unnamed ones get their number."""
    text = model.names
    names = [
        text[at : text.index(b"\0", at)].decode(errors="replace") for at in getattr(model, f"name_{kind}adr").tolist()
    ]
    if kind == "geom":
        bodies, holders = names_of(model, "body"), model.geom_bodyid.tolist()
        return [name or f"geom {i} of {bodies[holders[i]]}" for i, name in enumerate(names)]
    return [name or f"{kind} {i}" for i, name in enumerate(names)]


def read_scene(model: Any) -> dict[str, dict[str, Any]]:
    """Return the attributes of a model that affect contacts: by kind, arrays by attribute, and a list of names."""
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
    """Return the state after a step, and its inputs, each (n,)."""
    return {name: np.array(getattr(data, name), float).ravel() for name in (*STATE, *INPUTS)}


def read_contacts(data: Any, forces: Any) -> dict[str, Any]:
    """Return the contact list, one array for each of CONTACT, and the given forces, (k, 6)."""
    found = {name: np.array(getattr(data.contact, name)) for name in CONTACT if hasattr(data.contact, name)}
    return found | {"force": forces}


def pack(value: Any) -> Any:
    """Return dictionaries of arrays in a form that any version of numpy can read: type, shape and bytes of each
    array."""
    if isinstance(value, dict):
        return {key: pack(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    return value


def unpack(value: Any) -> Any:
    """Return a value from the form that `pack` gave it."""
    if isinstance(value, dict):
        return {key: unpack(each) for key, each in value.items()}
    if isinstance(value, tuple) and value[:1] == ("array",):
        return np.frombuffer(value[3], value[1]).reshape(value[2])
    return value


def main() -> None:
    """Take the steps of one request with the first MuJoCo on the search path, and send each step."""
    connection = Connection(int(sys.argv[1]))
    try:
        request = unpack(connection.recv())
        import mujoco

        model = mujoco.MjModel.from_xml_path(request["scene"])
        _change(mujoco, model, request["values"])
        data = mujoco.MjData(model)
        _put(data, request["rows"], 0, (*START, *HELD))
    except Exception as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        connection.send({"error": words[0]})
        return
    sensors = {
        name: np.array([model.sensor_adr[i], model.sensor_dim[i]]) for i, name in enumerate(names_of(model, "sensor"))
    }
    scene = {"scene": read_scene(model), "sensors": sensors, "timestep": float(model.opt.timestep)}
    connection.send(pack({"version": mujoco.__version__, **scene}))
    _take_steps(mujoco, model, data, request, connection)


def _take_steps(mujoco: Any, model: Any, data: Any, request: Any, connection: Connection) -> None:
    rows, first = request["rows"], mujoco.MjData(model)
    staged = model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    for step in range(len(rows["time"])):
        # Each step from a given state, or from the one before.
        _put(data, rows, step, (*START, *HELD) if request["each"] else HELD)
        seen, before = data, data.time
        if staged:
            # It leaves the contacts of its last stage: those of the first are what its arrays are of.
            _put(first, {name: getattr(data, name)[None] for name in rows if name != "time"}, 0, (*START[1:], *HELD))
            mujoco.mj_forward(model, first)
            seen = first
        mujoco.mj_step(model, data)
        if not data.time > before:
            connection.send({"error": f"the simulation diverges at {before:g} s"})
            return
        forces = np.zeros((seen.ncon, 6))
        for contact in range(seen.ncon):
            mujoco.mj_contactForce(model, seen, contact, forces[contact])
        found = {"time": data.time, "values": read_values(data), "contacts": read_contacts(seen, forces)}
        connection.send(pack({**found, "arrays": np.array(data.sensordata)}))
    connection.send({"end": True})


def _put(data: Any, rows: Any, step: int, names: Any) -> None:
    """Write a row of some parts of a state; raise ValueError if a part has another size."""
    for name in names:
        if name not in rows:
            continue
        values = rows[name][step]
        if name == "time":
            data.time = float(values)
        else:
            getattr(data, name).reshape(-1)[:] = values.reshape(-1)


def _change(mujoco: Any, model: Any, values: Any) -> None:
    """Write the values of a model that were changed after it was compiled."""
    for name, value in values.items():
        holder, attribute = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
        if not hasattr(holder, attribute):
            raise ValueError(f"MuJoCo {mujoco.__version__} has no {name}")
        if np.ndim(getattr(holder, attribute)):
            getattr(holder, attribute)[:] = value
        else:
            setattr(holder, attribute, value.item())


if __name__ == "__main__":
    main()
