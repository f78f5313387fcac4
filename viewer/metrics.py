"""Quantities for rewards and reports from contacts over time: times, slip, peaks, impulses.

Pure functions of arrays of numpy, torch or JAX, for use inside a compiled step as well as on a whole recording. "Over
time" means that the first dimension is the step: (steps, ...), one physics step after the other. `timestep` is the time
from one step to the next [s]. The viewer's window uses the same definitions.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from .sensors.array_library import as_array_like, as_default_float, namespace, register_trees, root, tree
from .sensors.contacts import ContactBatch
from .sensors.friction import OPEN_FORCE, Cone, friction_use, is_sliding
from .sensors.friction import slip_speed as contact_slip_speed
from .settings import Reduce, member

ON, OFF = 1.0, 0.5
"""Force above which contact begins, and below which it ends [N]: the thresholds of the window."""


def force(batch: ContactBatch, reduce: str | None = None) -> Any:
    """Return the force on a sensor [N], (...): `ContactBatch.force_magnitude`. ValueError without the fields it needs.
    `reduce`: reduce mode; by default the sensor's own."""
    magnitude = batch.force_magnitude(_reduce_mode(batch, reduce))
    if magnitude is None:
        raise ValueError("the force on a sensor needs the field force, and with several slots normal and tangent")
    return magnitude


def in_contact(forces: Any, on: float = ON, off: float = OFF, min_steps: int = 0) -> Any:
    """Return when a sensor is in contact, by force with hysteresis.

    Contact begins in the step with a force above `on` and lasts until the last step before one below `off`. A NaN force
    changes nothing. In the first step there is contact if the force is above `on`.

    Args:
        forces: Force in every step [N], (steps, ...).
        on: Force above which contact begins [N].
        off: Force below which contact ends [N].
        min_steps: A change counts once it has held for this many further steps; shorter ones are ignored.

    Returns:
        Booleans, (steps, ...).

    Raises:
        ValueError: `off` is not above 0, or larger than `on`.
    """
    check_thresholds(on, off)
    above = forces > on
    raw = _held(above, above | (forces < off) | _first(above))
    if not min_steps:
        return raw
    return _held(raw, (_age(raw) > min_steps) | _first(raw))


def next_in_contact(before: Any, forces: Any, on: float = ON, off: float = OFF) -> Any:
    """Return whether a sensor is in contact after one more step: `in_contact` for a loop.

    Args:
        before: Contact in the step before, (...); begin with `forces > on`.
        forces: Force in this step [N], (...).
        on: Force above which contact begins [N].
        off: Force below which contact ends [N].

    Returns:
        Booleans, (...).

    Raises:
        ValueError: `off` is not above 0, or larger than `on`.
    """
    check_thresholds(on, off)
    return (forces > on) | (before & ~(forces < off))


def check_thresholds(on: float, off: float) -> None:
    """Raise ValueError if `off` and `on` [N] leave no hysteresis."""
    if not 0 < off <= on:
        raise ValueError("off must be above 0 N, or contact could never end, and no larger than on")


