"""Stands by PD control of joint torques, of any robot: from the pose in which it starts.

contact-viewer ROBOT.xml --key NAME --control examples/controllers/stand.py --param KP=80
"""

KP = 60.0
"""Stiffness [N·m/rad]."""
KD = 2.0
"""Damping [N·m·s/rad]."""
target = None


def reset(model, data, rng):
    global target
    target = data.qpos.copy()


def control(model, data):
    data.qfrc_applied[:] = 0
    for joint in range(model.njnt):
        if model.jnt_type[joint] in (2, 3):  # slide, hinge
            place, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            data.qfrc_applied[dof] = KP * (target[place] - data.qpos[place]) - KD * data.qvel[dof]
