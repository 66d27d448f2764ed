"""YAML of anybody: plain values as PyYAML's safe reader has them, and a sentence for everything else."""

import math
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fwsvm import bounded_yaml
from fwsvm.bounded_yaml import parse, plain
from fwsvm.errors import DataError, UsageError

TOP = Path(__file__).parents[1]
SHIPPED = [TOP / "datasets.lock", *sorted((TOP / "configs").glob("*.yaml"))]
BOMB = "a: &a [1, 1]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefghij", "bcdefghijk", strict=True)
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcyn01", max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_shipped_files_are_read_as_pyyaml_reads_them(path):
    assert plain(bounded_yaml.read(path, typed_keys=True)) == yaml.safe_load(path.read_text("utf-8"))


@given(VALUES)
def test_what_pyyaml_writes_is_read_as_pyyaml_reads_it(value):
    text = yaml.safe_dump(value, allow_unicode=True)
    assert plain(parse(text, "f", typed_keys=True)) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2001-99-99", {"a": "2001-99-99"}),
        ("a: 2001-12-14", {"a": "2001-12-14"}),
        ("1: x\n010: y", {"1": "x", "010": "y"}),
        ("a: 010", {"a": 8}),
        ("a: .inf", {"a": math.inf}),
        ("a: =", {"a": "="}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("<<: [{a: 1, b: 1}, {b: 2, c: 2}]\nc: 3", {"b": 1, "c": 3, "a": 1}),
        ('"<<": 3', {"<<": 3}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_plain_values(text, value):
    assert plain(parse(text, "f")) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("? [a]\n: b", "1: a key must be a name"),
        ('? "a\\nb"\n: 1', "1: a key must be a name"),
        ("x: 1\nC: 0b_", "2: '0b_' is not of YAML's type int"),
        ("a: !!int abc", "1: 'abc' is not of YAML's type int"),
        ('a: !!float ""', "1: '' is not of YAML's type float"),
        ("a: !!bool x", "1: 'x' is not of YAML's type bool"),
        ("a: " + "9" * 5000, "1: a number of 5,000 characters; at most 100 are allowed"),
        ("a: 0x" + "f" * 4500, "1: a number of 4,502 characters; at most 100 are allowed"),
        ("a: !!binary aGk=", "1: 'tag:yaml.org,2002:binary' is a type that is not supported here"),
        ("!!set {a}", "1: 'tag:yaml.org,2002:set' is a type that is not supported here"),
        ("a: !!python/object/apply:os.system [ls]", "1: 'tag:yaml.org,2002:python/object/apply:os.system' is a type"),
        (BOMB, "6: more than 50,000 values, aliases counted each time"),
        ("[" * 100, "1: nested too deeply: at most 40 levels are allowed"),
        ("- " * 100, "1: nested too deeply: at most 40 levels are allowed"),
        ("a: &c [*c]", "1: this value contains itself"),
        ("a: &c {<<: *c}", "1: this value contains itself"),
        ("<<: 3", "1: << takes a mapping or a list of mappings, not 3"),
        ("a: 1\na: 2", "2: the key 'a' stands here a second time"),
        ("a: 1\nb: *c", "2: nothing is named &c before this"),
        ("a: 1\nb: \0", "2: not YAML: unacceptable character '\\x00'"),
        ("- 1\n---\n- 2\n", "2: a second document begins here; only one is allowed"),
        ("# nothing", "1: the file is empty"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_by_line(text, said):
    with pytest.raises(UsageError) as caught:
        parse(text, "f")
    assert str(caught.value).startswith(f"f:{said}")


@pytest.mark.parametrize("loader", [bounded_yaml.SAFE, yaml.SafeLoader])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n\t- b\n", "2: .*; indent with spaces, not tabs"),
        ("a: @b\n", "1: .*; put the value in quotes"),
        ("a: [b\nc: d\n", "2: .*; is a bracket before this not closed?"),
        ("a: {b\n", "2: .*; is a bracket before this not closed?"),
        ("a: [\n", "2: .*; is a bracket before this not closed?"),
        ('a: "b\nc: d\n', "3: .*; is a quote before this not closed?"),
        ("a: b\n c: d\n", "2: .*; keys begin in one column, and a value with a colon stands in quotes"),
    ],
)
def test_what_is_no_yaml_is_refused_with_a_remedy(monkeypatch, loader, text, said):
    monkeypatch.setattr(bounded_yaml, "SAFE", loader)
    with pytest.raises(UsageError, match=f"^f:{re.escape(said).replace(re.escape('.*'), '.*')}$"):
        parse(text, "f")


def test_files_that_are_no_text_or_too_large_or_no_files_are_refused(tmp_path):
    path = tmp_path / "x.yaml"
    for content, said in (
        (b"a: 1\nb: \xff", r":2: cannot be read: not text in UTF-8"),
        (b"- 1\n" * 300_000, ": cannot be read: more than 1 MiB"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            bounded_yaml.read(path, DataError)
    for odd, said in (
        (tmp_path, "not a regular file"),
        (tmp_path / "none", "No such file"),
        (tmp_path / ("x" * 5000), "too long"),
        (tmp_path / "a\0b", "null"),
    ):
        with pytest.raises(UsageError, match=f"cannot be read: .*{said}"):
            bounded_yaml.read(odd)


def test_without_its_c_part_pyyaml_is_as_bounded(monkeypatch):
    monkeypatch.setattr(bounded_yaml, "SAFE", yaml.SafeLoader)
    assert plain(parse("a: [1, {b: x}]\nc: &d 2\ne: *d", "f")) == {"a": [1, {"b": "x"}], "c": 2, "e": 2}
    for text in (BOMB, "[" * 100_000, 'a: "\\ud800"', "a: 0b_", "? [a]\n: b", "a: ["):
        with pytest.raises(UsageError, match=r"^f:[0-9]+: "):
            parse(text, "f")
