"""Hostile inputs are read, or refused in a sentence; a short run of ``make fuzz``."""

import pytest

from tests.fuzz.inputs import READERS
from tests.fuzz.run import finds


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_hostile_inputs_are_read_or_refused_in_a_sentence(reader, tmp_path):
    found = list(finds(reader, seed=1, count=30, out=tmp_path))
    assert not found, "\n\n".join(found)
