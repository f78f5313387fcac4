"""MotrixSim's batch of environments with all its contact sensors read; prints how long it took."""

import json
import sys
import time

import motrixsim  # noqa: TID253

path, count, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = motrixsim.load_model(path)
names = [sensor.name for sensor in model.low.low_contact_sensors]


def work() -> None:
    data = motrixsim.SceneData(model, batch=(count,))
    for _ in range(steps):
        model.step(data)
        for name in names:
            model.get_sensor_value(name, data)


# Threads and caches are warm when it counts, as ours are.
work()
start = time.perf_counter()
work()
print(json.dumps({"seconds": time.perf_counter() - start, "sensors": names}))
