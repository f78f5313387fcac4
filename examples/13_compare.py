"""Compare the contacts of two engines on one scene. Needs contact-viewer[motrix]."""

from contact_viewer import open_engine

for name in ("mujoco", "motrix"):
    engine = open_engine("slope", engine=name)
    engine.step(round(1.0 / engine.timestep))
    print(f"{name}: {engine.get_contact_force_magnitude('box_on_slope')[0]:.3f} N")
