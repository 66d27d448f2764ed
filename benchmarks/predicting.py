"""Predicting: 16,000 rows by machines of 10,000 support vectors, against SVC of scikit-learn and scikit-learn-intelex.

    python benchmarks/predicting.py [--mirror FOLDER] [--repeat 5] [--threads 2] [--csv FILE]

Each trains on the same 10,000 rows, half of either class, with a kernel so narrow that every row becomes a support
vector, in a fresh process; then it predicts the same 16,000 rows once unseen and once timed. Sparse rows (a9a: 123
features, 11 % non-zero) and dense ones (generated, 28 features). The ratio is peer time / fwsvm time.
"""

from typing import Any

import side_by_side as bench

SETS = ("a9a", "synthetic:gaussians?rows=20000&features=28&test=16000")
SUPPORT, ROWS, C = 10_000, 16_000, 1.0

SCRIPT = """
import json, sys, time
name, which, threads, support, rows, C = *sys.argv[1:3], *map(int, sys.argv[3:6]), float(sys.argv[6])
import numpy as np
from scipy import sparse
import fwsvm
from fwsvm import data
from fwsvm.kernels.kernel import family

found = data.load(name)
X, y = found.train.X, found.train.labels
chosen = np.sort(np.concatenate([np.flatnonzero(y == c)[: support // 2] for c in np.unique(y)]))
rest = found.test.X[:rows]
gamma = 50 * family("rbf").width("paper")[1].gamma(X)  # so narrow that every row becomes a support vector
if which == "fwsvm":
    result = fwsvm.train(X[chosen], y[chosen], C=C, gamma=gamma, threads=threads)
    count = result.support_vectors
    predict = lambda some: fwsvm.predict(result.model, some, threads=threads)
else:
    if which == "intelex":
        import daal4py
        daal4py.daalinit(threads)
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    if sparse.issparse(X):
        X, rest = (sparse.csr_matrix((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)
                   for A in (X, rest))
    machine = SVC(C=C, kernel="rbf", gamma=gamma).fit(X[chosen], y[chosen])
    count, predict = int(np.sum(machine.n_support_)), machine.predict
predict(rest)
begun = time.perf_counter()
labels = predict(rest)
seconds = time.perf_counter() - begun
print(json.dumps({"seconds": seconds, "support_vectors": count, "rows": rest.shape[0]}))
"""


def main() -> None:
    """Measure, print a line a set, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 5)
    asked.add_argument("--threads", type=int, default=2)
    given = bench.parse(asked)
    peers = [
        peer for peer, module in (("svc", "sklearn"), ("intelex", "sklearnex")) if bench.installed(module)
    ]
    rows = []
    for name in SETS:
        commands = {
            who: bench.python(SCRIPT, name, who, given.threads, SUPPORT, ROWS, C) for who in ("fwsvm", *peers)
        }
        found = bench.by_turns(commands, given.repeat)
        row: dict[str, Any] = {"set": name, "rows": found["fwsvm"][0]["rows"], "threads": given.threads}
        for who in found:
            row |= {
                f"{who}_seconds": bench.median(found[who]),
                f"{who}_support_vectors": found[who][0]["support_vectors"],
            }
            if who != "fwsvm":
                row[f"{who}_ratio"] = bench.median(found[who]) / bench.median(found["fwsvm"])
        rows.append(row | {f"{who}_all": bench.spread(found[who]) for who in found})
        bench.show(rows[-1])
        bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
