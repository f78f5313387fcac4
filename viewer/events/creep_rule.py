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
"""Least displacement of creep of geoms of at least 1 cm [m]; of smaller geoms in proportion."""
LEAST_SPEED = 1e-5
"""Speed below which creep of such geoms ends [m/s]."""
STAYS = 5
"""Number of samples in a row without sliding that end a slip."""
DECIDE = 5
"""Number of samples from one decision to the next, and from one kept place of old ground to the next."""
_STEADY = 2.0
"""Shortest window in which less than `LEAST_DISTANCE` counts as creep, if it is steady [s]."""
_RETURNS = 3
"""Number of decisions between two checks for a return to old ground."""
_LATEST = 5
"""Number of samples at the end of a window that must continue in its direction."""
_PAST = 500
"""Number of samples before a window whose places are old ground."""
_EARLY = 0.15
"""Part of the displacement that must be reached after half of a window: a geom that was just pushed does not creep."""
_MOST_ASKED = 64
"""Number of pairs at decisions whose path is searched together."""
X, PATH, TURN, TILT, TRAVEL1, TRAVEL2, MOTION = slice(0, 4), 4, 5, slice(6, 9), 9, 10, 11
"""Columns of motion since a pair was first seen: displacement [m], with spin times lever as a fourth component; its
path [m]; turn about the normal and the tangents [rad]; path of the contact over both bodies [m]. The columns of
`PairSamples.values` follow."""
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
"""State of a pair: size as a part of 1 cm, at most 1; radius by which tilt is judged [m]; sample since which it has
neither been open nor slid; whether it slides, creeps; window, `start` and displacement [m] when its creep began."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclass
class Block:
    """Consecutive samples: the last of those that were decided on, then new ones."""

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
    """True if creep that began by such a window ends."""
    way: Values
    """Displacement in the window [m]."""
    is_slow: Mask
    """True if the pair has come to rest: (rows, pairs)."""


class CreepRule:
    """Rule by which geom pairs slide and creep.

    Contacts are sampled every 20 ms. Between two samples that both have a pair, the carried body moves against the
    carrying one (that which never moves, or has the larger geom) at the contact, whose place is the mean over the
    pair's contacts weighted by load: the tangential part of this, in the carrying body's frame, and the turn about the
    normal times the lever of the contacts, make up a displacement.

    Faster than 0.2 m/s nothing creeps: such a move, if friction is not used up, does not count.

    A pair is open where two samples in a row lack it.

    It **slides** where the larger part of its load is on contacts whose friction is used up and it moves at 2 mm/s or
    faster, in two of five samples, or in one by 1 mm or more; until that is so in none of five samples. A move does not
    count where the body rolls: the contact travels ten times as far over both bodies, which turn as far.

    It **creeps** where it neither is open nor slides, and within one of the windows of 0.5, 1, 2, 3 and 5 s, in none of
    which it was open or slid, its displacement

    - is 0.1 mm or more (less in proportion where the smaller geom is under 1 cm); or, in windows of 2 s and longer,
      10 um/s or more, with a share in each quarter of the window that is within a factor of two of an even one;
    - is at least 0.8 of its path;
    - went on in the same direction in the last 0.1 s, at half its mean speed or more, and was 0.15 of it or more after
      half of the window;
    - ends at half of that least displacement, or of its own, or farther from the way of the 10 s before the window:
      what sways or is shaken comes back;
    - is not that of rolling: the body tilted by more than the displacement over the smaller geom's radius (at most
      0.2 m), and the contact travelled more than five times the displacement over both bodies.

    It does until its speed over 0.25 s is below 10 um/s (in proportion as above), or its displacement in the window by
    which it began is less than half of its path, is that of rolling by three times as much tilt, or ends within a
    quarter of the least displacement from old ground. This is decided every 100 ms, the last of it every 0.3 s. Creep
    begins where the window does that showed it.

    Everything else that presses sticks, as far as pairs go: bodies without friction neither stick nor creep.
    """

    def __init__(self, interval: float) -> None:
        """`interval`: time between two samples [s]."""
        self.interval = interval
        self.recent, *windows = (max(2, round(time / max(interval, 1e-9))) for time in (RECENT, *WINDOWS))
        self.windows = np.array(windows)
        """Length of each window in samples."""
        self._ground = np.zeros((0, 0, 4))
        self._ground_samples = np.zeros(0, np.int64)

    def find_slides(self, block: Block, pairs: NDArray[np.void]) -> tuple[Mask, NDArray[np.int64]]:
        """Return True for pairs that slide in the new samples, and the sample since which each has neither slid nor
        been open, (new samples, pairs) each."""
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
        """Return the pairs that creep, or may creep at decisions in some rows, (k,), and True for the windows that they
        fill there, (windows, rows, k)."""
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
        """Return the displacement of some pairs in the last quarter of a second before rows [m], (rows, k)."""
        change = block.columns[rows, :, X] - block.columns[np.maximum(rows - self.recent, 0), :, X]
        return np.asarray(np.sqrt((change[:, some] ** 2).sum(axis=2)))

    def looks(self, block: Block, rows: Rows) -> Rows:
        """Return the decisions that check for a return to old ground: one in `_RETURNS`, because to search ten seconds
        takes longer than all other checks."""
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
        """Return True for pairs that are at a row within a distance `near` [m] of a place where they were before the
        window that ends at that row; all (k,). `starts`: see `find_slides`."""
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
