"""docs/adding/format.md: a data format, by suffix and by a lock, through the command line."""

import json

import pytest

from tests.extending.packages import commands, fwsvm, install_page, printed, python

pytestmark = pytest.mark.slow

ROWS = [(1 if i % 2 else -1, [float(i % 2), i / 40]) for i in range(40)]


def lines(label: str = "label") -> str:
    return "".join(json.dumps({label: y, "row": row}) + "\n" for y, row in ROWS)


@pytest.fixture
def folder(tmp_path):
    """Make a folder with the page's package and a file in its format."""
    install_page(tmp_path, "format")
    (tmp_path / "rows.jsonl").write_text(lines())
    return tmp_path


def train(folder, *words: str) -> dict:
    return json.loads(fwsvm(folder, "train", "--json", *words))


def test_its_commands_take_a_file_of_its_suffix(folder):
    _, predicted, summary = printed(folder, *commands("format"))
    assert [int(line) for line in predicted.split()] == [y for y, _ in ROWS]
    assert "40" in summary
    text = "".join(f"{y} 1:{a!r} 2:{b!r}\n" for y, (a, b) in ROWS)
    (folder / "rows.svm").write_text(text)
    more = (["rows.jsonl"], ["rows.svm"], ["--test", "rows.jsonl", "rows.svm"])
    ours, libsvm, tested = map(json.loads, printed(folder, *(["train", "--json", *words] for words in more)))
    assert [ours[name] for name in ("rows", "features", "classes")] == [40, 2, 2]
    assert (ours["gamma"], ours["primal"]) == pytest.approx((libsvm["gamma"], libsvm["primal"]), rel=1e-3)
    assert tested["test_accuracy"] == 1.0


def test_another_reader_is_another_run_and_no_stale_copy_is_read(folder):
    first = train(folder, "rows.jsonl")
    assert train(folder, "rows.jsonl")["run_id"] == first["run_id"]
    module = folder / "json_lines.py"
    module.write_text(module.read_text().replace("[float(value) for", "[2.0 * float(value) for"))
    second = train(folder, "rows.jsonl")
    assert second["gamma"] == pytest.approx(first["gamma"] / 4)
    assert second["run_id"] != first["run_id"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("float(value)", "1 / 0 + value", "rows.jsonl: the reader json_lines failed: ZeroDivisionError"),
        ("float(value)", "float('nan')", "failed: ValueError: a value is not a finite number"),
        ("np.array(labels)", "np.array(labels[1:])", "ValueError: rows of shape (40, 2) and labels of shape (39,)"),
        ("found[row]", "found['rows']", "rows.jsonl:1: no row in JSON: KeyError('rows')"),
    ],
)  # fmt: skip
def test_a_reader_that_fails_is_a_sentence(folder, old, new, said):
    module = folder / "json_lines.py"
    module.write_text(module.read_text().replace(old, new))
    done = python(folder, "-m", "fwsvm", "train", "rows.jsonl")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert said in line
