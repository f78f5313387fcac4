"""Drive a scene by a function that is called before every step: a hand that closes on a ball."""

import numpy as np
from contact_viewer import open_engine


def control(model, data):
    """Close all fingers within half a second."""
    low, high = model.actuator_ctrlrange.T
    data.ctrl[:] = low + (high - low) * min(data.time / 0.5, 1.0)


engine = open_engine("hand", control=control)
for _ in range(4):
    engine.step(150)
    forces = {name: float(np.linalg.norm(engine.contacts(name).net_force)) for name in engine.sensors.names}
    print(f"{engine.time:.2f} s:", ", ".join(f"{name} {force:.1f} N" for name, force in forces.items()))
