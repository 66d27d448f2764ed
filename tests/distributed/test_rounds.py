"""The rounds of a run whose rows are elsewhere, with all workers in this process: certificates, chunks, classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm import data
from fwsvm.data import partitions
from fwsvm.data.splits import fold
from fwsvm.distributed import block
from fwsvm.distributed import fit as there
from fwsvm.distributed.table import ClusterSource, RemoteTable
from fwsvm.errors import DataError, UsageError
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.resolve import resolve
from tests import naive, svmlight_files
from tests.distributed.inline import Inline, table_of

GAMMA = 0.3


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Cut files of some hundred rows, and let a first chunk be small."""
    monkeypatch.setattr(partitions, "LEAST", 2000)


def clouds(seed, m=600, apart=1.3, classes=2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(classes, size=m)
    return rng.normal(size=(m, 4)) + apart * rng.normal(size=(classes, 4))[codes], codes


def written(folder, X, codes):
    path = folder / "rows.svm"
    svmlight_files.write(path, sparse.csr_array(X), 1.0 - codes)
    return path


def chosen(C=10.0, **given):
    given = {"kernel": "rbf", "gamma": GAMMA, "parameters": {"fewest": 0}, "threads": 1, **given}
    return Settings("chunking", C=C, **given)


def train(table, asked, which=None):
    source = ClusterSource(table, which)
    return there.fit(source, asked, there.resolve(source, asked))


@given(st.integers(0, 2**32), st.sampled_from([1e-1, 1e1, 1e4]), st.sampled_from([0.0, 0.5, 1.3]))
@settings(deadline=None, max_examples=10)
def test_the_certificate_is_that_of_all_rows(tmp_path_factory, seed, C, apart):
    X, codes = clouds(seed, 150, apart)
    table = table_of(written(tmp_path_factory.mktemp("rows"), X, codes))
    assert len(table.blocks) > 2
    found = train(table, chosen(C, tolerance=1e-6))
    assert found.certified
    least = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, GAMMA)
    assert least * (1 - 1e-8) <= found.objective <= least + found.gap * (1 + 1e-8)
    assert found.relative_gap <= 1e-6
    # primal and dual enclose the optimum of the standard form, 1 / (2 R*)
    assert found.dual * (1 - 1e-8) <= 1 / (2 * least) <= found.primal * (1 + 1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "quadratic", "laplacian"])
def test_any_kernel_comes_to_the_objective_of_one_machine(tmp_path, kernel):
    X, codes = clouds(1)
    given = {} if kernel == "linear" else {"gamma": 0.2}
    asked = chosen(1.0, **{"gamma": None, "kernel": kernel, "tolerance": 1e-4, **given})
    far = train(table_of(written(tmp_path, X, codes)), asked)
    near = fit(X, codes, ("1", "0"), asked)
    assert far.certified
    assert abs(far.objective - near.objective) <= max(far.gap, near.gap)


def test_several_classes_with_weights_of_their_own(tmp_path):
    X, codes = clouds(2, 900, 2.0, classes=3)
    table = table_of(written(tmp_path, X, codes))
    asked = chosen(tolerance=1e-5, class_weight={"0": 3.0})
    far = train(table, asked)
    order = np.array([table.classes.index(str(int(1 - code))) for code in codes])
    near = fit(X, order, table.classes, asked)
    assert far.certified
    assert far.subproblems == 3
    assert abs(far.objective - near.objective) <= far.gap + near.gap
    assert ClusterSource(table).accuracy(far.model) == (far.model.predict(X) == order).mean()


def test_default_width_and_lambda_are_those_of_one_machine(tmp_path):
    X, codes = clouds(3)
    table = table_of(written(tmp_path, X, codes))
    asked = Settings("chunking", lambda_=1e-3, threads=1)
    near = fit(X, codes, ("1", "0"), asked)
    far = train(table, asked)
    assert far.settings["width_rule"] == near.settings["width_rule"] == "paper"
    for name in ("gamma", "C", "lambda"):
        assert far.settings[name] == pytest.approx(near.settings[name], rel=1e-12), name


def test_rounds_fetch_only_rows_that_matter(tmp_path, monkeypatch):
    X, codes = clouds(4, 3000, 2.0)
    fetched = []
    rows = RemoteTable.fetch

    def noted(table, numbers):
        fetched.append(len(numbers))
        return rows(table, numbers)

    monkeypatch.setattr(RemoteTable, "fetch", noted)
    found = train(table_of(written(tmp_path, X, codes)), chosen())
    assert found.certified
    assert 0 < max(fetched) < 1500


