"""A file without a published checksum: trusted at first use if it has the published shape, and held to its digest."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fwsvm.data import lockfile
from tests.cli.running import done, rows
from tests.data import site as serve
from tests.data.site import Site

TRAIN = b"".join(b"%d 1:%d 3:0.5\n" % (1 - 2 * (i % 2), i + 1) for i in range(40))
OTHER = TRAIN.replace(b"3:0.5", b"3:0.7")
DIGEST, OTHER_DIGEST = (hashlib.sha256(content).hexdigest() for content in (TRAIN, OTHER))

LOCK = """# a comment to keep
version: 1
datasets:
  tiny:
    title: Tiny
    task: binary
    classes: 2
    features: 5
    published:
      - {paper: "000", name: tiny, m: 40, n: 5}
    sources:
"""
SOURCE = """\
      {0}:
        loader: {{format: svmlight}}
        train:
          - file: {1}
            urls:
              - {2}/{1}
            sha256: unpinned # nobody has printed one
            evidence: unpinned
"""
OF_ANOTHER = "synthetic:gaussians?rows=60&features=3"


@pytest.fixture
def lock(cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a lock whose one set has two sources without a digest, of 40 rows as published; the site has the first."""
    path = tmp_path / "datasets.lock"
    path.write_text(
        LOCK + SOURCE.format("near", "tiny", site.address) + SOURCE.format("far", "tiny.xz", site.address)
    )
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    site.put("/tiny", TRAIN)
    return path


def test_it_is_recorded_said_and_marked(lock: Path, site: Site, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "trial.yaml").write_text(
        f"name: trial\ndatasets: [tiny, '{OF_ANOTHER}']\nmethods: [swap]\ntest_fraction: 0.2\n"
    )
    first = done("grid", tmp_path / "trial.yaml", "--out", tmp_path / "out")
    said = f"tiny: no published checksum; recorded sha256 {DIGEST[:12]}... (40 rows, as published)"
    assert " ".join(first.stderr.split()).count(said) == 1
    file = lockfile.read().entries["tiny"].sources[0].train[0]
    assert (file.sha256, file.rows, file.evidence) == (DIGEST, 40, "first use")
    flags = {row["dataset"]: row["flags"].split() for row in rows(tmp_path / "out")}
    assert "first_use" in flags.pop("tiny")
    assert "first_use" not in next(iter(flags.values()))
    again = done("train", "tiny", "--json")
    assert "recorded" not in again.stderr
    assert "first_use" in json.loads(again.stdout)["flags"]
    assert len(site.requests) == 1
    info = " ".join(done("data", "info", "tiny").stdout.split())
    assert f"recorded: '{file.recorded}'" in info
    assert "evidence: first use" in info


def test_other_bytes_are_refused_from_every_place_until_they_are_accepted(
    lock: Path, site: Site, cache: Path, tmp_path: Path
) -> None:
    done("data", "fetch", "tiny")
    site.put("/tiny", OTHER)
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "tiny").write_bytes(OTHER)
    for place in ("", str(tmp_path / "mirror"), site.address):
        (cache / "data" / "tiny" / "near" / "tiny").unlink(missing_ok=True)
        refused = done(*("data", "fetch") if place else ("train",), "tiny", code=3, FWSVM_MIRROR=place)
        for fact in (DIGEST, OTHER_DIGEST, "at first use on", "fwsvm data lock tiny --source near --accept"):
            assert fact in refused.stderr
    assert OTHER_DIGEST in done("data", "lock", "tiny", "--source", "near", code=3).stderr
    done("data", "lock", "tiny", "--source", "near", "--accept")
    file = lockfile.read().entries["tiny"].sources[0].train[0]
    assert (file.sha256, file.evidence) == (OTHER_DIGEST, "locked")
    assert "first_use" not in (json.loads(done("train", "tiny", "--json").stdout)["flags"] or "")


@pytest.mark.parametrize(
    ("content", "behaviour", "said"),
    [
        (TRAIN[: len(TRAIN) // 2].rpartition(b"\n")[0] + b"\n", serve.well, "and should have 40 rows"),
        (TRAIN.replace(b"3:", b"9:"), serve.well, "9 features and 2 classes, and should have"),
        (
            TRAIN.replace(b"-1 ", b"1 "),
            serve.well,
            "and 1 classes, and should have 40 rows, 5 features and 2 classes",
        ),
        (TRAIN.replace(b"0.5", b"0.5.5"), serve.well, "0.5.5"),
    ],
    ids=["rows", "features", "classes", "no rows"],
)
def test_what_is_not_the_set_is_not_recorded_and_the_next_source_is_tried(
    content: bytes, behaviour: serve.Behaviour, said: str, lock: Path, site: Site, cache: Path
) -> None:
    url = site.put("/tiny", content, behaviour)
    refused = done("data", "fetch", "tiny", code=3).stderr
    assert said in refused
    assert url in refused
    assert not lockfile.overlay_path().exists()
    assert not (cache / "data" / "tiny" / "near" / "tiny").exists()
    site.put("/tiny.xz", TRAIN)
    fetched = done("data", "fetch", "tiny")
    assert "source far" in fetched.stdout
    assert said in fetched.stderr
    assert [source.train[0].evidence for source in lockfile.read().entries["tiny"].sources] == [
        "unpinned",
        "first use",
    ]


FETCH = """
import sys
from pathlib import Path
from click.testing import CliRunner
from fwsvm.cli import main
from fwsvm.data import lockfile
lockfile.lock_path = lambda: Path(sys.argv[1])
found = CliRunner().invoke(main, ["data", "fetch", "tiny"])
assert found.exit_code == 0, found.output
"""


@pytest.mark.slow
def test_processes_at_once_fetch_and_record_once(lock: Path, site: Site, cache: Path) -> None:
    command = [sys.executable, "-c", FETCH, str(lock)]
    workers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [worker.communicate(timeout=600) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, answers
    assert site.requests == ["/tiny"]
    assert lockfile.read().entries["tiny"].sources[0].train[0].sha256 == DIGEST
