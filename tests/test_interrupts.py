"""Interrupts wait until what must not be done by halves is done."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from fwsvm.files.lock import SIGNALS, held_back


@pytest.fixture(autouse=True)
def as_the_command_has_them() -> Iterator[None]:
    """Let both signals be Ctrl-C, whatever a library has made of them in this process."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_end_of_the_block(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with held_back():
            with held_back():
                os.kill(os.getpid(), number)
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    assert signal.getsignal(number) is signal.default_int_handler


def test_other_threads_have_no_signals_to_hold_back() -> None:
    entered = []

    def work() -> None:
        with held_back():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]
