"""Hostile inputs for every reader: each must read them or refuse them in a sentence.

``make fuzz`` tries thousands a reader, the test suite a few. A reader is one module of `tests.fuzz.readers`, found by
being there, with

* ``generate(rng, folder)``: writes one input, drawn from ``rng`` (`random.Random`) alone, into the empty ``folder``;
* ``read(folder)``: reads it as a user's command would. A return and a `FwsvmError` are both an answer; any other
  exception is a find;
* ``SECONDS`` and ``MEMORY_MIB``, optional: what one input may take at most;
* ``SHORT``, optional: how many inputs the test suite tries.
"""
