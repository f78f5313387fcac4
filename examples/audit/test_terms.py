"""Tests of the robot and of its reward terms against the truth. Run them: python -m pytest examples/audit"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from terms import FEET, FeetAirTime, feet_contact, feet_force

ROBOT = Path(__file__).parent / "robot.xml"


@pytest.fixture
def truth(contact_truth):
    return contact_truth(ROBOT)


def test_scene(contact_check):
    contact_check(ROBOT)


def test_contact(truth):
    truth.assert_contact(feet_contact, of=FEET)
    truth.assert_reads(feet_contact, "*.force.normal", of=FEET)


def test_force(truth):
    truth.assert_force(feet_force, of=FEET)


def test_air_time(truth):
    truth.assert_air_time(FeetAirTime, of=FEET, control_steps=5)


def test_no_knock(truth):
    truth.assert_never("self contact", "peak above 4000 N")
