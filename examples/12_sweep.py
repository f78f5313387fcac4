"""Run one scene with many seeds, and compare the peak forces of its sensors. Needs contact-viewer[parquet]."""

from contact_viewer import sweep


def main() -> None:
    table = sweep("quadruped", seeds=4, duration=0.5, vary=["mass=0.8:1.2"])
    print(table.to_pandas().groupby("sensor")["peak_force"].agg(["min", "max"]).round(1))


# Worker processes import this file again: only the first one starts the sweep.
if __name__ == "__main__":
    main()
