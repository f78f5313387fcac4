"""Read what a real touch sensor would report: it saturates, is noisy, and samples slowly."""

from contact_viewer import open_engine

engine = open_engine("touch")
for _ in range(5):
    engine.step(200)
    sole, pad = engine.touch("sole").get_value(), engine.touch("pad").get_values()
    print(f"{engine.time:.2f} s: sole reports {sole:.0f}, pad {pad}")
