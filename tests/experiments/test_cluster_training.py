"""What `fwsvm train --scheduler` says of data, with all workers in this process."""

from pathlib import Path

import pytest

from fwsvm import data
from fwsvm.experiments import cluster_training
from tests.distributed.inline import Inline


class Here(Inline):
    """What `fwsvm.distributed.cluster.Cluster` is to a command."""

    def __init__(self, _address: str) -> None:
        pass

    def close(self) -> None:
        pass


def test_test_rows_with_labels_that_no_training_row_has_are_told_of_as_on_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_training, "Cluster", Here)
    rows, test = tmp_path / "rows.svm", tmp_path / "test.svm"
    rows.write_text("1 1:1\n-1 1:2\n" * 5)
    test.write_text("1 1:1\n7 1:2\n-1 1:2\n")
    with cluster_training.opened("tcp://there:1", str(rows), test, zero_based=False) as remote:
        far = remote.notices
    said = f"{test}: no training row has the label 7; test rows with it count as wrong"
    assert said in far
    assert said in data.load(rows, test=test).notices