@tree()
@dataclass(frozen=True, eq=False)
class ContactTimes:
    """Contact time and air time of sensors, number of contacts, and share of time in contact.

    Steps are counted, not times added up, so that nothing drifts. Passes through jit, scan and compile.
    """

    in_contact: Any
    """True in contact, (...)."""
    first_contact: Any
    """True in the step in which contact begins, (...): touchdown. Never in the first step."""
    first_air: Any
    """True in the step in which contact ends, (...): lift-off. Never in the first step."""
    age: Any
    """Number of steps since the last change, counting the step of the change, (...)."""
    last_contact: Any
    """Number of steps of the last complete contact, (...); 0 if there was none."""
    last_air: Any
    """Number of steps of the last complete time in the air, (...); 0 if there was none."""
    contact_steps: Any
    """Number of steps in contact so far, (...)."""
    steps: Any
    """Number of steps so far, (...)."""
    contact_count: Any
    """Number of contacts so far, with the present one and one that existed at the start, (...)."""
    timestep: Any
    """Time from one step to the next [s], ()."""

    @property
    def contact_time(self) -> Any:
        """Time since contact began [s], (...); 0 in the air."""
        return self._seconds(namespace(self.age).where(self.in_contact, self.age, self.age * 0))

    @property
    def air_time(self) -> Any:
        """Time since contact was lost [s], (...); 0 in contact."""
        return self._seconds(namespace(self.age).where(self.in_contact, self.age * 0, self.age))

    @property
    def last_contact_time(self) -> Any:
        """Length of the last complete contact [s], (...); 0 if there was none."""
        return self._seconds(self.last_contact)

    @property
    def last_air_time(self) -> Any:
        """Length of the last complete time in the air [s], (...); 0 if there was none. Known from touchdown on."""
        return self._seconds(self.last_air)

    @property
    def duty_factor(self) -> Any:
        """Share of the time spent in contact, 0 to 1, (...); 0 before the first step."""
        xp, dtype = namespace(self.steps), self.timestep.dtype
        steps = xp.where(self.steps > 0, self.steps, xp.ones_like(self.steps))
        return xp.astype(self.contact_steps, dtype) / xp.astype(steps, dtype)

    def next(self, in_contact: Any) -> "ContactTimes":
        """Return the times after one more step, with contact or without, (...)."""
        xp, age = namespace(self.age), self.age
        landed, lifted = in_contact & ~self.in_contact, self.in_contact & ~in_contact
        return replace(
            self,
            in_contact=in_contact,
            first_contact=landed,
            first_air=lifted,
            age=xp.where(landed | lifted, age * 0 + 1, age + 1),
            last_contact=xp.where(lifted, age, self.last_contact),
            last_air=xp.where(landed, age, self.last_air),
            contact_steps=self.contact_steps + xp.astype(in_contact, age.dtype),
            steps=self.steps + 1,
            contact_count=self.contact_count + xp.astype(landed, age.dtype),
        )

    def held(self, steps: int) -> "ContactTimes":
        """Return the times after further steps without a change; with -1, those before the first step."""
        never = self.in_contact & ~self.in_contact
        counted = namespace(self.age).astype(self.in_contact, self.age.dtype) * steps
        return replace(
            self,
            first_contact=never,
            first_air=never,
            age=self.age + steps,
            contact_steps=self.contact_steps + counted,
            steps=self.steps + steps,
        )

    def restarted(self, where: Any) -> "ContactTimes":
        """Return the times with the environments restarted for which `where`, (...), is True: they are as after their
        first step."""
        xp, fresh = namespace(self.age), _first_times(self.in_contact, self.timestep, self.age.dtype)
        names = [field.name for field in fields(self) if field.name != "timestep"]
        return replace(self, **{name: xp.where(where, getattr(fresh, name), getattr(self, name)) for name in names})

    def _seconds(self, steps: Any) -> Any:
        return namespace(steps).astype(steps, self.timestep.dtype) * self.timestep


def start_times(in_contact: Any, timestep: float, like: Any = None) -> ContactTimes:
    """Return the times after the first step; call `next` for every further one.

    `in_contact`, (...). `like`: array, such as the forces, whose type the times get; None for the default type.
    """
    register_trees(in_contact)
    return _first_times(in_contact, _duration(timestep, in_contact, like), namespace(in_contact).int32)


def contact_times(in_contact: Any, timestep: float, like: Any = None) -> ContactTimes:
    """Return the times after every step, at once: what `start_times` and `next` give step by step.

    `in_contact`, (steps, ...). `like`: as for `start_times`.
    """
    register_trees(in_contact)
    xp = namespace(in_contact)
    before, now = in_contact[:-1, ...], in_contact[1:, ...]
    false = ~_first(in_contact)[:1, ...]
    landed = xp.concat([false, now & ~before], axis=0)
    lifted = xp.concat([false, before & ~now], axis=0)
    age, state = _age(in_contact), xp.astype(in_contact, xp.int32)
    # The age just before a change, held until the next change of the same kind.
    past = xp.concat([age[:1, ...] * 0, age[:-1, ...]], axis=0)
    return ContactTimes(
        in_contact=in_contact,
        first_contact=landed,
        first_air=lifted,
        age=age,
        last_contact=_held(past, lifted),
        last_air=_held(past, landed),
        contact_steps=xp.cumulative_sum(state, axis=0),
        steps=xp.cumulative_sum(xp.ones_like(state), axis=0),
        contact_count=xp.cumulative_sum(xp.astype(landed, xp.int32), axis=0) + state[:1, ...],
        timestep=_duration(timestep, in_contact, like),
    )