@pytest.mark.parametrize("how", ["[0,1]", "[-1,1]"])
def test_rows_are_scaled_as_on_one_machine(tmp_path, how):
    X, codes = clouds(13, 300)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0.0
    X = np.c_[10.0 * X, np.full(300, 2.0), np.where(codes, 0.0, 3.0)]
    path = written(tmp_path, X, codes)
    near = data.load(path, scale=how)
    table = RemoteTable(Inline(), partitions.cut(path), scale=how)
    assert table.ranges.text() == near.train.ranges.text()
    rows = block.as_csr(table.fetch(np.arange(300)))
    np.testing.assert_array_equal(rows.toarray(), sparse.csr_array(near.train.X).toarray())
    asked = Settings("chunking", threads=1)
    far = train(table, asked)
    local = fit(near.train.X, data.labels.encode(near.train.labels, near.classes), near.classes, asked)
    assert far.settings["gamma"] == pytest.approx(local.settings["gamma"], rel=1e-9)
    assert abs(far.objective - local.objective) <= far.gap + local.gap


def test_a_fold_is_trained_on_the_rows_that_are_left(tmp_path):
    X, codes = clouds(12, 500, classes=3)
    table = table_of(written(tmp_path, X, codes))
    order = table.codes
    mask = fold(table.codes, 4, 1, 0)
    far = train(table, chosen(tolerance=1e-5), np.flatnonzero(~mask))
    near = fit(X[~mask], order[~mask], table.classes, chosen(tolerance=1e-5))
    assert far.certified
    assert abs(far.objective - near.objective) <= far.gap + near.gap
    held_out = ClusterSource(table, np.flatnonzero(mask))
    assert held_out.accuracy(far.model) == (far.model.predict(X[mask]) == order[mask]).mean()


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_a_folds_default_width_is_that_of_the_rows_that_are_left(tmp_path, offset):
    X, codes = clouds(14, 500, classes=3)
    X += offset
    table = table_of(written(tmp_path, X, codes))
    asked = Settings("chunking", threads=1)
    mask = fold(table.codes, 4, 1, 0)
    for some in (~mask, mask | ~mask):
        far = there.resolve(ClusterSource(table, np.flatnonzero(some)), asked)
        assert far.kernel.gamma == pytest.approx(resolve(asked, X[some]).kernel.gamma, rel=1e-9)


@pytest.mark.parametrize("limit", [{"max_iterations": 40}, {"time_limit": 1e-9}])
def test_a_limit_ends_with_the_gap_over_all_rows(tmp_path, limit):
    X, codes = clouds(6)
    found = train(table_of(written(tmp_path, X, codes)), chosen(**limit))
    assert found.status in {Status.MAX_ITERATIONS, Status.TIME_LIMIT}
    assert found.gap_kind == "exact"
    assert found.gap > 0


def test_an_interrupt_between_two_chunks_keeps_the_point_reached(tmp_path, monkeypatch):
    def interrupt(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClusterSource, "sums", interrupt)
    X, codes = clouds(7)
    found = train(table_of(written(tmp_path, X, codes)), chosen())
    assert found.status is Status.INTERRUPTED
    assert not found.certified
    assert (found.model.predict(X) == codes).mean() > 0.8


def test_a_partition_that_changed_is_refused_when_it_is_read_again(tmp_path):
    X, codes = clouds(8)
    path = written(tmp_path, X, codes)
    part = partitions.cut(path)[1]
    before = partitions.read(part)
    path.write_bytes(path.read_bytes().replace(b"1 1:", b"0 1:"))
    with pytest.raises(DataError, match=r"rows.svm changed while it was trained on; train again"):
        block.checked_rows(partitions.read(part), part, before.sha256, 4)


def test_what_cannot_be_trained_on_a_cluster_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="--scheduler trains by chunking, not by swap"):
        there.for_cluster(Settings("swap"))
    X, codes = clouds(9, 50)
    with pytest.raises(DataError, match="all rows have the label 1; two classes are needed"):
        table_of(written(tmp_path, X, codes * 0))
    with pytest.raises(UsageError, match="needs all rows in one place; give --gamma"):
        train(table_of(written(tmp_path, X, codes)), chosen(kernel="laplacian", gamma=None))
