"""A Gymnasium reward from contact sensors: feet in the air for a while, and no slip.

Run it: python examples/06_reward_air_time.py (with Gymnasium's API if it is installed, else the same loop without it).
"""

import mujoco
import numpy as np
from contact_viewer import ContactLayout, metrics

try:
    import gymnasium

    Base = gymnasium.Env
except ImportError:
    Base = object

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="hopper" pos="0 0 .5">
      <joint name="rail" type="slide" axis="0 0 1"/>
      <geom type="box" size=".1 .1 .05" mass="2"/>
      <body pos="0 0 -.05">
        <joint name="leg" type="slide" axis="0 0 1" range="-.1 .1" damping="5"/>
        <geom name="foot" type="capsule" fromto="0 0 -.2 0 0 -.3" size=".03" mass=".2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="leg" gear="60" ctrlrange="-1 1"/></actuator>
  <sensor>
    <contact name="foot" geom1="floor" geom2="foot" num="2" data="found force pos normal tangent linvel"/>
  </sensor>
</mujoco>"""
FRAME_SKIP = 5


class Hopper(Base):
    """One foot: rewarded at touchdown for the time that it was in the air."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(SCENE)
        self.data = mujoco.MjData(self.model)
        self.layouts = ContactLayout.for_model(self.model)

    def reset(self, *, seed=None, options=None):
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        self.contact = self._force() > metrics.ON
        self.times = metrics.start_times(self.contact, self.model.opt.timestep)
        return self._observe(), {}

    def step(self, action):
        self.data.ctrl[:] = action
        reward = 0.0
        # Every physics step counts: a touchdown between two of the environment's steps would be missed.
        for _ in range(FRAME_SKIP):
            mujoco.mj_step(self.model, self.data)
            self.contact = metrics.next_in_contact(self.contact, self._force())
            self.times = self.times.next(self.contact)
            slip = metrics.slip_speed(self.layouts.decode_one("foot", self.data.sensordata))
            reward += float(np.where(self.times.first_contact, self.times.last_air_time - 0.1, 0.0))
            reward -= 0.1 * float(np.nan_to_num(slip)) * self.model.opt.timestep
        return self._observe(), reward, False, False, {}

    def _force(self):
        return metrics.force(self.layouts.decode_one("foot", self.data.sensordata))

    def _observe(self):
        return np.concatenate([self.data.qpos, self.data.qvel, np.atleast_1d(self._force())])


def main() -> None:
    env = Hopper()
    env.reset(seed=0)
    total = sum(env.step(np.sin(0.2 * k))[1] for k in range(300))
    times = env.times
    print(f"reward {total:.3f}, {int(times.contact_count)} contacts, duty factor {float(times.duty_factor):.2f}")


if __name__ == "__main__":
    main()
