"""Decides by samples of their motion which geom pairs slide and creep."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.pair_motion import USED

INTERVAL = 0.02
"""Time between two samples of the contacts [s]; at least one step."""
WINDOWS = (0.5, 1.0, 2.0, 3.0, 5.0)
"""Times over which motion is judged [s]. In shorter windows, shaking at 1 Hz looks the same as creep."""
RECENT = 0.25
"""Time over which the present speed is measured [s]."""
LEAST_DISTANCE = 1e-4
"""Least displacement that counts as creep, for geoms of at least 1 cm [m]; less in proportion for smaller ones."""
LEAST_SPEED = 1e-5
"""Speed below which creep ends, for geoms of at least 1 cm [m/s]; less in proportion for smaller ones."""
STAYS = 5
"""Number of samples in a row without sliding that end a slip."""
DECIDE = 5
"""Number of samples between two decisions, and between two kept places of old ground (see `_PAST`)."""
_STEADY = 2.0
"""Shortest window in which less than `LEAST_DISTANCE` counts as creep, if it is steady [s]."""
_RETURNS = 3
"""Number of decisions between two checks for a return to old ground (see `_PAST`)."""
_LATEST = 5
"""Number of samples at the end of a window that must continue in its direction."""
_PAST = 500
"""Number of samples before a window; their places are old ground, to which geoms that sway return."""
_EARLY = 0.15
"""Part of the displacement that must be reached after half of a window: a geom that was just pushed does not creep."""
_MOST_ASKED = 64
"""Number of searches for old ground, one for a pair at a decision, that are done together."""
X, PATH, TURN, TILT, TRAVEL1, TRAVEL2, MOTION = slice(0, 4), 4, 5, slice(6, 9), 9, 10, 11
"""Columns of motion since a pair was first seen: displacement [m], with the turn about the normal times lever as a
fourth component; length of its path [m]; turn about the normal and the tangents [rad]; path of the contact over both
bodies [m]. The columns of `PairSamples.values` follow."""
SLIDES = MOTION + 5
"""Column that is 1 in samples in which a pair slides, and 2 in samples that alone are enough for a slip."""
PAIR = np.dtype(
    [
        ("key", np.int64),
        ("scale", float),
        ("reach", float),
        ("start", np.int64),
        ("slides", bool),
        ("creeps", bool),
        ("window", np.int64),
        ("since", np.int64),
        ("way", float),
    ]
)
"""State of a pair: key; size as a part of 1 cm, at most 1; radius by which tilt is judged [m]; sample since which it
touches without sliding; True if it slides; if it creeps; window, `start` and displacement [m] of the begin of creep."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclass
class Block:
    """Consecutive samples: the last ones of the decision before, then new ones."""

    first: int
    """Number of the first sample."""
    fresh: int
    """Index of the first new sample."""
    times: Values
    """Times of the samples [s], (samples,)."""
    columns: Values
    """Motion of the pairs, (samples, pairs, SLIDES + 1)."""
    touching: Mask
    """True where a pair touches, (samples, pairs)."""

    @property
    def fresh_count(self) -> int:
        """Number of new samples."""
        return len(self.times) - self.fresh


class Signs(NamedTuple):
    """Signs for and against creep in each window that ends at a decision: (windows, rows, pairs)."""

    begins: Mask
    """True if the pair has crept through the window."""
    spoils: Mask
    """True if the pair's creep ends, provided that a window of this length showed it."""
    way: Values
    """Displacement in the window [m]."""
    is_slow: Mask
    """True if the pair has come to rest: (rows, pairs)."""


