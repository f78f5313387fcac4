"""Step a scene and read the contacts of its sensors: forces of four feet that carry a robot."""

from contact_viewer import open_engine

engine = open_engine("quadruped")
engine.step(1000)
total = 0.0
for name in engine.sensors.names:
    batch = engine.contacts(name)
    print(f"{name}: {int(batch.filled.sum())} contacts, {batch.net_force.round(2)} N")
    total += batch.net_force[2]
print(f"all feet carry {total:.1f} N, the robot weighs {9.81 * engine.model.body_mass.sum():.1f} N")
