"""The KDD Cup 1999 connection records as 127 features: 34 numbers, then an indicator for each symbol.

Columns in order: the 34 continuous ones as they stand in the file; 3 protocols; 71 services (the 66 of the
10 percent file, and aol, harvest, http_2784, http_8001, icmp of the full and the test file); 11 flags; and
for land, logged_in, is_host_login and is_guest_login one indicator of 0 and one of 1. The papers give the
number 127 and no list; this one is the only count of symbols that makes it up.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack, vstack

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.svmlight_errors import one_line
from fwsvm.data.formats.text_file import open_decompressed
from fwsvm.data.labels import first_objection
from fwsvm.errors import DataError

COLUMNS = 42
NAMES = list(range(COLUMNS))
CHUNK_ROWS = 50_000
LONGEST_LINE = 4096  # bytes; a record has 150

PROTOCOLS = ("icmp", "tcp", "udp")
SERVICES = tuple(  # a list of strings, one a line, would be three screens long
    """IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs
    exec finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4
    iso_tsap klogin kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp
    ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje shell smtp sql_net ssh sunrpc
    supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path vmnet whois""".split()  # noqa: SIM905
)
FLAGS = ("OTH", "REJ", "RSTO", "RSTOS0", "RSTR", "S0", "S1", "S2", "S3", "SF", "SH")
#: Column in the file (from 0) and the symbols it may hold, in the order of their features.
SYMBOLIC: Mapping[int, tuple[str, ...]] = {
    1: PROTOCOLS,
    2: SERVICES,
    3: FLAGS,
    **dict.fromkeys((6, 11, 20, 21), ("0", "1")),  # land, logged_in, is_host_login, is_guest_login
}
LABEL = 41
CONTINUOUS = tuple(column for column in range(LABEL) if column not in SYMBOLIC)
FEATURES = len(CONTINUOUS) + sum(len(symbols) for symbols in SYMBOLIC.values())


def read(path: Path) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the records as sparse rows of 127 features, and the attacks' names (no final dot) as labels.

    `DataError` names file and line of a record that is cut short or holds an unknown symbol.
    """
    kinds: dict[Any, Any] = dict.fromkeys(CONTINUOUS, "float64")
    kinds |= dict.fromkeys((*SYMBOLIC, LABEL), "str")
    rows: list[csr_array] = []
    labels: list[np.ndarray] = []
    line = 1
    _check_first(path)
    try:
        with (
            open_decompressed(path) as file,
            pd.read_csv(
                file,
                header=None,
                names=NAMES,
                dtype=kinds,
                chunksize=CHUNK_ROWS,
            ) as chunks,
        ):
            for chunk in chunks:
                if chunk[LABEL].isna().any():
                    short = line + int(chunk[LABEL].isna().to_numpy().argmax())
                    raise DataError(f"{path}:{short}: fewer than {COLUMNS} fields")
                rows.append(_features(chunk, path, line))
                labels.append(chunk[LABEL].str.rstrip(".").to_numpy(dtype=str))
                if bad := first_objection(labels[-1]):
                    raise DataError(f"{path}:{line + bad[0]}: {bad[1]}")
                line += len(chunk)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}: not KDD Cup 99 records: {one_line(error)}") from None
    if line == 1:
        raise DataError(f"{path} has no rows")
    return LabelledRows(csr_array(vstack(rows, format="csr")), np.concatenate(labels)), ()


def _check_first(path: Path) -> None:
    """Refuse a file whose first line has not as many fields as a record: pandas would take more as names of rows."""
    with open_decompressed(path) as file:
        fields = file.readline(LONGEST_LINE).count(b",") + 1
    if fields not in (1, COLUMNS):  # one field: an empty file or other text, which is refused below
        raise DataError(f"{path}:1: {'fewer' if fields < COLUMNS else 'more'} than {COLUMNS} fields")


def _features(chunk: pd.DataFrame, path: Path, line: int) -> csr_array:
    numbers = chunk[list(CONTINUOUS)].to_numpy()
    if not np.isfinite(numbers).all():
        row, k = np.argwhere(~np.isfinite(numbers))[0]
        raise DataError(f"{path}:{line + row}: column {CONTINUOUS[k] + 1} is not a finite number")
    parts = [csr_array(numbers)]
    for column, symbols in SYMBOLIC.items():
        code = pd.Index(symbols).get_indexer(pd.Index(chunk[column])).astype(np.int32)
        if (code < 0).any():
            bad = int((code < 0).argmax())
            symbol = chunk[column].iloc[bad]
            raise DataError(f"{path}:{line + bad}: column {column + 1}: unknown symbol {symbol!r}")
        indptr = np.arange(len(code) + 1, dtype=np.int32)
        parts.append(csr_array((np.ones(len(code)), code, indptr), shape=(len(code), len(symbols))))
    joined = csr_array(hstack(parts, format="csr"))
    joined.sort_indices()
    return joined
