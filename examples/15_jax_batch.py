"""Contacts of a batch inside jax.jit, vmap and grad; with MJX as the simulator if it is installed.

MJX reports geom targets with reduce mindist or maxforce; with reduce none it fills slots with pairs that do not touch.
Run it: python examples/15_jax_batch.py
"""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from contact_viewer import ContactLayout, metrics

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 0 .15"><freejoint/><geom name="ball" size=".1" mass="2"/></body>
  </worldbody>
  <sensor>
    <contact name="ball" geom1="floor" geom2="ball" data="found force pos normal tangent" reduce="maxforce"/>
  </sensor>
</mujoco>"""
model = mujoco.MjModel.from_xml_string(SCENE)
layouts = ContactLayout.for_model(model)


@jax.jit
def reward(sensordata):
    """Minus the force above 25 N, (environments,), of sensordata over time, (steps, environments, n)."""
    batch = layouts.decode(sensordata)["ball"]
    forces = metrics.force(batch, "maxforce")
    times = metrics.contact_times(metrics.in_contact(forces), model.opt.timestep)
    return times.duty_factor[-1] - 0.01 * jnp.maximum(metrics.peak(forces) - 25.0, 0.0)


def simulate(heights):
    """sensordata over time, (steps, environments, n): MJX with vmap if it is there, else MuJoCo."""
    try:
        from mujoco import mjx
    except ImportError:
        return simulate_mujoco(heights)
    there = mjx.put_model(model)
    start = mjx.make_data(there)
    data = jax.vmap(lambda height: start.replace(qpos=start.qpos.at[2].set(height)))(jnp.asarray(heights))

    def step(data, _):
        data = jax.vmap(mjx.step, in_axes=(None, 0))(there, data)
        return data, data.sensordata

    return jax.lax.scan(step, data, None, length=300)[1]


def simulate_mujoco(heights):
    rows = np.zeros((300, len(heights), model.nsensordata))
    for i, height in enumerate(heights):
        data = mujoco.MjData(model)
        data.qpos[2] = height
        for k in range(len(rows)):
            mujoco.mj_step(model, data)
            rows[k, i] = data.sensordata
    return jnp.asarray(rows)


def main() -> None:
    rows = simulate(np.linspace(0.1, 0.4, 4))
    print("reward", np.round(np.asarray(reward(rows)), 3))
    net = jax.vmap(lambda row: layouts.decode(row)["ball"].net_force)(rows[-1])
    print("weight of the ball [N]", np.round(np.asarray(net)[:, 2], 2))


if __name__ == "__main__":
    main()
