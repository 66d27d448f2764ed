"""A short run of every reader over hostile inputs; ``make fuzz`` is the long one."""

import importlib

import pytest

from tests.fuzz import readers
from tests.fuzz.run import inputs, names

pytestmark = pytest.mark.slow

SHORT = 150  # inputs, where a reader names no other number


@pytest.mark.parametrize("reader", names())
def test_hostile_inputs_are_read_or_refused_in_a_sentence(reader):
    count = getattr(importlib.import_module(f"{readers.__name__}.{reader}"), "SHORT", SHORT)
    finds = list(inputs(reader, seed=1, first=0, count=count))
    assert not finds, "\n\n".join(f"{find.command}\n{find.what}" for find in finds)
