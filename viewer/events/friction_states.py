"""Decides which geom pairs slide and which creep, by how their surfaces have moved."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.pair_motion import LOAD, SLIDING, USED, MotionReader, PairSamples, moves_between
from ..mjmodel.types import MjData, MjModel
from ..sensors.friction import SLIDING_SPEED, ContactState

INTERVAL = 0.01
"""Time between two samples of the contacts [s]; at least one step."""
WINDOWS = (0.5, 1.0, 2.0, 3.0, 5.0)
"""Times over which motion is judged [s]. In less, what is shaken at 1 Hz looks the same."""
RECENT = 0.25
"""Time over which the present speed is measured [s]."""
LEAST_DISTANCE = 1e-4
"""Displacement from which on something creeps that is at least 1 cm large [m]; smaller things in proportion."""
LEAST_SPEED = 1e-5
"""Speed below which it does not any more, likewise [m/s]."""
_FASTEST = 0.2
"""Speed above which nothing creeps [m/s]."""
_DECIDE, _COARSE = 10, 10
"""Samples from one decision to the next, and from one place on old ground to the next."""
_RETURNS = 3
"""Decisions from one look at whether what creeps has come back to old ground to the next."""
_LATEST = 10
"""Samples at the end of a window that must go on in its direction."""
_PAST = 1000
"""Samples before a window whose places are old ground."""
_STAYS = 5
"""Samples in a row without sliding that end it."""
_BLOCK_SAMPLES = 800
"""Samples that are kept before they are decided on together ..."""
_BLOCK_BYTES = 2**24
"""... and memory that they may take."""
_EARLY = 0.15
"""Part of the displacement that must be there after half of a window: what has just been pushed does not creep."""
_PIVOT = 0.05
"""Angular speed about the normal from which on a pair pivots [rad/s]."""
_AHEAD = 16
"""Decisions in a row for which it is searched together whether a pair is on old ground."""
_MOST_ASKED = 64
"""Pairs at decisions whose way is searched together."""
_MOST_RECORDS = 400_000
"""Moving pairs in past decisions that are kept to be looked at again."""
_X, _PATH, _TURN, _TILT, _TRAVEL1, _TRAVEL2, _MOTION = slice(0, 4), 4, 5, slice(6, 9), 9, 10, 11
"""Columns of motion since a pair was first seen: displacement [m], with spin times lever as a fourth component; its
path [m]; turn about the normal and the tangents [rad]; path of the contact over both bodies [m]. After them come those
of `PairSamples.values`."""
_SLIDES = _MOTION + 5
"""Column that is 1 in samples in which a pair slides."""
_PAIR = np.dtype(
    [
        ("key", np.int64),
        ("scale", float),
        ("reach", float),
        ("start", np.int64),
        ("slides", bool),
        ("creeps", bool),
        ("window", np.int64),
        ("since", np.int64),
    ]
)
"""A pair: how much smaller than 1 cm it is; the radius by which tilt is judged [m]; sample from which on it has neither
been open nor slid; its state; the window by which it creeps, and
`start` when it began to."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(eq=False, slots=True)
class Motion:
    """A time in which a geom pair slides or creeps."""

    state: ContactState
    """SLIDING or CREEPING."""
    key: int
    """The pair: see `pair_key`."""
    begin: float
    """When it began [s]."""
    seen: float
    """When that was certain [s]."""
    end: float = math.inf
    """When it ended [s]; infinite while it lasts."""
    ended: float = math.inf
    """When that was certain [s]."""
    distance: float = 0.0
    """Way so far [m]."""
    speed: float = 0.0
    """Largest speed so far [m/s]."""
    before: tuple[float, ...] = ()
    """Load [N], shear [N], friction use and number of points a quarter of a second before it began ..."""
    at: tuple[float, ...] = ()
    """... and when it began. `before` is empty where the pair did not touch then."""


class Moving(NamedTuple):
    """How a pair that does not just stick moved in the last quarter of a second."""

    state: ContactState
    speed: float
    """[m/s]"""
    use: float
    """Friction use, the mean over the contacts."""
    roll: float
    """Angular speed about the tangents [rad/s]; 0 where it does not roll."""
    pivot: float
    """Angular speed about the normal [rad/s]."""


