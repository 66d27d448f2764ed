"""What a folder of machine code says it is for, and the sentence where that does not fit."""

import json
import platform
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from fwsvm.errors import CodeWarning, DataError
from fwsvm.files.folders import FACTS
from fwsvm.numerics import carried_code, processor
from fwsvm.numerics.carried_code import facts_for, read_facts, write_facts
from fwsvm.numerics.processor import level_target, native_target

X86 = pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="levels are x86-64's")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path))
    return tmp_path


def write(root: Path, **changed: object) -> None:
    """Write facts of code for this machine with these changed."""
    write_facts(root / "numba", facts_for(native_target(), "0.5.0"))
    file = root / "numba" / FACTS
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))


def said(root: Path) -> str:
    """Return the warning of a process that finds the folder; the folder is then not looked in."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = carried_code.code_places.__wrapped__()
    assert root / "numba" not in found.read
    assert found.write != root / "numba"
    (warning,) = caught
    assert warning.category is CodeWarning
    text = str(warning.message)
    assert "\n" not in text
    assert len(text) < 500
    return text


def test_facts_come_back_as_they_were_written(tmp_path):
    facts = facts_for(level_target("x86-64-v3"), "1.2.3")
    write_facts(tmp_path, facts)
    assert read_facts(tmp_path) == facts


def test_code_for_this_machine_is_looked_for_in_the_folder_and_more_is_kept_elsewhere(root, recwarn):
    write(root)
    found = carried_code.code_places.__wrapped__()
    assert found.read[0] == root / "numba"
    assert found.write != root / "numba"
    assert not recwarn


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"python": "cpython-39"}, "it was made by Python 'cpython-39', and this is '"),
        ({"numba": "0.1"}, "it was made by numba '0.1', and this is '"),
        ({"llvmlite": "9\u20ac"}, "it was made by llvmlite "),
        ({"fwsvm": "0.4.9", "sources": "0" * 64}, "it was made by other sources, those of fwsvm '0.4.9'"),
        ({"svml": True}, "it was made with Intel's SVML, and numba here runs without it"),
        (
            {"processor": "pentium"},
            "it was made for a processor 'pentium' with all its features, and the processor here is ",
        ),
        ({"features": "+avx1024"}, "with all its features, and the processor here is "),
        ({"processor": "x" * 5000}, "it was made for a processor 'xxxx"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(root, changed, why):
    write(root, **changed)
    text = said(root)
    assert text.startswith("the machine code in ")
    assert why in text
    assert text.endswith("; functions are compiled for this machine")


@X86
def test_a_level_that_the_processor_lacks_is_not_compiled_for(root, monkeypatch):
    write(root, **level_target("x86-64-v3")._asdict())
    monkeypatch.setattr(
        processor.binding, "get_host_cpu_features", lambda: dict.fromkeys(processor.LEVELS["x86-64-v2"], True)
    )
    before = processor.target()
    assert ") lacks avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe, xsave; " in said(root)
    assert processor.target() == before


@X86
def test_numba_that_compiles_for_another_processor_already_goes_on_doing_so(root):
    """As in this process, where functions were decorated before the folder is found."""
    before = processor.target()
    write(root, **level_target("x86-64-v2")._asdict())
    assert "because it was used before fwsvm" in said(root)
    assert processor.target() == before


@X86
def test_a_processor_that_the_user_names_is_kept(root, monkeypatch):
    monkeypatch.setattr(processor.numba.config, "CPU_NAME", "generic")
    write(root, **level_target("x86-64-v2")._asdict())
    assert "NUMBA_CPU_NAME asks for generic" in said(root)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[" * 60_000,
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"1e999",
        b" " * (1 << 20),
        b'{"fwsvm": 1}',
    ],
)
def test_a_file_of_facts_that_is_none_is_refused_in_a_sentence(root, raw):
    write(root)
    (root / "numba" / FACTS).write_bytes(raw)
    assert FACTS in said(root)


@pytest.mark.parametrize("value", [None, 1, ["a"], {"a": {}}, "two\nlines", "\x1b[31m"])
def test_a_fact_of_another_kind_is_shown(root, value):
    write(root, numba=value)
    with pytest.raises(DataError, match=re.escape(f"{FACTS} says numba is ")):
        read_facts(root / "numba")
    assert said(root).isprintable()


def test_facts_that_are_a_folder_or_a_link_to_themselves_are_refused_in_a_sentence(root):
    (root / "numba" / FACTS).mkdir(parents=True)
    assert "is no file" in said(root)
    (root / "numba" / FACTS).rmdir()
    (root / "numba" / FACTS).symlink_to(FACTS)
    assert "is no file" in said(root)


VECTORS = """
import sys
import numba
from fwsvm.numerics.processor import make_for
assert make_for(sys.argv[1]) is None
from fwsvm.numerics.formulas import exp, muladd
from fwsvm.numerics.simd import broadcast, load, store

@numba.njit
def f(a, b):
    store(b, 0, exp(muladd(load(a, 0), load(a, 8), broadcast(a[16]))))

import numpy as np
a, b = np.linspace(-1, 0, 17, dtype=np.float32), np.zeros(8, np.float32)
f(a, b)
assert np.allclose(b, np.exp(a[:8] * a[8:16] + a[16]))
(text,) = f.inspect_asm().values()
print("%ymm" in text, "%zmm" in text, "vfmadd" in text)
"""


@X86
@pytest.mark.parametrize(
    ("level", "wide"), [("x86-64-v2", "False False False"), ("x86-64-v3", "True False True")]
)
def test_vectors_and_instructions_are_those_of_the_level_and_not_of_the_host(level, wide):
    if processor.lacking(level):
        pytest.skip(f"this processor is below {level}")
    words = [sys.executable, "-c", VECTORS, level]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == wide