def _first_times(in_contact: Any, timestep: Any, dtype: Any) -> ContactTimes:
    xp = namespace(in_contact)
    state, never = xp.astype(in_contact, dtype), in_contact & ~in_contact
    one, none = xp.ones_like(state), xp.zeros_like(state)
    return ContactTimes(in_contact, never, never, one, none, none, state, one, state, timestep)


def sliding(batch: ContactBatch, friction: Any, cone: str = Cone.ELLIPTIC) -> Any:
    """Return whether each contact slides, (..., slots): on the edge of the friction cone, faster than soft contacts
    creep.

    `friction` coefficients along both tangents, broadcast to (..., slots, 2). Where velocities are not in the array,
    friction use decides alone. A contact whose friction is NaN, unknown, does not count as sliding. ValueError for
    netforce and without force.
    """
    if batch.force is None or batch.in_world_frame:
        raise ValueError("friction use needs the force of single contacts")
    use = friction_use(batch.force, friction, member(Cone, cone, "cone"))
    slides = is_sliding(batch.force[..., 0], use, contact_slip_speed(batch)) & batch.filled
    xp = namespace(batch.force)
    return slides & ~xp.any(xp.isnan(batch.force[..., 1:] * 0 + as_array_like(friction, batch.force)), axis=-1)


def slip_speed(batch: ContactBatch, where: Any = None) -> Any:
    """Return the largest tangential speed of a sensor's contacts [m/s], (...); NaN without contact.

    `where`, (..., slots): only these contacts, such as those of `sliding`; 0 if there are contacts but none of these.
    ValueError for netforce, and for an array without velocities.
    """
    if batch.in_world_frame:
        raise ValueError("slip speed needs single contacts, which a sensor with reduce netforce does not report")
    if batch.linvel is None:
        raise ValueError("slip speed needs velocities: add linvel to the sensor's data (MuJoCo has it since 3.16)")
    xp, speed = namespace(batch.found), contact_slip_speed(batch)
    counted = batch.filled if where is None else batch.filled & where
    largest = xp.max(xp.where(counted & ~xp.isnan(speed), speed, xp.zeros_like(speed)), axis=-1)
    known = xp.any(batch.filled & ~xp.isnan(speed), axis=-1)
    return xp.where(known, largest, xp.zeros_like(largest) + math.nan)


def slip_distance(speed: Any, timestep: float) -> Any:
    """Return the distance slipped so far [m], (steps, ...), from speeds [m/s]; NaN speeds, without contact, add
    nothing."""
    xp = namespace(speed)
    return xp.cumulative_sum(xp.where(xp.isnan(speed), xp.zeros_like(speed), speed), axis=0) * timestep


def creep_velocity(batch: ContactBatch, sliding: Any) -> Any:
    """Return the mean tangential velocity of the contacts that friction holds [m/s], world, (..., 3), weighted by load.

    `sliding`, (..., slots): contacts that do not count, as the function `sliding` returns them; 0 without others.
    A contact that sways has a velocity too, which cancels in the sum over time, `creep_distance`. ValueError for
    netforce, and without the fields.
    """
    if batch.in_world_frame or batch.linvel is None or batch.force is None or batch.normal is None:
        raise ValueError("creep needs the force, normal, tangent and linvel of single contacts")
    xp = namespace(batch.found)
    held = batch.filled & ~sliding & (batch.force[..., 0] > OPEN_FORCE)
    load = xp.where(held, batch.force[..., 0], xp.zeros_like(batch.force[..., 0]))
    along = xp.concat([xp.zeros_like(batch.linvel[..., :1]), batch.linvel[..., 1:]], axis=-1)
    velocity = batch.to_world(along)
    if velocity is None:
        raise ValueError("creep needs the force, normal, tangent and linvel of single contacts")
    total = xp.sum(load, axis=-1)[..., None]
    mean = xp.sum(xp.where(held[..., None], velocity, xp.zeros_like(velocity)) * load[..., None], axis=-2)
    return mean / xp.where(total > 0, total, xp.ones_like(total))


