"""A short run of every reader over hostile inputs; ``make fuzz`` is the long one."""

import pytest

from tests.fuzz.run import inputs, names

SHORT = 150


@pytest.mark.parametrize("reader", names())
def test_hostile_inputs_are_read_or_refused_in_a_sentence(reader):
    finds = list(inputs(reader, seed=1, first=0, count=SHORT))
    assert not finds, "\n\n".join(f"{find.command}\n{find.what}" for find in finds)
