"""torch.compile of decoding to world forces, and a copy of the array, in turns; prints milliseconds of each."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from contact_viewer import ContactLayout

# One thread, as numpy has.
torch.set_num_threads(1)
count, times, repeats = (int(word) for word in sys.argv[1:])
layout = ContactLayout("found force pos normal tangent", 4)
arrays = np.random.default_rng(0).normal(size=(count, layout.size)).astype(np.float32)
there: Any = torch.from_numpy(arrays)
compiled = torch.compile(lambda arrays: layout.decode(arrays).force_world, fullgraph=True)
np.testing.assert_allclose(compiled(there), layout.decode(arrays).force_world, rtol=1e-4, atol=1e-4)


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(times):
        work()
    return 1e3 * (time.perf_counter() - start) / times


found: dict[str, list[float]] = {"ours": [], "copy": []}
for _ in range(repeats):
    found["ours"].append(milliseconds(lambda: compiled(there)))
    found["copy"].append(milliseconds(arrays.copy))
print(json.dumps(found))
