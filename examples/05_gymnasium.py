"""Gymnasium's Ant and Humanoid with their contacts: a window, films of episodes, and contact events in `info`.

Run it: python examples/05_gymnasium.py (a window), or with a folder to film two episodes of each there instead,
without a display. Needs contact-viewer[gymnasium].
"""

import sys

import gymnasium
from contact_viewer.gymnasium import ContactViewer

FOLDER = sys.argv[1] if len(sys.argv) > 1 else None
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 200


def main() -> None:
    for name in ("Ant-v5", "Humanoid-v5"):
        record = f"{FOLDER}/{name}-{{}}.mp4" if FOLDER else None
        env = ContactViewer(gymnasium.make(name), record=record, size=(640, 360), events=True)
        env.action_space.seed(0)
        for episode in range(2):
            env.reset(seed=episode)
            begun = {}
            for _ in range(STEPS):
                *_, terminated, truncated, info = env.step(env.action_space.sample())
                for event in info["contacts"]:
                    # Seen at the physics step in which it happened, not once a step of the environment.
                    if event["kind"] == "begin" and event["approach_speed"] is not None:
                        begun.setdefault(" x ".join(event["geoms"]), []).append(event["approach_speed"])
                if terminated or truncated:
                    break
            hardest = max(begun, key=lambda pair: max(begun[pair]), default="nothing")
            speed = f" at {max(begun[hardest]):.2f} m/s" if begun else ""
            print(f"{name}, episode {episode}: {sum(map(len, begun.values()))} contacts, hardest {hardest}{speed}")
        env.close()


if __name__ == "__main__":
    main()
