"""`fwsvm train` against SVC of scikit-learn and of scikit-learn-intelex: seconds of training alone.

    python benchmarks/training.py [--mirror FOLDER] [--repeat 3] [--threads 2] [--methods swap-2o newton chunking]
                                  [--peers svc intelex] [--csv FILE] [NAME[@ROWS]:C[:FACTOR] ...]

All use the rbf kernel with gamma = FACTOR/(2D), FACTOR 1 where none is given, on the same rows, in the form fwsvm keeps
them (sparse or dense). NAME@ROWS are the first ROWS training rows of a permutation with seed 0. The peers
have their default cache of 200 MB and stop at their default tolerance, fwsvm at a certified relative gap of 1e-3;
accuracy stands beside every time. Of --methods, exact all, the fastest counts (median of --repeat runs in fresh
processes that take turns). SVC has one thread whatever it is told; intelex and fwsvm have --threads. intelex is asked
whether it fell back to the stock code. The ratio is peer time / fwsvm time. Squared hinge with a penalised bias (ours)
and hinge with a free bias (theirs) are not the same problem: only the accuracies compare.

Each process touches 4 GiB of memory before its clock starts: on a virtual machine whose host takes unused memory
back, a first touch can cost more than the training.
"""

import argparse
import re
from typing import Any

import side_by_side as bench

NAMED = re.compile(r"(.+?):([0-9.e+-]+)(?::([0-9.]+))?")  # set, C, factor
SETS = (
    "a5a:1", "a7a:1", "a9a:1", "w7a:8", "usps:64", "letter:64", "pendigits:64", "shuttle:64", "satimage:64",
    "mushrooms:64",
)  # fmt: skip

ROWS = """
import json, logging, os, sys, time
from dataclasses import replace
import numpy as np
from fwsvm import data
from fwsvm.kernels.kernel import family

name, C, factor, which, threads = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4], int(sys.argv[5])

def load():
    found = data.load(name.partition("@")[0])
    train = found.train
    if "@" in name:
        few = np.random.default_rng(0).permutation(train.rows)[: int(name.partition("@")[2])]
        train = replace(train, X=train.X[few], labels=train.labels[few])
    return replace(found, train=train), factor * family("rbf").width("paper")[1].gamma(train.X)
"""

PEER = (
    ROWS
    + """
said = []
if which == "intelex":
    os.environ["SKLEARNEX_VERBOSE"] = "INFO"
    from sklearnex.svm import SVC
    class Listen(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())
    logging.getLogger("sklearnex").addHandler(Listen())
    logging.getLogger("sklearnex").setLevel(logging.INFO)
    import daal4py
    daal4py.daalinit(threads)
else:
    from sklearn.svm import SVC
from scipy import sparse

found, gamma = load()
X, y = found.train.X, found.train.labels
rest, truth = (found.test.X, found.test.labels) if found.test else (X, y)
if sparse.issparse(X):
    X, rest = (sparse.csr_matrix((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)
               for A in (X, rest))
np.ones(1 << 29)  # 4 GiB
few = np.unique(np.linspace(0, len(y) - 1, 200).astype(int))
if len(np.unique(y[few])) > 1:
    SVC(C=C, kernel="rbf", gamma=gamma).fit(X[few], y[few])  # what a first fit loads is not counted
said.clear()
machine = SVC(C=C, kernel="rbf", gamma=gamma)
begun = time.perf_counter()
machine.fit(X, y)
seconds = time.perf_counter() - begun
stock = which == "intelex" and not any("running accelerated version" in line for line in said)
right = float(np.mean(machine.predict(rest) == truth))
print(json.dumps({"seconds": seconds, "accuracy": right, "support_vectors": int(np.sum(machine.n_support_)),
                  "stock": stock}))
"""
)

OURS = (
    ROWS
    + """
from fwsvm.data import labels
from fwsvm.experiments import training
from fwsvm.solvers import Settings, fit

found, gamma = load()
settings = Settings(method=which, C=C, gamma=gamma, threads=threads)
np.ones(1 << 29)  # 4 GiB
few = np.unique(np.linspace(0, found.train.X.shape[0] - 1, 200).astype(int))
codes = labels.encode(found.train.labels, found.classes)
if len(np.unique(codes[few])) == len(found.classes):
    fit(found.train.X[few], codes[few], found.classes, settings)  # as SVC
result, row = training.train(found, settings)
accuracy = row["test_accuracy"] if row["test_accuracy"] is not None else row["train_accuracy"]
print(json.dumps({"seconds": result.train_seconds, "accuracy": accuracy, "support_vectors": result.support_vectors,
                  "relative_gap": result.relative_gap, "certified": result.certified, "chosen": result.chosen}))
"""
)


def compare(name: str, C: str, factor: str, given: argparse.Namespace) -> dict[str, Any]:
    """Return the row of a data set, a penalty and a multiple of the default gamma."""
    commands = {peer: bench.python(PEER, name, C, factor, peer, given.threads) for peer in given.peers}
    commands |= {who: bench.python(OURS, name, C, factor, who, given.threads) for who in given.methods}
    found = bench.by_turns(commands, given.repeat)
    ours = min(given.methods, key=lambda method: bench.median(found[method]))
    row: dict[str, Any] = {"set": name, "C": C, "factor": factor, "threads": given.threads, "fwsvm": ours}
    row["chosen"] = found[ours][-1]["chosen"]
    for who in (ours, *(peer for peer in given.peers)):
        said = "fwsvm" if who == ours else who
        row |= {f"{said}_seconds": bench.median(found[who]), f"{said}_accuracy": found[who][-1]["accuracy"]}
        if who != ours:
            row[f"{said}_ratio"] = bench.median(found[who]) / bench.median(found[ours])
    if any(each.get("stock") for each in found.get("intelex", ())):
        row["intelex_fell_back"] = True
    row |= {"relative_gap": found[ours][-1]["relative_gap"], "certified": found[ours][-1]["certified"]}
    row["fwsvm_all"] = bench.spread(found[ours])
    return row | {f"{who}_all": bench.spread(found[who]) for who in found}


def main() -> None:
    """Measure, print a line a set and the geometric means, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 3)
    asked.add_argument("sets", nargs="*", default=SETS, metavar="NAME:C:FACTOR")
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--methods", nargs="+", default=["swap-2o", "newton", "chunking"])
    asked.add_argument("--peers", nargs="+", default=["svc", "intelex"], choices=["svc", "intelex"])
    given = bench.parse(asked)
    modules = {"svc": "sklearn", "intelex": "sklearnex"}
    given.peers = [peer for peer in given.peers if bench.installed(modules[peer])]
    rows = []
    for text in given.sets:
        named = NAMED.fullmatch(text)
        if named is None:
            raise SystemExit(f"{text}: must be NAME:C or NAME:C:FACTOR")
        name, C, factor = named.groups("1")
        rows.append(compare(name, C, factor, given))
        bench.show({key: value for key, value in rows[-1].items() if not key.endswith("_all")})
        bench.write(given.csv, rows)
    means: dict[str, Any] = {"set": "geometric mean", "threads": given.threads}
    for peer in given.peers:
        means[f"{peer}_ratio"] = bench.geometric_mean(row[f"{peer}_ratio"] for row in rows)
    bench.show(means)
    bench.write(given.csv, [*rows, means])


if __name__ == "__main__":
    main()
