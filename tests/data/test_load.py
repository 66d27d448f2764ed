"""`fwsvm.data.load`: a path, else a name, else synthetic; test rows fitted to the training features."""

import os
from pathlib import Path

import pytest

from fwsvm import data
from fwsvm.data import parsed_copies
from fwsvm.errors import DataError, UsageError


@pytest.fixture
def train(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a small training file into the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.svm"
    path.write_text("yes 1:1 3:2\nno 2:-1\nyes\n", "utf-8")
    return path


def test_a_path_is_read_as_it_is(train: Path) -> None:
    loaded = data.load(train)
    assert loaded.train.X.toarray().tolist() == [[1, 0, 2], [0, -1, 0], [0, 0, 0]]
    assert loaded.classes == ("yes", "no")
    assert (loaded.name, loaded.source, loaded.scaling) == (str(train), str(train), "none")
    assert loaded.test is None
    assert loaded.notices == ()


def test_a_file_comes_before_a_name_and_a_folder_does_not(train: Path, tmp_path: Path) -> None:
    train.rename(tmp_path / "wdbc")
    assert data.load("wdbc").train.X.shape == (3, 3)
    (tmp_path / "digits").mkdir()
    assert data.load("digits").train.X.shape == (1797, 64)
    with pytest.raises(DataError, match=f"^{tmp_path} is a directory; give a data file$"):
        data.load(tmp_path)


def test_what_is_no_file_says_what_to_do_as_rows_to_train_on_and_to_test(train: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place, said in (
        (tmp_path, "is a directory; give a data file$"),
        (
            pipe,
            "not a regular file; write the rows to a file first, and give its name$",
        ),
    ):
        for given in ({"name_or_path": place}, {"name_or_path": train, "test": place}):
            with pytest.raises(DataError, match=f"^{place}:? {said}"):
                data.load(**given)  # type: ignore[arg-type]
    with pytest.raises(
        DataError, match=r"^-: rows cannot be read from standard input; write the rows to a file first"
    ):
        data.load("-")


def test_test_rows_get_the_training_features(train: Path, tmp_path: Path) -> None:
    narrow, wide = tmp_path / "narrow.svm", tmp_path / "wide.svm"
    narrow.write_text("no 1:5\n", "utf-8")
    wide.write_text("no 3:5 4:6 9:7\nyes 8:1\n", "utf-8")
    padded, cut = data.load(train, test=narrow), data.load(train, test=wide)
    assert padded.test is not None
    assert cut.test is not None
    assert padded.test.X.toarray().tolist() == [[5, 0, 0]]
    assert padded.notices == ()
    assert cut.test.X.toarray().tolist() == [[0, 0, 5], [0, 0, 0]]
    assert cut.notices == (f"{wide}: 3 values of features beyond 3, unknown in training, are ignored",)


def test_the_digest_tells_files_and_readings_apart(train: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.svm"
    copy.write_bytes(train.read_bytes())
    digests = [
        data.load(train).fingerprint,
        data.load(train, zero_based=True).fingerprint,
        data.load(train, test=copy).fingerprint,
    ]
    assert len(set(digests)) == 3
    assert data.load(copy).fingerprint == digests[0]


def test_a_second_load_parses_nothing(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = data.load(train)
    monkeypatch.setattr(parsed_copies, "CopyWriter", lambda *_: pytest.fail("parsed again"))
    assert (data.load(train).train.X != first.train.X).nnz == 0
    train.write_text("yes 1:1\nno 1:2\n", "utf-8")
    with pytest.raises(pytest.fail.Exception, match="parsed again"):
        data.load(train)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"name_or_path": "train.svm", "source": "web"}, UsageError, "has sources to choose from"),
        ({"name_or_path": "wdbc", "source": "web"}, UsageError, "the sources are shipped, uci"),
        ({"name_or_path": "wdbc", "zero_based": True}, UsageError, "zero-based"),
        ({"name_or_path": "synthetic:gaussians", "test": "train.svm"}, UsageError, "test rows of its own"),
        ({"name_or_path": "sinthetic:gaussians"}, DataError, "did you mean 'synthetic:gaussians'"),
        ({"name_or_path": "train.svm", "test": "nowhere"}, DataError, "nowhere: no such file"),
        ({"name_or_path": "no/where.svm"}, DataError, "no such file"),
        ({"name_or_path": "w8a", "offline": True}, DataError, "not available"),
        ({"name_or_path": "usps-ext", "offline": True}, DataError, "fwsvm data add usps-ext FILE"),
    ],
)
def test_what_cannot_be_loaded_says_why(arguments: dict, error: type, said: str, train: Path) -> None:  # type: ignore[type-arg]
    with pytest.raises(error) as raised:
        data.load(**arguments)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
