"""Finds the geom pairs that slide or creep, and the times, distances and speeds of their motion."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.pair_motion import LOAD, SLIDING, USED, MotionReader, PairSamples, moves_between
from ..mjmodel.types import MjData, MjModel
from ..sensors.friction import SLIDING_SPEED, ContactState
from .creep_rule import (
    DECIDE,
    INTERVAL,
    LEAST_DISTANCE,
    MOTION,
    PAIR,
    PATH,
    SLIDES,
    STAYS,
    TILT,
    TRAVEL1,
    TRAVEL2,
    TURN,
    Block,
    CreepRule,
    Mask,
    Rows,
    Values,
    X,
)

_FASTEST = 0.2
"""Speed above which nothing creeps [m/s]."""
_BLOCK_SAMPLES = 800
"""Number of buffered samples at which a decision on all of them is due."""
_BLOCK_BYTES = 2**24
"""Memory of buffered samples above which a decision on all of them is due [bytes]."""
_ROLLS = 10
"""Travel of the contact over both bodies, as a multiple of the slip, above which a pair rolls and does not slide."""
_TURNED = 1.0
"""Turn above which a pair that did not touch in between does not count as sliding [rad]."""
_PLAIN = 1e-3
"""Displacement between two samples that alone counts as a slip, if friction is used up [m]."""
_PIVOT = 0.05
"""Angular speed about the normal above which a pair pivots [rad/s]."""
_AHEAD = 32
"""Number of consecutive decisions for which old ground is searched together."""
_MOST_RECORDS = 400_000
"""Number of records of moving pairs that are kept for past steps."""


@dataclass(eq=False, slots=True)
class Motion:
    """Interval in which a geom pair slides or creeps."""

    state: ContactState
    """State of the pair, SLIDING or CREEPING."""
    key: int
    """Key of the pair: see `pair_key`."""
    begin: float
    """Time at which the motion begins [s]."""
    seen: float
    """Time at which the begin was certain [s]."""
    end: float = math.inf
    """Time at which the motion ends [s]; infinite while it lasts."""
    ended: float = math.inf
    """Time at which the end was certain [s]."""
    distance: float = 0.0
    """Distance so far [m]."""
    speed: float = 0.0
    """Largest speed so far [m/s]."""
    before: tuple[float, ...] = ()
    """Load [N], shear [N], friction use and number of contact points a quarter of a second before the motion begins;
    empty if the pair did not touch then."""
    at: tuple[float, ...] = ()
    """Load [N], shear [N], friction use and number of contact points when the motion begins."""


class Moving(NamedTuple):
    """Motion, in the last quarter of a second, of a pair that slides, creeps, rolls or pivots."""

    state: ContactState
    speed: float
    """Speed [m/s]."""
    use: float
    """Friction use, as a mean over the contacts."""
    roll: float
    """Angular speed about the tangents [rad/s]; 0 unless the pair rolls."""
    pivot: float
    """Angular speed about the normal [rad/s]; 0 unless the pair pivots."""


class _Lasting(NamedTuple):
    """Motion that has not ended."""

    motion: Motion
    column: int
    """Column of the pair in a block."""
    origin: Values
    """Displacement and path when the motion begins [m], (5,)."""


class FrictionStates:
    """Geom pairs that slide and creep, by `CreepRule`; many samples are decided on together."""

    def __init__(self, model: MjModel, timestep: float) -> None:
        """Begin without samples. `timestep`: length of a step [s]."""
        self._model = model
        self._reader = MotionReader(model)
        self.timestep = timestep
        self.motions: dict[int, list[Motion]] = {}
        """Motions of each pair by its key, oldest first."""
        self._radius = np.where(model.geom_rbound > 0, model.geom_rbound, np.inf)
        self._records: list[Values] = []
        """Tables of moving pairs, one per decision that has any: key and values of `Moving`, (k, 6)."""
        self._record_times: list[float] = []
        self._record_rows = 0
        self.restart()

    def restart(self) -> None:
        """Forget samples of motion: the next step does not continue the last one."""
        self._reader.clear()
        self._times: list[float] = []
        self._stride = max(1, round(INTERVAL / self.timestep)) if self.timestep > 0 else 1
        self._interval = self._stride * self.timestep
        self._rule = CreepRule(self._interval)
        self._skipped = 0
        self._now = -math.inf
        """Time of the last sample [s]."""
        self._block: Block | None = None
        self._lead = 0
        """Number of decided samples that are decoded again with new ones, because new moves start from them."""
        self._pairs = np.zeros(0, PAIR)
        self._columns: dict[int, int] = {}
        """Columns of the pairs in a block, by key."""
        self._lasting: dict[tuple[int, ContactState], _Lasting] = {}

    def resume(self, time: float) -> None:
        """Continue from a past instant that the simulation has returned to [s], and forget what came after it."""
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
        """Count a step; return True if the step is a sample, which `add` has to get."""
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
        """True if there are enough samples to decide on."""
        return len(self._times) >= _BLOCK_SAMPLES or self._reader.size > _BLOCK_BYTES

    def flush(self) -> list[Motion]:
        """Decide on the samples that were kept, and return the motions that began or ended in them."""
        if not self._times:
            return []
        times, self._times = np.array(self._times), []
        block = self._extend(times, self._reader.pop_samples(STAYS - 1))
        self._lead = min(STAYS - 1, self._lead + block.fresh_count)
        return self._decide(block) if len(self._pairs) else []

    def moving_at(self, time: float) -> dict[int, Moving]:
        """Return the pairs that did not just stick at a time [s], by key; none after the last decision."""
        place = bisect_right(self._record_times, time + 1e-9) - 1
        if place < 0 or time - self._record_times[place] > 2 * DECIDE * self._interval:
            return {}
        return {int(row[0]): Moving(ContactState(int(row[1])), *row[2:].tolist()) for row in self._records[place]}

    def state_at(self, key: int, time: float) -> Motion | None:
        """Return the motion of a pair at a time [s]; None if the pair is open, sticks, or is not known."""
        motions = self.motions.get(key, ())
        return next((each for each in reversed(motions) if each.begin <= time < each.end), None)

    def creeping_at(self, time: float) -> frozenset[int]:
        """Return the pairs that creep at a time [s], by key."""
        return frozenset(
            key
            for key in self.motions
            if (motion := self.state_at(key, time)) is not None and motion.state is ContactState.CREEPING
        )

    def _extend(self, times: Values, samples: PairSamples | None) -> Block:
        """Return a block of the last samples and new ones."""
        old, lead = self._block, self._lead
        if old is not None and len(old.times):
            gap = times[0] - old.times[-1]
            if not 0 < gap < 3.5 * self._interval:
                self._close(float(old.times[-1]))
                old, self._rule = None, CreepRule(self._interval)
                self._pairs, self._columns = np.zeros(0, PAIR), {}
                if samples is not None:
                    samples = samples.take(samples.sample >= lead)
        fresh = 0 if old is None else old.first + len(old.times)
        column = np.zeros(0, np.intp)
        if samples is not None:
            samples = samples._replace(sample=samples.sample + fresh - lead)
            # They are sorted by pair.
            starts = np.append(True, samples.key[1:] != samples.key[:-1])[: len(samples.key)]
            column = self._columns_of(samples.key[starts], fresh)[np.cumsum(starts) - 1]
        kept = 0 if old is None else min(len(old.times), int(self._rule.windows[-1]) + 1)
        columns = np.zeros((kept + len(times), len(self._pairs), SLIDES + 1))
        touching = np.zeros(columns.shape[:2], bool)
        if old is not None:
            known = old.columns.shape[1]
            columns[:kept, :known], touching[:kept, :known] = old.columns[-kept:], old.touching[-kept:]
            times = np.concatenate([old.times[-kept:], times])
        self._block = block = Block(fresh - kept, kept, times, columns, touching)
        if samples is not None:
            self._add_motion(block, samples, column)
        moved = columns[kept:, :, :MOTION]
        if kept:
            moved[0] += columns[kept - 1, :, :MOTION]
        np.cumsum(moved, axis=0, out=moved)
        return block

    def _columns_of(self, keys: NDArray[np.int64], fresh: int) -> Rows:
        """Return the columns of pairs, and add columns for new pairs."""
        new = np.array([key for key in keys.tolist() if key not in self._columns], np.int64)
        if len(new):
            added = np.zeros(len(new), PAIR)
            radius = np.minimum(self._radius[new // self._model.ngeom], self._radius[new % self._model.ngeom])
            added["key"], added["scale"] = new, np.minimum(radius / 0.01, 1.0)
            added["reach"], added["start"] = np.minimum(radius, 0.2), fresh
            self._columns.update(zip(new.tolist(), range(len(self._pairs), len(self._pairs) + len(new)), strict=True))
            self._pairs = np.concatenate([self._pairs, added])
        return np.array([self._columns[key] for key in keys.tolist()], np.intp)

    def _add_motion(self, block: Block, samples: PairSamples, column: Rows) -> None:
        """Enter the motion of pairs from sample to sample."""
        rows = samples.sample - block.first
        block.touching[rows, column] = True
        block.columns[rows, column, MOTION:SLIDES] = samples.values
        # Nearly all rows follow the one before: of all of them it takes less than to pick those first.
        before, after = samples.take(slice(None, -1)), samples.take(slice(1, None))
        gaps, rows, column = np.diff(samples.sample), rows[1:], column[1:]
        moves = moves_between(before, after)
        step = np.concatenate([moves.slip, (moves.spin * after.lever)[:, np.newaxis]], axis=1)
        path = np.sqrt((step**2).sum(axis=1))
        travel = np.sqrt(((after.places - before.places) ** 2).sum(axis=2))
        # A sliding geom may leave the list in between: pyramidal cones throw it up.
        slips = after.values[:, SLIDING] > 0.5 * after.values[:, LOAD]
        turned = np.sqrt((moves.tilt**2).sum(axis=1))
        rolls = (travel.min(axis=1) > _ROLLS * path) & (turned * self._pairs["reach"][column] > _ROLLS * path)
        slips &= (path > SLIDING_SPEED * self._interval * gaps) & ~rolls & ((gaps == 1) | (turned < _TURNED))
        # A pair that turns by half a turn or more between samples only seems to move: it rolls.
        wild = ~slips & ((path > _FASTEST * self._interval) | (gaps > 1))
        step[wild], path[wild], travel[gaps > 1] = 0.0, 0.0, 0.0
        moved = np.column_stack(
            [step, path, moves.spin, moves.tilt, travel, np.where(slips & (path > _PLAIN), 2.0, slips)]
        )
        follows = np.flatnonzero((samples.key[1:] == samples.key[:-1]) & (gaps < STAYS) & (rows >= block.fresh))
        rows, column, moved = rows[follows], column[follows], moved[follows]
        block.columns[rows, column, :MOTION], block.columns[rows, column, SLIDES] = moved[:, :-1], moved[:, -1]

    def _decide(self, block: Block) -> list[Motion]:
        """Find the slips and creep of the new samples; return the motions that begin or end."""
        slides, starts = self._rule.find_slides(block, self._pairs)
        changes = self._enter_slides(block, slides) if slides.any() or self._pairs["slides"].any() else []
        self._rule.keep_ground(block)
        numbers = block.first + np.arange(block.fresh, len(block.times))
        decided = np.flatnonzero(numbers % DECIDE == 0)
        if len(decided):
            changes += self._find_creep(block, decided + block.fresh, starts[decided], slides[decided])
        for lasting in self._lasting.values():
            self._advance(block, lasting, len(block.times) - 1)
        pairs = self._pairs
        pairs["slides"], pairs["start"] = slides[-1], starts[-1]
        self._drop_pairs(block)
        for key in {motion.key for motion in changes}:
            self.motions[key].sort(key=_begin_of)
        return changes

    def _enter_slides(self, block: Block, slides: Mask) -> list[Motion]:
        """Begin and end slips; return their motions."""
        changes: list[Motion] = []
        before = np.concatenate([self._pairs["slides"][np.newaxis], slides[:-1]])
        for row, column in np.argwhere(before != slides).tolist():
            place, key = row + block.fresh, int(self._pairs["key"][column])
            if slides[row, column]:
                first = max(place - STAYS + 1, 0)
                slid = first + int(np.flatnonzero(block.columns[first : place + 1, column, SLIDES])[0])
                touched = np.flatnonzero(block.touching[:slid, column])
                onset = int(touched[-1]) if len(touched) else max(slid - 1, 0)
                changes.append(self._begin(block, ContactState.SLIDING, column, onset, place))
            else:
                last = np.flatnonzero(block.columns[:place, column, SLIDES])
                end = int(last[-1]) if len(last) else place
                changes += self._finish(block, (key, ContactState.SLIDING), end, place)
        return changes

    def _find_creep(self, block: Block, rows: Rows, starts: NDArray[np.int64], slides: Mask) -> list[Motion]:
        """Begin and end creep, and record moving pairs, at decisions in some rows of a block."""
        creeping = np.zeros(slides.shape, bool)
        some, fills = self._rule.find_candidates(block, self._pairs, rows, starts)
        changes = self._judge(block, rows, starts, some, fills, creeping) if len(some) else []
        self._record(block, rows, slides, creeping)
        return changes

    def _judge(
        self, block: Block, rows: Rows, starts: NDArray[np.int64], some: Rows, fills: Mask, creeping: Mask
    ) -> list[Motion]:
        """Begin and end the creep of some pairs, (k,), by the rule; mark it in `creeping`, (rows, pairs)."""
        rule, pairs = self._rule, self._pairs[some]
        signs = rule.judge(block, self._pairs, rows, some, fills)
        begin, may_begin = signs.begins, np.asarray(signs.begins.any(axis=0))
        creeps, window, since, ways = pairs["creeps"], pairs["window"], pairs["since"], pairs["way"]
        place, least = np.arange(len(some)), LEAST_DISTANCE * pairs["scale"]
        begun, changes = starts[:, some], list[Motion]()
        looks, returns = rule.looks(block, rows), np.zeros(begun.shape, bool)
        asked = np.zeros(begin.shape, bool)

        def look(looks: Rows, which: Rows) -> None:
            # Find creeping pairs that have come back to old ground.
            if not len(looks) or not len(which):
                return
            at, of = np.repeat(looks, len(which)), np.tile(which, len(looks))
            near = 0.25 * np.minimum(least, ways)[of]
            returns[at, of] = rule.is_old_ground(block, rows[at], some[of], begun[at, of], window[of], near)

        look(looks, np.flatnonzero(creeps))
        done, changed = -1, True
        while changed:
            # Creep begins and ends seldom: in between all decisions are alike.
            disturbed = creeps & (begun > since)
            stops = disturbed | (creeps & (signs.spoils[window, :, place].T | returns))
            news = np.flatnonzero((stops | (may_begin & ~creeps)).any(axis=1))
            changed = False
            for j in news[news > done].tolist():
                row, stopped = int(rows[j]), stops[j]
                if not (stopped.any() or (begin[:, j] & ~creeps).any()):
                    continue
                for k in np.flatnonzero(stopped).tolist():
                    back = rule.recent if signs.is_slow[j, k] else DECIDE if disturbed[j, k] else 0
                    which = int(pairs["key"][k]), ContactState.CREEPING
                    changes += self._finish(block, which, max(row - back, 0), row)
                before = creeps & ~stopped
                now = before.copy()
                for w in np.flatnonzero(begin[:, j].any(axis=1)).tolist():
                    new = np.flatnonzero(begin[w, j] & ~now & ~stopped)
                    if not asked[w, j, new].all():
                        # A pair on old ground stays there for a while: search several decisions at once.
                        at, of = np.nonzero(begin[w, j : j + _AHEAD, new].T)
                        at, of = at + j, new[of]
                        near, span = 0.5 * np.minimum(least[of], signs.way[w, at, of]), np.full(len(at), w)
                        barred = rule.is_old_ground(block, rows[at], some[of], begun[at, of], span, near)
                        begin[w, at, of], asked[w, at, of] = ~barred, True
                        new = new[begin[w, j, new]]
                    for k in new.tolist():
                        onset = row - int(rule.windows[w])
                        changes.append(self._begin(block, ContactState.CREEPING, int(some[k]), onset, row))
                    now[new], window[new], since[new], ways[new] = True, w, begun[j, new], signs.way[w, j, new]
                changed = bool((now != creeps).any())
                if changed:
                    creeping[done + 1 : j, some] = creeps
                    creeping[j, some] = now
                    creeps[:], done = now, j
                    look(looks[looks > j], np.flatnonzero(now & ~before))
                    break
        creeping[done + 1 :, some] = creeps
        for name in ("creeps", "window", "since", "way"):
            self._pairs[name][some] = pairs[name]
        return changes

    def _begin(self, block: Block, state: ContactState, column: int, onset: int, row: int) -> Motion:
        """Begin a motion that starts at row `onset` of the block and is certain at `row`."""
        key, back = int(self._pairs["key"][column]), max(onset - self._rule.recent, 0)
        motion = Motion(state, key, float(block.times[onset]), float(block.times[row]))
        load, _, _, slid, _ = block.columns[onset, column, MOTION:SLIDES]
        motion.at = self._loads(
            block, onset if state is ContactState.SLIDING and slid > 0.5 * load else onset + 1, column
        )
        motion.before = self._loads(block, back, column) if block.touching[back : onset + 1, column].all() else ()
        lasting = _Lasting(motion, column, block.columns[onset, column, : PATH + 1].copy())
        self._lasting[key, state] = lasting
        earlier = self.motions.setdefault(key, [])
        motion.begin = max([motion.begin, *(each.end for each in earlier if each.ended <= motion.seen)])
        earlier.append(motion)
        self._advance(block, lasting, row)
        return motion

    def _loads(self, block: Block, row: int, column: int) -> tuple[float, ...]:
        """Return load, shear, friction use and number of points: means of three samples, or fewer if the load ends."""
        rows = block.columns[row : row + 3, column, MOTION:SLIDES].tolist()
        count = next((i for i, values in enumerate(rows) if not values[LOAD] > 0), len(rows))
        if not count:
            return ()
        load, shear, used, _, points = (sum(values) / count for values in zip(*rows[:count], strict=True))
        return load, shear, used / load, points

    def _finish(self, block: Block, which: tuple[int, ContactState], end: int, row: int) -> list[Motion]:
        """End a motion, if there is one, at row `end` of the block; the end is certain at `row`."""
        lasting = self._lasting.pop(which, None)
        if lasting is None:
            return []
        self._advance(block, lasting, end)
        motion = lasting.motion
        motion.end = max(float(block.times[end]), motion.begin)
        motion.ended = float(block.times[row])
        return [motion]

    def _advance(self, block: Block, lasting: _Lasting, row: int) -> None:
        """Continue a motion up to a row of the block."""
        motion, values = lasting.motion, block.columns[: row + 1, lasting.column]
        if motion.state is ContactState.CREEPING:
            motion.distance = float(np.sqrt(((values[-1, X] - lasting.origin[:4]) ** 2).sum()))
            recent = self._rule.recent
            first = max(int(np.searchsorted(block.times, motion.seen)), recent)
            ends = np.arange(first, row + 1, DECIDE)
            way = values[ends, X] - values[ends - recent, X]
            speed = np.sqrt((way**2).sum(axis=1)).max(initial=0.0) / (recent * self._interval)
            motion.speed = max(motion.speed, float(speed))
            return
        motion.distance = float(values[-1, PATH] - lasting.origin[4])
        first = int(np.searchsorted(block.times, motion.begin))
        # A pair that left the list in between has moved in more than one interval.
        rows = first + np.flatnonzero(block.touching[first : row + 1, lasting.column])
        steps = np.diff(values[rows, PATH]) / (np.diff(rows) * self._interval)
        motion.speed = max(motion.speed, float(steps.max(initial=0.0)))

    def _record(self, block: Block, rows: Rows, slides: Mask, creeping: Mask) -> None:
        """Record the motion of pairs that do not just stick, for past steps."""
        columns, length = block.columns, self._rule.recent
        change = columns[rows, :, :MOTION] - columns[np.maximum(rows - length, 0), :, :MOTION]
        time = length * self._interval
        distance = np.sqrt((change[:, :, X] ** 2).sum(axis=2))
        tilt = np.sqrt((change[:, :, TILT] ** 2).sum(axis=2))
        over = tilt * self._pairs["reach"]
        rolls = (over > SLIDING_SPEED * time) & (distance < 0.2 * over) & ~slides
        rolls &= (change[:, :, TRAVEL1] > 0.5 * over) & (change[:, :, TRAVEL2] > 0.5 * over)
        turn = np.abs(change[:, :, TURN])
        pivots = (turn > _PIVOT * time) & ~rolls
        here = block.touching[rows]
        found, which = np.nonzero((slides | creeping | rolls | pivots) & here)
        if not len(found):
            return
        loads = columns[rows[found], which, MOTION:]
        state = np.where(slides, ContactState.SLIDING, ContactState.STICKING)
        state[creeping] = ContactState.CREEPING
        values = [self._pairs["key"][which], state[found, which], distance[found, which] / time]
        values += [loads[:, USED] / loads[:, LOAD], (tilt * rolls)[found, which] / time]
        table = np.column_stack([*values, (turn * pivots)[found, which] / time])
        decisions, firsts = np.unique(found, return_index=True)
        self._records += [table[first:end] for first, end in pairwise([*firsts.tolist(), len(table)])]
        self._record_times += block.times[rows[decisions]].tolist()
        self._record_rows += len(table)
        while self._record_rows > _MOST_RECORDS:
            half = len(self._records) // 2
            self._record_rows -= sum(map(len, self._records[:half]))
            del self._records[:half], self._record_times[:half]

    def _drop_pairs(self, block: Block) -> None:
        """Forget pairs that have not touched for long, if there are many."""
        if len(self._pairs) > 32 and not (kept := np.asarray(block.touching.any(axis=0))).all() and kept.mean() < 0.75:
            places = np.cumsum(kept) - 1
            self._pairs = self._pairs[kept]
            self._columns = {key: i for i, key in enumerate(self._pairs["key"].tolist())}
            self._rule.keep_pairs(kept)
            block.columns, block.touching = block.columns[:, kept], block.touching[:, kept]
            self._lasting = {
                which: each._replace(column=int(places[each.column]))
                for which, each in self._lasting.items()
                if kept[each.column]
            }

    def _close(self, time: float) -> None:
        """End all motions: the next samples may not continue them."""
        for lasting in self._lasting.values():
            lasting.motion.end = lasting.motion.ended = time
        self._lasting.clear()


def _begin_of(motion: Motion) -> float:
    return motion.begin