class _Lasting(NamedTuple):
    """A motion that has not ended."""

    motion: Motion
    column: int
    """Place of the pair."""
    origin: Values
    """Displacement and path where it began [m], (5,)."""


@dataclass
class _Block:
    """Samples in a row, the last of those that were decided on and new ones."""

    first: int
    """Number of the first sample."""
    fresh: int
    """Place of the first new one."""
    times: Values
    """(samples,) [s]."""
    columns: Values
    """(samples, pairs, _SLIDES + 1)."""
    touching: Mask
    """(samples, pairs)."""


class FrictionStates:
    """Which geom pairs slide and creep.

    The rule. Contacts are sampled every 10 ms. Between two samples that both have a pair, the carried body moves
    against the carrying one (that which never moves, or has the larger geom) at the contact, whose place is the mean
    over the pair's contacts weighted by load: the tangential part of this, in the carrying body's frame, and the turn
    about the normal times the lever of the contacts, make up a displacement.

    Faster than 0.2 m/s nothing creeps: such a move, if
    friction is not used up, does not count.

    A pair is open where two samples in a row lack it.

    It **slides** where the larger part of its load is on contacts whose friction is used up and it moves at 2 mm/s or
    faster, in two of five samples; until that is so in none of five samples.

    It **creeps** where it neither is open nor slides, and within one of the windows of 0.5, 1, 2, 3 and 5 s, in
    none of which it was open or slid, its displacement

    - is 0.1 mm or more (less in proportion where the smaller geom is under 1 cm), and at least 0.8 of its path;
    - went on in the same direction in the last 0.1 s, at half its mean speed or more, and was 0.15 of it or more after
      half of the window;
    - ends at half of that least displacement or farther from the way of the 10 s before the window: what sways or is
      shaken comes back;
    - is not that of rolling: the body tilted by more than the displacement over the smaller geom's radius (at most
      0.2 m), and the contact travelled more than five times the displacement over both bodies.

    It does until its speed over 0.25 s is below 10 um/s (in proportion as above), or its displacement in the window by
    which it began is less than half of its path, is that of rolling by three times as much tilt, or ends within a
    quarter of the least displacement from old ground. This is decided every 100 ms, the last of it every 0.3 s. Creep
    begins where the window does that showed it.

    Everything else that presses sticks, as far as pairs go: bodies without friction neither stick nor creep.
    """

    def __init__(self, model: MjModel, timestep: float) -> None:
        """`timestep` from one step that is added to the next [s]."""
        self._model = model
        self._reader = MotionReader(model)
        self.timestep = timestep
        self.motions: dict[int, list[Motion]] = {}
        """Times in which pairs moved, by key, oldest first."""
        self._radius = np.where(model.geom_rbound > 0, model.geom_rbound, np.inf)
        self._records: list[Values] = []
        """Of each decision with moving pairs: key and values of `Moving`, (k, 6)."""
        self._record_times: list[float] = []
        self._record_rows = 0
        self.restart()

    def restart(self) -> None:
        """Forget what was seen of motion: the next step does not continue the last one."""
        self._reader.clear()
        self._times: list[float] = []
        self._stride = max(1, round(INTERVAL / self.timestep)) if self.timestep > 0 else 1
        self._interval = self._stride * self.timestep
        self._recent, *self._windows = (max(2, round(time / max(self._interval, 1e-9))) for time in (RECENT, *WINDOWS))
        self._skipped = 0
        self._now = -math.inf
        """Time of the last sample [s]."""
        self._block: _Block | None = None
        self._last: PairSamples | None = None
        self._pairs = np.zeros(0, _PAIR)
        self._ground = np.zeros((0, 0, 4))
        self._ground_samples = np.zeros(0, np.int64)
        self._lasting: dict[tuple[int, ContactState], _Lasting] = {}

    def resume(self, time: float) -> None:
        """Continue from an instant that was returned to [s]: what came after it is forgotten."""
        self.flush()
        self.restart()
        for key, motions in self.motions.items():
            self.motions[key] = [motion for motion in motions if motion.begin < time]
            for motion in self.motions[key]:
                motion.end, motion.ended = min(motion.end, time), min(motion.ended, time)
        kept = bisect_right(self._record_times, time)
        del self._records[kept:], self._record_times[kept:]
        self._record_rows = sum(map(len, self._records))

    def change_timestep(self, timestep: float) -> None:
        """Continue with steps of another length [s]."""
        self.flush()
        self._close(self._now)
        self.timestep = timestep
        self.restart()

    def is_due(self) -> bool:
        """Count a step; True if it is one to `add`."""
        self._skipped += 1
        return self._skipped >= self._stride

    def add(self, data: MjData, start: float) -> None:
        """Keep a step that began at a time [s], to be decided on later."""
        self._skipped, self._now = 0, start
        self._reader.add(data)
        self._times.append(start)

    @property
    def pending(self) -> int:
        """Number of samples that are not decided on yet."""
        return len(self._times)

    @property
    def full(self) -> bool:
        """True if it is time to decide on what was kept."""
        return len(self._times) >= _BLOCK_SAMPLES or self._reader.size > _BLOCK_BYTES

    def flush(self) -> list[Motion]:
        """Decide on the samples that were kept: the motions that began or ended in them."""
        if not self._times:
            return []
        times, self._times = np.array(self._times), []
        block = self._extend(times, self._reader.take())
        return self._decide(block) if len(self._pairs) else []

    def moving_at(self, time: float) -> dict[int, Moving]:
        """Return the pairs that did not just stick at a time [s], by key, as far as it was decided."""
        place = bisect_right(self._record_times, time + 1e-9) - 1
        if place < 0 or time - self._record_times[place] > 2 * _DECIDE * self._interval:
            return {}
        return {int(row[0]): Moving(ContactState(int(row[1])), *row[2:].tolist()) for row in self._records[place]}

    def state_at(self, key: int, time: float) -> Motion | None:
        """Return the motion of a pair at a time [s]; None if it is open, sticks, or is not known."""
        motions = self.motions.get(key, ())
        return next((each for each in reversed(motions) if each.begin <= time < each.end), None)

    def creeping_at(self, time: float) -> frozenset[int]:
        """Return the pairs that creep at a time [s], by key."""
        return frozenset(
            key
            for key in self.motions
            if (motion := self.state_at(key, time)) is not None and motion.state is ContactState.CREEPING
        )

    def _extend(self, times: Values, samples: PairSamples | None) -> _Block:
        """Return the last samples with new ones after them."""
        old = self._block
        most = self._windows[-1] + 1
        if old is not None and len(old.times):
            gap = times[0] - old.times[-1]
            if not 0 < gap < 3.5 * self._interval:
                self._close(float(old.times[-1]))
                old = self._last = None
                self._pairs, self._ground = np.zeros(0, _PAIR), np.zeros((0, 0, 4))
                self._ground_samples = np.zeros(0, np.int64)
        fresh = 0 if old is None else old.first + len(old.times)
        if samples is not None:
            samples = samples._replace(sample=samples.sample + fresh)
            # They are sorted by pair.
            self._add_pairs(samples.key[np.append(True, np.diff(samples.key) > 0)], fresh)
        kept = 0 if old is None else min(len(old.times), most)
        columns = np.zeros((kept + len(times), len(self._pairs), _SLIDES + 1))
        touching = np.zeros(columns.shape[:2], bool)
        if old is not None:
            known = old.columns.shape[1]
            columns[:kept, :known], touching[:kept, :known] = old.columns[-kept:], old.touching[-kept:]
            times = np.concatenate([old.times[-kept:], times])
        self._block = block = _Block(fresh - kept, kept, times, columns, touching)
        if samples is not None:
            self._add_motion(block, samples)
        moved = columns[kept:, :, :_MOTION]
        if kept:
            moved[0] += columns[kept - 1, :, :_MOTION]
        np.cumsum(moved, axis=0, out=moved)
        return block

    def _add_pairs(self, keys: NDArray[np.int64], fresh: int) -> None:
        """Make room for pairs that were not seen before."""
        new = np.setdiff1d(keys, self._pairs["key"])
        if not len(new):
            return
        added = np.zeros(len(new), _PAIR)
        radius = np.minimum(self._radius[new // self._model.ngeom], self._radius[new % self._model.ngeom])
        added["key"], added["scale"] = new, np.minimum(radius / 0.01, 1.0)
        added["reach"], added["start"] = np.minimum(radius, 0.2), fresh
        self._pairs = np.concatenate([self._pairs, added])
        if self._ground.shape[1] < len(self._pairs):
            missing = len(self._pairs) - self._ground.shape[1]
            self._ground = np.pad(self._ground, ((0, 0), (0, missing), (0, 0)))

    def _add_motion(self, block: _Block, samples: PairSamples) -> None:
        """Enter how pairs moved from sample to sample."""
        order = np.argsort(self._pairs["key"])
        column = order[np.searchsorted(self._pairs["key"], samples.key, sorter=order)]
        block.touching[samples.sample - block.first, column] = True
        block.columns[samples.sample - block.first, column, _MOTION:_SLIDES] = samples.values
        if self._last is not None:
            samples = self._last.joined(samples)
            column = order[np.searchsorted(self._pairs["key"], samples.key, sorter=order)]
        gaps = np.diff(samples.sample)
        follows = np.flatnonzero((samples.key[1:] == samples.key[:-1]) & (gaps < _STAYS))
        last = np.append(samples.key[1:] != samples.key[:-1], True)
        self._last = samples.take(np.flatnonzero(last & (samples.sample > block.first + len(block.times) - _STAYS)))
        before, after, column = samples.take(follows), samples.take(follows + 1), column[follows + 1]
        moves, rows = moves_between(before, after), after.sample - block.first
        step = np.concatenate([moves.slip, (moves.spin * after.lever)[:, np.newaxis]], axis=1)
        path = np.sqrt((step**2).sum(axis=1))
        travel = np.sqrt(((after.places - before.places) ** 2).sum(axis=2))
        # What slides may leave the list in between: pyramids throw it up.
        slips = after.values[:, SLIDING] > 0.5 * after.values[:, LOAD]
        slips &= path > SLIDING_SPEED * self._interval * gaps[follows]
        # What turns by half a turn or more from sample to sample seems to move, and rolls.
        wild = ~slips & ((path > _FASTEST * self._interval) | (gaps[follows] > 1))
        step[wild], path[wild], travel[gaps[follows] > 1] = 0.0, 0.0, 0.0
        block.columns[rows, column, :_MOTION] = np.column_stack([step, path, moves.spin, moves.tilt, travel])
        block.columns[rows, column, _SLIDES] = slips

    def _decide(self, block: _Block) -> list[Motion]:
        """Find what slides and creeps in the new samples."""
        count = len(block.times) - block.fresh
        slides, starts = self._find_slides(block)
        changes = self._enter_slides(block, slides)
        numbers = block.first + np.arange(block.fresh, len(block.times))
        self._keep_ground(block, numbers)
        decided = np.flatnonzero(numbers % _DECIDE == 0)
        if len(decided):
            changes += self._find_creep(block, decided + block.fresh, starts[decided], slides[decided])
        for lasting in self._lasting.values():
            self._advance(block, lasting, len(block.times) - 1)
        pairs = self._pairs
        pairs["slides"], pairs["start"] = slides[count - 1], starts[count - 1]
        self._drop_pairs(block)
        for key in {motion.key for motion in changes}:
            self.motions[key].sort(key=_begin_of)
        return changes

    def _find_slides(self, block: _Block) -> tuple[Mask, NDArray[np.int64]]:
        """Return which pairs slide in the new samples, and since which sample they have neither slid nor been open,
        (new samples, pairs) each."""
        fresh, pairs = block.fresh, self._pairs
        count = len(block.times) - fresh
        lead = np.zeros((max(0, _STAYS - 1 - fresh), len(pairs)), bool)
        first = max(0, fresh - _STAYS + 1)
        slid = np.concatenate([lead, block.columns[first:, :, _SLIDES] > 0])
        touching = np.concatenate([np.zeros((1, len(pairs)), bool), block.touching])[fresh:]
        is_open = ~touching[1:] & ~touching[:-1]
        now = slid[_STAYS - 1 :]
        before = np.zeros_like(now)
        for back in range(1, _STAYS):
            before |= slid[_STAYS - 1 - back : len(slid) - back]
        order = np.arange(1, count + 1)[:, np.newaxis]
        on = np.maximum.accumulate(np.where(now & before, order, pairs["slides"] - 1), axis=0)
        off = np.maximum.accumulate(np.where(~(now | before), order, -1), axis=0)
        slides = on > off
        numbers = order + (block.first + fresh)
        return slides, np.maximum.accumulate(np.where(is_open | slides, numbers, pairs["start"]), axis=0)

    def _enter_slides(self, block: _Block, slides: Mask) -> list[Motion]:
        """Begin and end slips."""
        changes: list[Motion] = []
        before = np.concatenate([self._pairs["slides"][np.newaxis], slides[:-1]])
        for row, column in np.argwhere(before != slides).tolist():
            place, key = row + block.fresh, int(self._pairs["key"][column])
            if slides[row, column]:
                first = max(place - _STAYS + 1, 0)
                onset = first + int(np.flatnonzero(block.columns[first : place + 1, column, _SLIDES])[0]) - 1
                changes.append(self._begin(block, ContactState.SLIDING, column, max(onset, 0), place))
            else:
                last = np.flatnonzero(block.columns[:place, column, _SLIDES])
                end = int(last[-1]) if len(last) else place
                changes += self._finish(block, (key, ContactState.SLIDING), end, place)
        return changes

    def _find_creep(
        self, block: _Block, rows: NDArray[np.intp], starts: NDArray[np.int64], slides: Mask
    ) -> list[Motion]:
        """Begin and end creep, and record what moves, at decisions in some rows of a block."""
        columns, pairs = block.columns, self._pairs
        distances = [self._moved(columns, rows, length, _X) for length in self._windows]
        recent = self._moved(columns, rows, self._recent, _X)
        least = LEAST_DISTANCE * pairs["scale"]
        known = [
            (rows - length >= 0)[:, np.newaxis] & (starts <= (block.first + rows - length)[:, np.newaxis])
            for length in self._windows
        ]
        far = [(distance >= least) & fits for distance, fits in zip(distances, known, strict=True)]
        some = np.flatnonzero(np.logical_or.reduce(far).any(axis=0) | pairs["creeps"])
        creeping = np.zeros(slides.shape, bool)
        changes = self._judge(block, rows, starts, some, recent, distances, far, creeping) if len(some) else []
        self._record(block, rows, slides, creeping, recent)
        return changes

    def _moved(self, columns: Values, rows: NDArray[np.intp], length: int, part: slice) -> Values:
        """Norms of the change of some columns over a window before rows, (rows, pairs)."""
        change = columns[rows, :, part] - columns[np.maximum(rows - length, 0), :, part]
        return np.asarray(np.sqrt((change**2).sum(axis=2)))

    def _judge(
        self,
        block: _Block,
        rows: NDArray[np.intp],
        starts: NDArray[np.int64],
        some: NDArray[np.intp],
        recent: Values,
        distances: list[Values],
        far: list[Mask],
        creeping: Mask,
    ) -> list[Motion]:
        """Begin and end the creep of some pairs, (k,): see the rule. Enter in `creeping`, (rows, pairs), which do."""
        columns, pairs = block.columns[:, some], self._pairs[some]
        begins, bends, rolls = [], [], []
        used = columns[rows, :, _MOTION + USED] > 0
        newest = columns[rows, :, _X] - columns[np.maximum(rows - _LATEST, 0), :, _X]
        for length, distance, fits in zip(self._windows, distances, far, strict=True):
            start, way = np.maximum(rows - length, 0), distance[:, some]
            change = columns[rows] - columns[start]
            goes_on = (newest * change[:, :, _X]).sum(axis=2) >= 0.5 * min(_LATEST / length, 1.0) * way**2
            early = columns[np.maximum(rows - length // 2, 0), :, _X] - columns[start, :, _X]
            goes_on &= (early * change[:, :, _X]).sum(axis=2) >= _EARLY * way**2
            over = np.sqrt((change[:, :, _TILT] ** 2).sum(axis=2)) * pairs["reach"]
            travels = (change[:, :, _TRAVEL1] > 5 * way) & (change[:, :, _TRAVEL2] > 5 * way)
            rolling = travels & (over > way)
            rolls.append(travels & (over > 3 * way))
            bends.append(way < 0.5 * change[:, :, _PATH])
            begins.append(fits[:, some] & used & goes_on & ~rolling & (way >= 0.8 * change[:, :, _PATH]))
        slow = recent[:, some] < LEAST_SPEED * pairs["scale"] * self._recent * self._interval
        begin, bend, roll = np.array(begins), np.array(bends), np.array(rolls)
        may_begin, spoils = np.asarray(begin.any(axis=0)), bend | roll | slow
        creeps, window, since = pairs["creeps"], pairs["window"], pairs["since"]
        lengths, place = np.array(self._windows), np.arange(len(some))
        begun, changes = starts[:, some], list[Motion]()
        # To search the way of ten seconds takes longer than all the rest: for an end, three times a second will do.
        looks = np.flatnonzero((block.first + rows) % (_RETURNS * _DECIDE) == 0)
        returns = np.zeros(begun.shape, bool)
        at, of = (each.ravel() for each in np.meshgrid(looks, np.flatnonzero(creeps), indexing="ij"))
        returns[at, of] = self._is_old_ground(block, rows[at], some[of], begun[at, of], lengths[window[of]], 0.25)
        asked, barred = np.zeros((2, *begin.shape), bool)
        done, changed = -1, True
        while changed:
            # What creeps changes seldom: in between all decisions are alike.
            disturbed = creeps & (begun > since)
            stops = disturbed | (creeps & (spoils[window, :, place].T | returns))
            news = np.flatnonzero((stops | (may_begin & ~creeps)).any(axis=1))
            changed = False
            for j in news[news > done].tolist():
                row, stopped = int(rows[j]), stops[j]
                for k in np.flatnonzero(stopped).tolist():
                    back = self._recent if slow[j, k] else _DECIDE if disturbed[j, k] else 0
                    which = int(pairs["key"][k]), ContactState.CREEPING
                    changes += self._finish(block, which, max(row - back, 0), row)
                before = creeps & ~stopped
                now = before.copy()
                for w, length in enumerate(self._windows):
                    new = np.flatnonzero(begin[w, j] & ~now & ~stopped)
                    if not len(new):
                        continue
                    if not asked[w, j, new].all():
                        # What is barred stays so for a while: several decisions at once.
                        at, of = np.nonzero(begin[w, j : j + _AHEAD, new].T)
                        at, of = at + j, new[of]
                        span = np.full(len(at), length)
                        barred[w, at, of] = self._is_old_ground(block, rows[at], some[of], begun[at, of], span, 0.5)
                        asked[w, at, of] = True
                    new = new[~barred[w, j, new]]
                    for k in new.tolist():
                        changes.append(self._begin(block, ContactState.CREEPING, int(some[k]), row - length, row))
                    now[new], window[new], since[new] = True, w, begun[j, new]
                changed = bool((now != creeps).any())
                if changed:
                    creeping[done + 1 : j, some] = creeps
                    creeping[j, some] = now
                    creeps[:], done = now, j
                    later, fresh = looks[looks > j], np.flatnonzero(now & ~before)
                    at, of = (each.ravel() for each in np.meshgrid(later, fresh, indexing="ij"))
                    lasts = lengths[window[of]]
                    returns[at, of] = self._is_old_ground(block, rows[at], some[of], begun[at, of], lasts, 0.25)
                    break
        creeping[done + 1 :, some] = creeps
        for name in ("creeps", "window", "since"):
            self._pairs[name][some] = pairs[name]
        return changes

    def _keep_ground(self, block: _Block, numbers: NDArray[np.int64]) -> None:
        """Keep places of the new samples, to know what comes back to them."""
        kept = np.flatnonzero(numbers % _COARSE == 0)
        if len(kept):
            most = (_PAST + self._windows[-1]) // _COARSE + 2
            places = np.concatenate([self._ground, block.columns[block.fresh + kept][:, :, _X]])
            self._ground_samples = np.concatenate([self._ground_samples, numbers[kept]])
            self._ground = places
            # All of this block's are needed for its decisions.
            surplus = max(0, len(places) - most - len(kept))
            self._ground, self._ground_samples = places[surplus:], self._ground_samples[surplus:]

    def _is_old_ground(
        self,
        block: _Block,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        starts: NDArray[np.int64],
        lengths: NDArray[np.intp],
        share: float,
    ) -> Mask:
        """Return which of some pairs, (k,), are at a row, (k,), near a place where they were before the window of a
        length that ends there, (k,) or (1,): by a share of `LEAST_DISTANCE`. `starts`: see `_find_slides`."""
        found, lengths = np.zeros(len(rows), bool), np.broadcast_to(lengths, rows.shape)
        near = share * LEAST_DISTANCE * self._pairs["scale"][columns]
        for first in range(0, len(rows), _MOST_ASKED):
            part = slice(first, first + _MOST_ASKED)
            ends, here = block.first + rows[part] - lengths[part], block.columns[rows[part], columns[part], _X]
            start = block.columns[rows[part] - lengths[part], columns[part], _X]
            since = np.maximum(ends - _PAST, starts[part])
            low, high = np.searchsorted(self._ground_samples, [since.min(), ends.max() + 1]).tolist()
            then, ground = self._ground_samples[low:high, np.newaxis], self._ground[low:high, columns[part]]
            # What has never been as far in this direction is nowhere near.
            along = np.einsum("jk,ijk->ij", here - start, ground)
            along[(then < since) | (then > ends)] = -math.inf
            way = here - start
            least = (way * here).sum(axis=1) - near[part] * np.sqrt((way**2).sum(axis=1))
            maybe = np.flatnonzero((along > least).any(axis=0))
            if not len(maybe):
                continue
            # The way up to the window: straight lines between places, the last one up to its start.
            here, ground, ends, since = here[maybe], ground[:, maybe], ends[maybe], since[maybe]
            after = np.where((then[1:] <= ends)[:, :, np.newaxis], ground[1:], start[maybe])
            line, away = after - ground[:-1], here - ground[:-1]
            square = (line**2).sum(axis=2)
            along = np.clip((line * away).sum(axis=2) / np.where(square > 0, square, 1.0), 0.0, 1.0)
            gap = ((away - along[:, :, np.newaxis] * line) ** 2).sum(axis=2)
            known = (then[:-1] < ends) & (then[:-1] >= since)
            found[first + maybe] = (known & (gap < near[part][maybe] ** 2)).any(axis=0)
        return found

    def _begin(self, block: _Block, state: ContactState, column: int, onset: int, row: int) -> Motion:
        """Begin a motion that set in at a row of the block and is certain at another one."""
        key, back = int(self._pairs["key"][column]), max(onset - self._recent, 0)
        motion = Motion(state, key, float(block.times[onset]), float(block.times[row]))
        motion.at = self._loads(block, onset + 1, column)
        motion.before = self._loads(block, back, column) if block.touching[back : onset + 1, column].all() else ()
        lasting = _Lasting(motion, column, block.columns[onset, column, : _PATH + 1].copy())
        self._lasting[key, state] = lasting
        earlier = self.motions.setdefault(key, [])
        motion.begin = max([motion.begin, *(each.end for each in earlier if each.ended <= motion.seen)])
        earlier.append(motion)
        self._advance(block, lasting, row)
        return motion

    def _loads(self, block: _Block, row: int, column: int) -> tuple[float, ...]:
        """Return load, shear, friction use and points, the mean of three samples."""
        rows = block.columns[row : row + 3, column, _MOTION:_SLIDES]
        rows = rows[rows[:, LOAD] > 0]
        if not len(rows):
            return ()
        load, shear, used, _, points = rows.mean(axis=0).tolist()
        return load, shear, used / load, points

    def _finish(self, block: _Block, which: tuple[int, ContactState], end: int, row: int) -> list[Motion]:
        """End a motion, if there is one, at a row of the block; it is certain at another one."""
        lasting = self._lasting.pop(which, None)
        if lasting is None:
            return []
        self._advance(block, lasting, end)
        motion = lasting.motion
        motion.end = max(float(block.times[end]), motion.begin)
        motion.ended = float(block.times[row])
        return [motion]

    def _advance(self, block: _Block, lasting: _Lasting, row: int) -> None:
        """Let a motion go on to a row of the block."""
        motion, values = lasting.motion, block.columns[: row + 1, lasting.column]
        if motion.state is ContactState.CREEPING:
            motion.distance = float(np.sqrt(((values[-1, _X] - lasting.origin[:4]) ** 2).sum()))
            first = max(int(np.searchsorted(block.times, motion.seen)), self._recent)
            ends = np.arange(first, row + 1, _DECIDE)
            way = values[ends, _X] - values[ends - self._recent, _X]
            speed = np.sqrt((way**2).sum(axis=1)).max(initial=0.0) / (self._recent * self._interval)
            motion.speed = max(motion.speed, float(speed))
            return
        motion.distance = float(values[-1, _PATH] - lasting.origin[4])
        first = int(np.searchsorted(block.times, motion.begin))
        steps = np.diff(values[first:, _PATH]) / self._interval
        motion.speed = max(motion.speed, float(steps.max(initial=0.0)))

    def _record(self, block: _Block, rows: NDArray[np.intp], slides: Mask, creeping: Mask, distance: Values) -> None:
        """Keep how pairs that do not just stick moved, to be looked at again."""
        columns, length = block.columns, self._recent
        change = columns[rows, :, :_MOTION] - columns[np.maximum(rows - length, 0), :, :_MOTION]
        time = length * self._interval
        tilt = np.sqrt((change[:, :, _TILT] ** 2).sum(axis=2))
        over = tilt * self._pairs["reach"]
        rolls = (over > SLIDING_SPEED * time) & (distance < 0.2 * over) & ~slides
        rolls &= (change[:, :, _TRAVEL1] > 0.5 * over) & (change[:, :, _TRAVEL2] > 0.5 * over)
        turn = np.abs(change[:, :, _TURN])
        pivots = (turn > _PIVOT * time) & ~rolls
        here = block.touching[rows]
        found, which = np.nonzero((slides | creeping | rolls | pivots) & here)
        if not len(found):
            return
        loads = columns[rows[found], which, _MOTION:]
        state = np.where(slides, ContactState.SLIDING, ContactState.STICKING)
        state[creeping] = ContactState.CREEPING
        values = [self._pairs["key"][which], state[found, which], distance[found, which] / time]
        values += [loads[:, USED] / loads[:, LOAD], (tilt * rolls)[found, which] / time]
        table = np.column_stack([*values, (turn * pivots)[found, which] / time])
        decisions, firsts = np.unique(found, return_index=True)
        self._records += np.split(table, firsts[1:])
        self._record_times += block.times[rows[decisions]].tolist()
        self._record_rows += len(table)
        while self._record_rows > _MOST_RECORDS:
            half = len(self._records) // 2
            self._record_rows -= sum(map(len, self._records[:half]))
            del self._records[:half], self._record_times[:half]

    def _drop_pairs(self, block: _Block) -> None:
        """Forget pairs that have not touched for long, where they are many."""
        if len(self._pairs) > 32 and not (kept := np.asarray(block.touching.any(axis=0))).all() and kept.mean() < 0.75:
            places = np.cumsum(kept) - 1
            self._pairs, self._ground = self._pairs[kept], self._ground[:, kept]
            block.columns, block.touching = block.columns[:, kept], block.touching[:, kept]
            self._lasting = {
                which: each._replace(column=int(places[each.column]))
                for which, each in self._lasting.items()
                if kept[each.column]
            }

    def _close(self, time: float) -> None:
        """End all motions: what follows is not known to continue them."""
        for lasting in self._lasting.values():
            lasting.motion.end = lasting.motion.ended = time
        self._lasting.clear()


def _begin_of(motion: Motion) -> float:
    return motion.begin
