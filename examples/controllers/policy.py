"""Drives a robot by a policy from a TorchScript file (pip install torch); ONNX differs in two lines.

contact-viewer ROBOT.xml --control examples/controllers/policy.py --param PATH=policy.pt
"""

import numpy as np
import torch

PATH = "policy.pt"
DECIMATION = 10
"""Physics steps of one decision."""
SCALE = 0.25
policy = torch.jit.load(PATH)
steps = 0


def control(model, data):
    global steps
    if steps % DECIMATION == 0:
        seen = np.concatenate([data.qpos[7:], data.qvel, data.ctrl]).astype(np.float32)
        action = policy(torch.from_numpy(seen)[None])[0].detach().numpy()
        data.ctrl[:] = model.key_ctrl[0] + SCALE * action
    steps += 1
