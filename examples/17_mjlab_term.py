"""A reward term for mjlab's manager: air time of feet from its per-field sensors, read as one sensor each.

mjlab declares `feet_left_found`, `feet_left_force`, ...: one sensor a field. `ContactLayout.for_model` joins them.
Needs torch. Without mjlab a model of the same kind shows that the term works.
Run it: python examples/17_mjlab_term.py
"""

import mujoco
import torch
from contact_viewer import ContactLayout, metrics


class FeetAirTime:
    """A manager term: the mean of (time in the air - 0.1 s) of the feet that touch down in this step.

    In mjlab: `RewardTermCfg(func=FeetAirTime(model), weight=1.0)`, with `env.sim.mj_model` as the model and
    `env.sim.data.sensordata` as its data.
    """

    def __init__(self, model, prefix: str = "feet_") -> None:
        self.layouts = ContactLayout.for_model(model)
        self.timestep = model.opt.timestep
        self.names = [name for name in self.layouts if name.startswith(prefix)]
        self.times = None

    def __call__(self, sensordata: torch.Tensor) -> torch.Tensor:
        """The reward, (environments,), of sensordata, (environments, n)."""
        batches = self.layouts.decode(sensordata)
        touching = torch.stack([batches[name].found > 0 for name in self.names], axis=-1)
        if self.times is None:
            self.times = metrics.start_times(touching, self.timestep, like=sensordata)
        else:
            self.times = self.times.next(touching)
        landed = self.times.first_contact.to(sensordata.dtype)
        return torch.mean((self.times.last_air_time - 0.1) * landed, axis=-1)

    def reset(self, env_ids: torch.Tensor) -> None:
        """Environments that begin again."""
        done = torch.zeros(self.times.steps.shape[0], 1, dtype=torch.bool, device=env_ids.device)
        done[env_ids] = True
        self.times = self.times.restarted(done)


def make_model() -> mujoco.MjModel:
    """Two balls as feet, with sensors as mjlab declares them."""
    sensors = "".join(
        f'<contact name="feet_{side}_{field}" geom1="floor" geom2="{side}" data="{field}" reduce="netforce"/>'
        for side in ("left", "right")
        for field in ("found", "force")
    )
    bodies = "".join(
        f'<body pos="0 {y} {z}"><freejoint/><geom name="{side}" size=".1" mass="1" solref=".01 .3"/></body>'
        for side, y, z in (("left", -0.3, 0.3), ("right", 0.3, 0.5))
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>{bodies}</worldbody>'
        f"<sensor>{sensors}</sensor></mujoco>"
    )


def main() -> None:
    model = make_model()
    data, term = mujoco.MjData(model), FeetAirTime(model)
    print("sensors", term.names)
    total = torch.zeros(2)
    for step in range(400):
        mujoco.mj_step(model, data)
        total += term(torch.tensor(data.sensordata, dtype=torch.float32).repeat(2, 1))
        if step == 200:
            term.reset(torch.tensor([1]))
    print("reward of two environments", [round(value, 3) for value in total.tolist()])


if __name__ == "__main__":
    main()