def creep_speed(batch: ContactBatch, sliding: Any) -> Any:
    """Return the norm of `creep_velocity` [m/s], (...)."""
    return _norm(creep_velocity(batch, sliding))


def creep_distance(velocity: Any, timestep: float) -> Any:
    """Return the displacement by creep so far [m], (steps, ...), from `creep_velocity`, (steps, ..., 3)."""
    return _norm(namespace(velocity).cumulative_sum(velocity, axis=0) * timestep)


def _norm(vectors: Any) -> Any:
    return root(namespace(vectors).sum(vectors * vectors, axis=-1))


def peak(forces: Any, where: Any = None) -> Any:
    """Return the largest force [N], (...), of forces (steps, ...); with `where`, (steps, ...), of these steps only.

    0 if there are none. NaN forces do not count.
    """
    xp = namespace(forces)
    counted = ~xp.isnan(forces) if where is None else where & ~xp.isnan(forces)
    return xp.max(xp.where(counted, forces, xp.zeros_like(forces)), axis=0)


def impulse(forces: Any, timestep: float) -> Any:
    """Return the sum of F dt [N s], (...), of forces (steps, ...): a vector from `net_force`, a number from `force`."""
    return namespace(forces).sum(forces, axis=0) * timestep


def dropped(batch: ContactBatch, reduce: str | None = None) -> Any:
    """Return the number of matching contacts without a slot, (...): found - filled slots; 0 for netforce, which sums
    all."""
    xp = namespace(batch.found)
    if _reduce_mode(batch, reduce) is Reduce.NETFORCE:
        return xp.zeros_like(batch.found)
    reported = xp.sum(xp.astype(batch.filled, batch.found.dtype), axis=-1)
    # Interpolated sensors have fractions.
    missing = xp.floor(batch.found + 0.5) - reported
    return xp.where(missing > 0, missing, xp.zeros_like(missing))


def _reduce_mode(batch: ContactBatch, reduce: str | None) -> Reduce:
    """Return the given reduce mode, or else the mode of the sensor that reported a batch."""
    if reduce is None:
        return batch.reduce or Reduce.NONE
    return member(Reduce, reduce, "reduce mode")


def _duration(timestep: Any, beside: Any, like: Any) -> Any:
    """Return a timestep as an array, (), of the type of `like`, or of the library's default type."""
    return as_array_like(timestep, like) if like is not None else as_default_float(timestep, beside)


def _first(states: Any) -> Any:
    """Return True for the first step only, (steps, ...)."""
    true = states | ~states
    return namespace(states).concat([true[:1, ...], ~true[1:, ...]], axis=0)


def _age(states: Any) -> Any:
    """Return the number of steps since a boolean last changed, counting the step of the change, (steps, ...)."""
    xp = namespace(states)
    counted = xp.cumulative_sum(xp.astype(states | ~states, xp.int32), axis=0)
    before, now = states[:-1, ...], states[1:, ...]
    changed = xp.concat([_first(states)[:1, ...], (now & ~before) | (before & ~now)], axis=0)
    return counted - _held(counted, changed) + 1


def _held(values: Any, known: Any) -> Any:
    """Return values over time, (steps, ...), each held from the last step in which it is known; 0 or False before."""
    xp, distance, steps = namespace(values), 1, values.shape[0]
    values = xp.where(known, values, xp.zeros_like(values))
    # Twice as far back each time, so that the number of rounds is the logarithm of the number of steps.
    while distance < steps:
        earlier = xp.concat([xp.zeros_like(values[:distance, ...]), values[:-distance, ...]], axis=0)
        values = xp.where(known, values, earlier)
        known = known | xp.concat([xp.zeros_like(known[:distance, ...]), known[:-distance, ...]], axis=0)
        distance *= 2
    return values
