"""Import numba in a thread of its own, which ends before this module is there.

The import makes a hundred thousand calls. CPython lays the frames of a thread in chunks of 16 KiB, and maps and unmaps
a chunk at each call that crosses the end of the one before: from within a chain of other imports whose frames happen to
end there, 15,000 times, which takes a tenth of a second. A new thread begins with a chunk that is empty.
"""

import contextlib
import importlib
import threading


def _import() -> None:
    with contextlib.suppress(Exception):  # whoever imports it next is told
        importlib.import_module("numba")


_thread = threading.Thread(target=_import, name="import numba")
_thread.start()
_thread.join()
