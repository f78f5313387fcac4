"""Decode the flat array of a contact sensor: no scene, no engine, only numbers."""

import numpy as np
from contact_viewer import ContactLayout

layout = ContactLayout("found force pos normal tangent", slots=2)
print(layout.size, "values:", ", ".join(layout.columns[:5]), "...")

array = np.zeros(layout.size)
array[layout.columns.index("slot0.found")] = 1
array[layout.columns.index("slot0.force.normal")] = 9.81
array[layout.columns.index("slot0.normal.z")] = 1
array[layout.columns.index("slot0.tangent.x")] = 1

batch = layout.decode(array)
print("slots with a contact:", batch.filled)
print("force in the world [N]:", batch.net_force)