class CreepRule:
    """Rule by which geom pairs slide and creep.

    Contacts are sampled every 20 ms. The carrying body of a pair is the body that never moves, or has the larger geom;
    the place of contact is the mean position of the pair's contacts, weighted by load. Between two samples that both
    have the pair, its displacement is the tangential motion of the other body at this place, in the carrying body's
    frame, together with its turn about the normal times the lever of the contacts.

    Nothing creeps faster than 0.2 m/s: a faster move does not count, unless friction is used up.

    A pair is open where two samples in a row lack it.

    It **slides** if the larger part of its load is on contacts whose friction is used up, and it moves at 2 mm/s or
    faster in two of five samples, or by 1 mm or more in one. The slip ends when this is so in none of five samples. A
    move does not count if the body rolls: the contact travels ten times as far over both bodies, which turn as far.

    It **creeps** if it touches without sliding throughout a window of 0.5, 1, 2, 3 or 5 s, and the displacement in this
    window

    - is 0.1 mm or more (less in proportion where the smaller geom is under 1 cm); or, in windows of 2 s and longer,
      10 um/s or more, if each quarter of the window has between 1/8 and 1/2 of the displacement;
    - is at least 0.8 of the length of its path;
    - continued in the same direction in the last 0.1 s, at half its mean speed or more, and had reached 0.15 of its
      length after half of the window;
    - ends at a distance from all places of the 10 s before the window (old ground): half of the least displacement, or
      half of its own length if that is less. Geoms that sway or are shaken come back to these places;
    - is not that of rolling: the body tilted by more than the displacement over the smaller geom's radius (at most
      0.2 m), and the contact travelled more than five times the displacement over both bodies.

    Creep ends when the speed over 0.25 s is below 10 um/s (in proportion as above), or when the displacement in a
    window of the length that showed the creep is less than half of its path, is that of rolling with three times as
    much tilt, or ends within a quarter of the least displacement from old ground. All this is decided every 100 ms, old
    ground every 0.3 s. Creep begins at the start of the window that showed it.

    Every other pair that presses sticks. Bodies without friction neither stick nor creep.
    """

    def __init__(self, interval: float) -> None:
        """Set the lengths of the windows. `interval`: time between two samples [s]."""
        self.interval = interval
        self.recent, *windows = (max(2, round(time / max(interval, 1e-9))) for time in (RECENT, *WINDOWS))
        self.windows = np.array(windows)
        """Length of each window in samples."""
        self._ground = np.zeros((0, 0, 4))
        self._ground_samples = np.zeros(0, np.int64)

    def find_slides(self, block: Block, pairs: NDArray[np.void]) -> tuple[Mask, NDArray[np.int64]]:
        """Return True for pairs that slide in the new samples, and the sample since which each touches without sliding,
        (new samples, pairs) each."""
        fresh = block.fresh
        count = block.fresh_count
        lead = np.zeros((max(0, STAYS - 1 - fresh), len(pairs)), bool)
        column = block.columns[max(0, fresh - STAYS + 1) :, :, SLIDES]
        slid = np.concatenate([lead, column > 0])
        now = slid[STAYS - 1 :]
        before = np.zeros_like(now)
        for back in range(1, STAYS):
            before |= slid[STAYS - 1 - back : len(slid) - back]
        order = np.arange(1, count + 1)[:, np.newaxis]
        slides = np.zeros_like(now)
        if slid.any() or pairs["slides"].any():
            begins = (now & before) | (column[len(column) - count :] > 1)
            on = np.maximum.accumulate(np.where(begins, order, pairs["slides"] - 1), axis=0)
            slides = on > np.maximum.accumulate(np.where(~(now | before), order, -1), axis=0)
        touching = block.touching[max(fresh - 1, 0) :]
        if not fresh:
            touching = np.concatenate([np.zeros((1, len(pairs)), bool), touching])
        is_open = ~(touching[1:] | touching[:-1])
        starts = np.where(is_open | slides, order + (block.first + fresh), pairs["start"])
        return slides, np.maximum.accumulate(starts, axis=0)

    def find_candidates(
        self, block: Block, pairs: NDArray[np.void], rows: Rows, starts: NDArray[np.int64]
    ) -> tuple[Rows, Mask]:
        """Return the indices of pairs that creep, or may creep at decisions in some rows, (k,), and True for the
        windows in all of which they touch without sliding, (windows, rows, k)."""
        if (
            not pairs["creeps"].any()
            and block.first + rows[-1] - starts.min(initial=block.first + int(rows[-1])) < self.windows[0]
        ):
            return np.zeros(0, np.intp), np.zeros((len(self.windows), len(rows), 0), bool)
        first = np.maximum(rows - self.windows[:, np.newaxis], 0)
        known = (block.first + rows - self.windows[:, np.newaxis])[:, :, np.newaxis]
        fills = (starts <= known) & (known >= block.first)
        change = block.columns[rows, :, X] - block.columns[first, :, X]
        square = np.einsum("wrpi,wrpi->wrp", change, change)
        least = np.minimum(LEAST_DISTANCE, LEAST_SPEED * self.interval * self.windows)
        far = square >= (least[:, np.newaxis] * pairs["scale"])[:, np.newaxis] ** 2
        some = np.flatnonzero((far & fills).any(axis=(0, 1)) | pairs["creeps"])
        return some, fills[:, :, some]

    def judge(self, block: Block, pairs: NDArray[np.void], rows: Rows, some: Rows, fills: Mask) -> Signs:
        """Return the signs for and against the creep of some pairs, (k,), at decisions: see the rule."""
        moved = block.columns[:, some, :MOTION]
        lengths, scale, reach = self.windows[:, np.newaxis, np.newaxis], pairs["scale"][some], pairs["reach"][some]
        start = np.maximum(rows - self.windows[:, np.newaxis], 0)
        here, then = moved[rows], moved[start]
        change = here - then
        whole = change[..., X]
        square = np.einsum("wrki,wrki->wrk", whole, whole)
        way = np.sqrt(square)
        newest = here[..., X] - moved[np.maximum(rows - _LATEST, 0), :, X]
        goes_on = np.einsum("rki,wrki->wrk", newest, whole) >= 0.5 * np.minimum(_LATEST / lengths, 1.0) * square
        # Displacement at each quarter of the window, along that of the whole window.
        quarters = start + (np.arange(1, 4)[:, np.newaxis, np.newaxis] * self.windows[:, np.newaxis]) // 4
        along = np.einsum("qwrki,wrki->qwrk", moved[np.minimum(quarters, rows), :, X] - then[..., X], whole)
        goes_on &= along[1] >= _EARLY * square
        shares = np.diff(np.concatenate([np.zeros_like(along[:1]), along, square[np.newaxis]]), axis=0)
        steady = ((shares >= square / 8) & (shares <= square / 2)).all(axis=0)
        steady &= way >= LEAST_SPEED * scale * self.interval * lengths
        steady &= lengths * self.interval > _STEADY - 0.5 * self.interval
        over = np.sqrt(np.einsum("wrki,wrki->wrk", change[..., TILT], change[..., TILT])) * reach
        travels = np.minimum(change[..., TRAVEL1], change[..., TRAVEL2]) > 5 * way
        path = change[..., PATH]
        used = block.columns[rows][:, some, MOTION + USED] > 0
        begins = fills & used & goes_on & ((way >= LEAST_DISTANCE * scale) | steady) & (way >= 0.8 * path)
        slow = self.recent_way(block, rows, some) < LEAST_SPEED * scale * self.recent * self.interval
        spoils = (way < 0.5 * path) | (travels & (over > 3 * way)) | slow
        return Signs(begins & ~(travels & (over > way)), spoils, way, slow)

    def recent_way(self, block: Block, rows: Rows, some: Rows | slice = slice(None)) -> Values:
        """Return the displacement of some pairs in the quarter of a second before each row [m], (rows, k)."""
        change = block.columns[rows, :, X] - block.columns[np.maximum(rows - self.recent, 0), :, X]
        return np.asarray(np.sqrt((change[:, some] ** 2).sum(axis=2)))

    def looks(self, block: Block, rows: Rows) -> Rows:
        """Return the indices of decisions that check for a return to old ground: one in `_RETURNS`, because a search
        through ten seconds takes longer than all other checks."""
        return np.flatnonzero((block.first + rows) % (_RETURNS * DECIDE) == 0)

    def keep_ground(self, block: Block) -> None:
        """Keep places of the new samples, to find pairs that return to them."""
        numbers = block.first + np.arange(block.fresh, len(block.times))
        kept = np.flatnonzero(numbers % DECIDE == 0)
        if len(kept):
            missing = block.columns.shape[1] - self._ground.shape[1]
            ground = np.pad(self._ground, ((0, 0), (0, missing), (0, 0))) if missing else self._ground
            places = np.concatenate([ground, block.columns[block.fresh + kept][:, :, X]])
            samples = np.concatenate([self._ground_samples, numbers[kept]])
            # All places of this block are needed for its decisions.
            surplus = max(0, len(places) - (_PAST + int(self.windows[-1])) // DECIDE - 2 - len(kept))
            self._ground, self._ground_samples = places[surplus:], samples[surplus:]

    def keep_pairs(self, kept: Mask) -> None:
        """Forget the places of all pairs but those in `kept`."""
        self._ground = self._ground[:, kept[: self._ground.shape[1]]]

    def is_old_ground(
        self, block: Block, rows: Rows, columns: Rows, starts: NDArray[np.int64], windows: Rows, near: Values
    ) -> Mask:
        """Return True for pairs that are, each at its row, within a distance `near` [m] of a place where they were
        before the window that ends at that row; all (k,). `starts`: see `find_slides`."""
        found, lengths = np.zeros(len(rows), bool), self.windows[windows]
        for first in range(0, len(rows), _MOST_ASKED):
            part = slice(first, first + _MOST_ASKED)
            ends, here = block.first + rows[part] - lengths[part], block.columns[rows[part], columns[part], X]
            start = block.columns[rows[part] - lengths[part], columns[part], X]
            since = np.maximum(ends - _PAST, starts[part])
            low, high = np.searchsorted(self._ground_samples, [since.min(), ends.max() + 1]).tolist()
            then, ground = self._ground_samples[low:high, np.newaxis], self._ground[low:high, columns[part]]
            # A pair that was never as far in this direction is not near old ground.
            along = np.einsum("jk,ijk->ij", here - start, ground)
            along[(then < since) | (then > ends)] = -math.inf
            way = here - start
            least = (way * here).sum(axis=1) - near[part] * np.sqrt((way**2).sum(axis=1))
            maybe = np.flatnonzero((along > least).any(axis=0))
            if not len(maybe):
                continue
            # The path before the window: straight lines between places, the last one up to the window's start.
            here, ground, ends, since = here[maybe], ground[:, maybe], ends[maybe], since[maybe]
            after = np.where((then[1:] <= ends)[:, :, np.newaxis], ground[1:], start[maybe])
            line, away = after - ground[:-1], here - ground[:-1]
            square = (line**2).sum(axis=2)
            along = np.clip((line * away).sum(axis=2) / np.where(square > 0, square, 1.0), 0.0, 1.0)
            gap = ((away - along[:, :, np.newaxis] * line) ** 2).sum(axis=2)
            known = (then[:-1] < ends) & (then[:-1] >= since)
            found[first + maybe] = (known & (gap < near[part][maybe] ** 2)).any(axis=0)
        return found
