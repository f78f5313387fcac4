"""Layer of slip velocities, from micrometres to metres per second."""

import numpy as np

from ..contact_glyphs import Arrows, ContactArrow, DrawnContacts
from ..layer import Layer

_SLOWEST = 1e-6
"""Speed up to which an arrow has zero length [m/s]."""
_DECADE = 5.0
"""Length of an arrow for each factor of 10, in radii of a contact's sphere."""
_COLOR = (0.96, 0.35, 0.78, 1.0)


def _slip(contacts: DrawnContacts) -> Arrows | None:
    """Return arrows along the tangential velocity of object 2 relative to object 1, with logarithmic lengths."""
    batch = contacts.batch
    velocity, tangent0, tangent1, force = batch.linvel, batch.tangent0, batch.tangent1, batch.force
    if velocity is None or tangent0 is None or tangent1 is None or batch.in_world_frame or not batch.frame_known:
        return None
    vectors = velocity[:, 1:2] * tangent0 + velocity[:, 2:3] * tangent1
    speeds = np.sqrt((vectors * vectors).sum(axis=1))
    moves = (speeds > _SLOWEST) & (True if force is None else force[:, 0] > 0)
    decades = np.log10(np.where(moves, speeds, _SLOWEST) / _SLOWEST)
    axes = vectors / np.where(moves, speeds, 1.0)[:, None]
    lengths = np.where(moves, _DECADE * contacts.sizes.radius * decades, 0.0)
    return contacts.lifted, lengths[:, None] * axes


_ARROW = ContactArrow("slip_velocity", "slip, log: 1 mm/s is half of 1 m/s", lambda colors: _COLOR, _slip, False)
LAYERS = [
    Layer(
        "slip_velocity",
        "Slip velocity",
        "Velocity of the two surfaces relative to each other, sliding or creeping.\nThe scale is "
        "logarithmic: each factor of 10 above 1 um/s adds the same length",
        own_row=True,
        arrows=(_ARROW,),
    )
]
