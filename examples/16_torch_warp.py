"""Contacts of mujoco_warp's batch as torch tensors, without a copy: decoded on the device where they are.

Needs torch. With mujoco_warp it simulates; without, MuJoCo fills the same tensor.
Run it: python examples/16_torch_warp.py
"""

import mujoco
import torch
from contact_viewer import ContactLayout, metrics

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor><contact name="box" geom1="floor" geom2="box" num="4" data="found force pos normal tangent"/></sensor>
</mujoco>"""
ENVIRONMENTS = 8
model = mujoco.MjModel.from_xml_string(SCENE)
layouts = ContactLayout.for_model(model)


def observe(sensordata: torch.Tensor) -> torch.Tensor:
    """Net force on each box [N], world, and how many contacts have no slot, (environments, 4)."""
    batch = layouts.decode(sensordata)["box"]
    return torch.concat([batch.net_force, metrics.dropped(batch)[..., None]], axis=-1)


def simulate() -> torch.Tensor:
    """sensordata, (environments, n), after 200 steps."""
    try:
        import mujoco_warp
        import warp
    except ImportError:
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 200)
        return torch.tensor(data.sensordata, dtype=torch.float32).repeat(ENVIRONMENTS, 1)
    there = mujoco_warp.put_model(model)
    data = mujoco_warp.make_data(model, nworld=ENVIRONMENTS)
    for _ in range(200):
        mujoco_warp.step(there, data)
    return warp.to_torch(data.sensordata)


def main() -> None:
    # fullgraph: nothing of it leaves the compiled graph. `backend="eager"` needs no C++ compiler.
    compiled = torch.compile(observe, fullgraph=True, backend="eager")
    print("force on the first box [N], dropped", [round(value, 2) for value in compiled(simulate())[0].tolist()])


if __name__ == "__main__":
    main()
