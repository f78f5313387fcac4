"""The ring of steps against a plain list that keeps everything."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from contact_viewer.session.ring import DEFAULT_BUDGET, STATE_SPACING, StepRing
from hypothesis import given, settings
from hypothesis import strategies as st

WIDTH, STATE_SIZE = 3, 5


@dataclass
class Ledger:
    """A counter instead of an engine: its state is its value, and every step adds the input that it was given."""

    history: StepRing
    values: list[float] = field(default_factory=list)
    """After each step, by its number."""
    inputs: list[float] = field(default_factory=list)
    """That led to each step, by its number."""
    value: float = 0.0

    def __post_init__(self) -> None:
        self.record = self.history.recorder(
            lambda: np.array([self.value, -self.value, 2 * self.value]).data.cast("B"), 2**62, int
        )

    def begin(self) -> None:
        self.history.clear()
        self.values, self.inputs, self.value = [], [], 0.0
        self._keep_state(0.0)
        self._write(1)

    def take(self, count: int, change: float) -> None:
        """A state with an input, and as many steps."""
        self._keep_state(change)
        self._write(count, change)

    def redo(self, step: int) -> float:
        """The value after a step, re-simulated from the state before it."""
        (value, change, *_), origin = self.history.origin(step)
        for _ in range(step - origin):
            value += change
        return float(value)

    def _keep_state(self, change: float) -> None:
        step = max(len(self.values) - 1, 0)
        self.history.add_state(0.25 * step, 0.25)[:] = self.value, change, 0, 0, 0

    def _write(self, count: int, change: float = 0.0) -> None:
        for _ in range(count):
            self.value += change
            self.values.append(self.value)
            self.inputs.append(change)
            self.record()


def ledger(capacity: int) -> Ledger:
    state_bytes = 8 * (STATE_SIZE + 3) + 1
    step_bytes = 8 * WIDTH + state_bytes / STATE_SPACING
    book = Ledger(StepRing(WIDTH, STATE_SIZE, int(capacity * step_bytes + 2 * state_bytes) + 1))
    assert book.history.capacity == capacity
    book.begin()
    return book


ACTIONS = st.one_of(
    st.tuples(st.just("take"), st.integers(1, 12), st.floats(-3, 3)),
    st.tuples(st.just("truncate"), st.floats(0, 1), st.just(0.0)),
    st.tuples(st.just("begin"), st.just(0), st.just(0.0)),
)


@settings(max_examples=300, deadline=None)
@given(capacity=st.integers(2, 40), actions=st.lists(ACTIONS, max_size=25))
def test_every_step_it_holds_is_the_one_that_was_taken(capacity: int, actions: list[tuple[str, float, float]]) -> None:
    book = ledger(capacity)
    history = book.history
    for action, amount, change in actions:
        if action == "take":
            book.take(int(amount), change)
        elif action == "begin":
            book.begin()
        else:
            step = history.first + round(amount * (history.last - history.first))
            history.truncate(step)
            del book.values[step + 1 :], book.inputs[step + 1 :]
            book.value = book.values[step]
        assert history.last == len(book.values) - 1
        assert 1 <= len(history) <= capacity
        steps = range(history.first, history.last + 1)
        np.testing.assert_array_equal(history.rows(steps.start, steps.stop)[:, 0], book.values[steps.start :])
        np.testing.assert_array_equal(history.times(np.array(steps)), 0.25 * np.array(steps))
        for step in steps:
            assert book.redo(step) == book.values[step]
            assert history.row(step)[1] == -book.values[step]
            assert history.time(step) == 0.25 * step
            assert history.step_at(0.25 * step + 0.1) == step


def test_the_newest_steps_are_the_ones_kept() -> None:
    book = ledger(64)
    for i in range(100):
        book.take(STATE_SPACING, float(i))
        # A full history loses at most the steps that lean on the state that was just overwritten.
        assert len(book.history) >= min(len(book.values), 64 - STATE_SPACING)
    assert book.history.last == 800


def test_steps_out_of_reach_are_refused() -> None:
    book = ledger(16)
    book.take(40, 1.0)
    history = book.history
    for step in (history.first - 1, history.last + 1, 0, -1):
        with pytest.raises(IndexError, match=f"step {step} is not in the history"):
            history.row(step)
        with pytest.raises(IndexError):
            history.origin(step)
        with pytest.raises(IndexError):
            history.time(step)
    assert history.step_at(-1e9) == history.first
    assert history.step_at(1e9) == history.last
    book.take(3, 1.0)
    assert history.step_at(1e9) == history.last


def test_a_forgotten_future_does_not_bring_back_the_overwritten_past() -> None:
    book = ledger(16)
    book.take(40, 1.0)
    first = book.history.first
    book.history.truncate(book.history.last - 3)
    assert book.history.first == first


@pytest.mark.parametrize(("width", "state_size", "extra"), [(115, 78, 0), (2300, 400, 360), (1, 13, 0), (20, 31000, 0)])
def test_the_budget_holds_all_of_it(width: int, state_size: int, extra: int) -> None:
    budget = 2**20
    history = StepRing(width, state_size, budget, extra)
    row = np.zeros(width)
    record = history.recorder(lambda: row.data.cast("B"), 2**62, int)
    for step in range(3 * history.capacity):
        if step % STATE_SPACING == 0:
            history.add_state(0.0, 1.0)[:] = step
        row[:] = step
        record()
        assert history.bytes <= budget
    arrays = [value for value in vars(history).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) + extra * history.capacity <= budget
    # And it is used: a full history is most of it.
    assert history.bytes > 0.7 * budget


def test_meanings_are_those_of_the_time() -> None:
    book = ledger(16)
    book.history.mark("none")
    assert book.history.meaning(1) == "none"
    book.take(5, 1.0)
    book.history.mark("netforce")
    book.take(3, 1.0)
    meanings = [book.history.meaning(step) for step in range(1, 9)]
    assert meanings == ["none"] * 5 + ["netforce"] * 3
    book.history.truncate(6)
    assert book.history.meaning(6) == "netforce"
    book.history.truncate(4)
    book.take(2, 1.0)
    assert book.history.meaning(6) == "none"
    for number in range(30):
        book.history.mark(number)
        first = book.history.first
        assert first < 7 or book.history.meaning(first) == first - 7
        book.take(1, 1.0)
    assert len(book.history.epochs) <= 16 + 1
    # Those of the steps that are left are all there.
    steps = range(book.history.first, book.history.last + 1)
    assert [book.history.meaning(step) for step in steps] == [step - 7 for step in steps]


def test_the_oldest_step_has_a_state_before_it() -> None:
    """With a state at every step the states run out first: a step whose own state is the oldest cannot be reached."""
    book = ledger(64)
    for _ in range(40):
        book.take(1, 1.0)
    ring = book.history
    # Ten states fit: those of steps 30 to 39, from which 31 to 40 can be re-simulated.
    assert (ring.first, ring.last) == (31, 40)
    for step in range(ring.first, ring.last + 1):
        assert ring.origin(step)[1] < step
        assert book.redo(step) == book.values[step]


class Listener:
    """What is derived from a ring, and only notes what it learns."""

    def __init__(self) -> None:
        self.stops: list[int] = []

    def truncate(self, stop: int) -> None:
        self.stops.append(stop)


def test_what_is_derived_learns_from_which_step_on_it_is_wrong() -> None:
    book, listener = ledger(16), Listener()
    book.history.derived.append(listener)
    book.take(10, 1.0)
    book.history.truncate(6)
    book.history.truncate(3)
    book.begin()
    assert listener.stops == [7, 4, 0]


def test_an_empty_ring_holds_nothing() -> None:
    ring = StepRing(WIDTH, STATE_SIZE)
    assert (ring.bytes, len(ring), ring.first, ring.last, ring.seconds) == (0, 0, 0, -1, 0.0)
    # However little memory there is, a step and the one before it fit.
    assert StepRing(WIDTH, STATE_SIZE, budget=0).capacity == 2


def test_memory_that_was_used_stays_in_use() -> None:
    book, twin = ledger(16), ledger(16)
    for each in (book, twin):
        each.take(10, 1.0)
    # Unasked before, as asking counts too.
    book.history.clear()
    assert book.history.bytes == twin.history.bytes > 0
    # What the documents promise.
    assert DEFAULT_BUDGET == 268_435_456


def test_rows_that_are_partly_out_of_reach_are_refused() -> None:
    book = ledger(16)
    book.take(40, 1.0)
    first, last = book.history.first, book.history.last
    assert len(book.history.rows(first, last + 1)) == len(book.history)
    for start, stop in ((first - 1, last + 1), (first, last + 2)):
        with pytest.raises(IndexError):
            book.history.rows(start, stop)
        with pytest.raises(IndexError):
            book.history.times(np.arange(start, stop))


def test_going_back_over_several_meanings_leaves_the_one_of_the_step() -> None:
    book = ledger(32)
    for meaning in "abcd":
        book.history.mark(meaning)
        book.take(4, 1.0)
    # Steps 1 to 4 are "a", 5 to 8 "b".
    book.history.truncate(6)
    assert [meaning for _, meaning in book.history.epochs] == ["a", "b"]
    book.take(2, 1.0)
    assert [book.history.meaning(step) for step in (4, 5, 8)] == ["a", "b", "b"]


def test_without_a_timestep_the_step_is_that_of_the_state() -> None:
    book = ledger(16)
    book.history.add_state(7.0, 0.0)
    book.take(0, 0.0)
    step = book.history.last
    book.history.add_state(7.0, 0.0)
    assert book.history.step_at(8.0) == step
    book.take(3, 1.0)
    book.history.add_state(9.0, 0.0)
    assert book.history.step_at(10.0) == book.history.last


@pytest.mark.parametrize("size", [0, 2])
def test_a_drive_is_called_once_a_step_and_a_state_is_kept_where_it_changes_more(size: int) -> None:
    ring, calls, states = StepRing(WIDTH, STATE_SIZE, input_size=size), [0], []
    inputs, other = np.zeros(size), np.zeros(1)

    def drive() -> None:
        calls[0] += 1
        inputs[:] = calls[0]
        if calls[0] == 3:
            other[0] = 1.0

    record = ring.recorder(lambda: np.zeros(WIDTH).data.cast("B"), 2**62, int)
    step = ring.input_recorder(drive, inputs, [other.data.cast("B")], lambda: states.append(calls[0]))
    ring.add_state(0.0, 1.0, driven=True)
    record()
    for _ in range(4):
        step()
        record()
    assert (calls, states) == ([4], [3])
    kept = ring.inputs_up_to(4)
    assert kept is not None
    np.testing.assert_array_equal(kept, np.repeat([[1.0], [2.0], [3.0], [4.0]], size, axis=1))


def test_times_of_many_steps_are_those_of_each() -> None:
    """Also where the timestep was changed on the way, and where the ring has forgotten the first states."""
    history = StepRing(WIDTH, STATE_SIZE, DEFAULT_BUDGET)
    wide, time = np.zeros(WIDTH).data.cast("B"), 10.0
    record, expected = history.recorder(lambda: wide, 2**62, int), [10.0]
    history.add_state(time, 0.5)
    record()
    for count, timestep in ((7, 0.5), (1, 0.25), (12, 0.125), (30, 2.0)):
        history.add_state(time, timestep)
        for _ in range(count):
            record()
            time += timestep
            expected.append(time)
    steps = np.arange(len(expected))
    assert [history.time(step) for step in steps.tolist()] == expected
    assert history.times(steps).tolist() == expected
    assert history.times(steps[3::5]).tolist() == expected[3::5]
    assert [history.step_at(time) for time in expected] == steps.tolist()
    assert history.times(steps[:0]).shape == (0,)


def test_going_back_to_the_very_first_step_keeps_its_state() -> None:
    book = ledger(40)
    for change in (2.0, 3.0, 5.0):
        book.take(2, change)
    book.history.truncate(0)
    assert (book.history.last, len(book.history)) == (0, 1)
    assert (book.history.origin(0)[1], book.redo(0), book.history.time(0)) == (0, 0.0, 0.0)
    # It goes on from there in another way.
    del book.values[1:], book.inputs[1:]
    book.value = 0.0
    book.take(4, 7.0)
    assert [book.redo(step) for step in range(5)] == [0.0, 7.0, 14.0, 21.0, 28.0]


def test_each_of_many_meanings_is_found() -> None:
    book = ledger(60)
    history = book.history
    for number in range(5):
        history.mark(f"meaning {number}")
        book.take(3, 1.0)
    assert [history.meaning(step) for step in range(1, 16)] == [f"meaning {i // 3}" for i in range(15)]
    assert [history.epoch(step)[0] for step in (1, 4, 15)] == [1, 4, 13]


def test_going_back_before_a_controller_began_there_is_none() -> None:
    book = ledger(60)
    for driven in (False, True, False, True):
        book.history.add_state(0.25 * book.history.last, 0.25, driven)
        book._write(3, 1.0)
    # Steps 1 to 3 have no inputs, 4 to 6 have some, 7 to 9 none, 10 to 12 some.
    for step, driven in ((11, True), (8, False), (5, True), (2, False)):
        book.history.truncate(step)
        assert book.history.newest_is_driven is driven


@pytest.mark.parametrize("count", [1, 7, 15])
def test_it_is_full_when_one_more_step_could_make_the_oldest_be_forgotten(count: int) -> None:
    """A state goes with every first of `count` steps: few steps with many states, or the other way round."""
    book = ledger(30)
    assert not book.history.full
    while not book.history.full:
        book.take(1, 1.0)
        assert book.history.first == 0, "forgotten before it was full"
        book._write(0 if book.history.full else min(count - 1, 29 - book.history.last), 1.0)
    # No earlier than that: of steps or of states there is room for one at most.
    for _ in range(2):
        book.take(1, 1.0)
    assert book.history.first > 0


def test_after_going_back_it_is_not_full_until_what_is_left_would_be_forgotten() -> None:
    book = ledger(64)
    for _ in range(30):
        book.take(1, 1.0)
    ring = book.history
    first = ring.first
    assert ring.full
    ring.truncate(first + 2)
    assert not ring.full
    while not ring.full:
        book.take(1, 1.0)
        assert ring.first == first
    for _ in range(3):
        book.take(1, 1.0)
    assert ring.first > first
