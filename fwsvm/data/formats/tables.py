"""Tables of delimited text by pandas: CSV files, the UCI repository's files, KDD Cup 1999 and MiniBooNE.

Every column is a number unless it is named as the label, dropped or categorical. A categorical column becomes
an indicator for each of its values.
"""

import csv
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.text_files import FormatError, open_text
from fwsvm.data.labels import of_names
from fwsvm.errors import DataError, UsageError, listed, shortened

ColumnKey = int | str
LABEL_NAMES = ("label", "labels", "class", "target", "y")

PROTOCOLS = ("icmp", "tcp", "udp")
SERVICES = tuple(
    """IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs
    exec finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4
    iso_tsap klogin kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp
    ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje shell smtp sql_net ssh sunrpc
    supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path vmnet whois""".split()  # noqa: SIM905
)
FLAGS = ("OTH", "REJ", "RSTO", "RSTOS0", "RSTR", "S0", "S1", "S2", "S3", "SF", "SH")
#: Columns of KDD Cup 1999 with symbols; 6, 11, 20, 21 are land, logged_in, is_host_login and is_guest_login.
KDD99_SYMBOLS: dict[ColumnKey, tuple[str, ...]] = {
    1: PROTOCOLS,
    2: SERVICES,
    3: FLAGS,
    **dict.fromkeys((6, 11, 20, 21), ("0", "1")),
}


def layout_of(path: Path, label: str | None = None, *, unlabelled: bool = False) -> dict[str, Any]:
    """Return the options that a user's CSV file is read with: delimiter, header and label of `read`.

    The first line is a header where some column has no number there and one in the second line. Without ``label``, the
    name of a column or its number from 1, a column called as in `LABEL_NAMES` has the labels; ``unlabelled`` files may
    lack it.

    Raises
    ------
    DataError, UsageError
        The file cannot be read, or the column of the labels is not known.
    """
    with open_text(path) as stream:
        lines = [stream.readline().decode("utf-8", "replace") for _ in range(2)]
    delimiter = max(";,\t", key=lines[0].count)
    first, second = (next(csv.reader([line], delimiter=delimiter), []) for line in lines)
    header = any(not _is_number(one) and _is_number(two) for one, two in zip(first, second, strict=False))
    if not any(map(str.strip, second)) and not any(map(_is_number, first)):
        raise DataError(f"{path} has no rows: its only line is a header")
    names = [name.strip() for name in first] if header else []
    known = f"it has {listed(names, most=40) if names else f'{len(first)} columns and no header'}"
    found: ColumnKey | None = next((name for name in names if name.lower() in LABEL_NAMES), None)
    if label is not None:
        is_place = label.isdecimal() and 1 <= int(label) <= len(first) and label not in names
        found = int(label) - 1 if is_place else label if label in names else None
    if found is None and not unlabelled:
        said = (
            "which column has the labels? Say --label NAME or its number from 1 (label= of fwsvm.data.load)"
        )
        raise UsageError(f"{path}: {said if label is None else f'there is no column {label!r}'}; {known}")
    return {"delimiter": delimiter, "header": header, "label": found}


def _is_number(word: str) -> bool:
    """Return whether a word is a number, with a decimal point or comma."""
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return True


def read(
    path: str | Path,
    *,
    delimiter: str = ",",
    header: bool = False,
    label: ColumnKey | None = -1,
    drop: Sequence[ColumnKey] = (),
    categorical: Mapping[ColumnKey, Sequence[object]] | None = None,
    comment: str = "",
    columns: Sequence[ColumnKey] = (),
    member: str = "",
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file into rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain or compressed text.
    delimiter : str
        One character, or ``whitespace``: any run of spaces and tabs.
    header : bool
        The first line names the columns.
    label : int, str or None
        The label's column: its place from 0 (from the end if negative), or its name in the header; None of rows without
        labels, which are then NaN.
    drop : sequence of int or str
        Columns to leave out.
    categorical : mapping of int or str to sequence
        Columns that become indicators of these values.
    comment : str
        Lines that start with this character are skipped.
    columns : sequence of int or str
        The features in this order; all columns but the label and those dropped if empty.
    member : str
        The file inside a zip archive.

    Returns
    -------
    table : LabelledRows
        ``X`` an ndarray, or a csr_array where columns are categorical; ``labels`` float64 where all are numbers, else
        text; ``feature_names`` from the header, where no column is categorical.
    notices : tuple of str

    Raises
    ------
    DataError
        The file cannot be read, has no such column, or a field is not what it should be: file, line and
        column are named.
    """
    import pandas as pd  # late: it takes as long to import as all else

    sep = r"\s+" if delimiter in (" ", "whitespace") else delimiter
    table = partial(_frame, path := Path(path), member, sep=sep, comment=comment or None)
    first = table(header=None, nrows=1, dtype=str, encoding_errors="replace")
    names = [str(name).strip() for name in first.iloc[0]]
    width = len(names)

    def place(key: ColumnKey) -> int:
        if isinstance(key, str) and header and key in names:
            return names.index(key)
        if isinstance(key, int) and -width <= key < width:
            return key % width
        has = listed(names, most=40) if header else f"{width} columns, counted from 0"
        raise DataError(f"{path} has no column {key!r}; it has {has}")

    label_at = None if label is None else place(label)
    symbols = {place(key): [*map(str, values)] for key, values in (categorical or {}).items()}
    left_out = {label_at, *map(place, drop)}
    used = [*map(place, columns)] or [at for at in range(width) if at not in left_out]
    numeric = [at for at in used if at not in symbols]

    def wrong(frame: Any) -> Any:
        """Return which fields are wrong, (m, columns)."""
        found = frame[sorted({*used, *([] if label_at is None else [label_at])})].isin(["", np.nan])
        found[numeric] = ~np.isfinite(frame[numeric].apply(pd.to_numeric, errors="coerce"))
        for at, values in symbols.items():
            found[at] = ~frame[at].isin(values)
        return found

    kinds: dict[int, Any] = dict.fromkeys(range(width), "category") | dict.fromkeys(numeric, "float64")
    kinds |= {at: pd.CategoricalDtype(values) for at, values in symbols.items()}
    if label_at is not None:  # categories that look like numbers become numbers: 01 and 1 would be one label
        kinds[label_at] = str
    top = {"header": 0 if header else None, "names": [*kinds]}
    try:
        frame = table(**top, dtype=kinds)
        is_wrong = bool(wrong(frame).any(axis=None))
    except ValueError:
        is_wrong = True
    if is_wrong:
        text = table(**top, dtype=str, encoding_errors="replace", skip_blank_lines=False)  # a row a line
        faults = wrong(text)[(text != "").any(axis=1)]
        found = []
        for row, at in faults[faults.any(axis=1)].idxmax(axis=1).items():
            named = f"column {at + 1}" + (f" ({shortened(names[at], 40)})" if header else "")
            why = _reason(text.loc[row, at].strip(), is_symbol=at in symbols)
            found.append((row + 1 + header, named + why))
        raise FormatError(path, *found[0], *found[1:])
    if not (m := len(frame)):
        raise DataError(f"{path} has no rows")
    X: Any = np.ascontiguousarray(frame[numeric].to_numpy(np.float64))
    if symbols:
        parts = [
            csr_array((np.ones(m), frame[at].cat.codes, np.arange(m + 1)), shape=(m, len(symbols[at])))
            if at in symbols
            else csr_array(frame[[at]].to_numpy())
            for at in used
        ]
        X = csr_array(hstack(parts, format="csr"))
    labels = np.full(m, np.nan)
    if label_at is not None:
        codes, values = pd.factorize(frame[label_at].str.strip())
        labels = of_names([*values], codes)
    return LabelledRows(
        X, labels, feature_names=tuple(names[at] for at in used if header and not symbols)
    ), ()


def _frame(path: Path, member: str, **options: Any) -> Any:
    """Return a table as pandas reads it; `DataError` where it is none, ValueError where a field is no number."""
    import pandas as pd

    how: dict[str, Any] = {"index_col": False, "na_filter": False, "skipinitialspace": True}
    if pd.__version__ < "3.1":  # it rounds numbers otherwise; later ones deprecate the option
        how["float_precision"] = "round_trip"
    try:
        with open_text(path, member) as stream, warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # pandas 4 raises ValueError at an unknown category
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(stream, **how, **options)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path} has no rows") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise DataError(f"{path}: {shortened(' '.join(str(error).split()), 200)}") from None


def _reason(word: str, *, is_symbol: bool) -> str:
    """Return what is wrong with a field, and what to do."""
    if not word:
        return " is empty or missing; fill it in, or leave out the row or the column"
    if is_symbol:
        return f": unknown value {shortened(word, 40)!r}"
    is_comma = "," in word and _is_number(word)
    remedy = "a point in place of the comma" if is_comma else "numbers, or leave out the row or the column"
    return f": '{shortened(word, 40)}' is not a finite number; write {remedy}"


def read_kdd99(path: Path, *, member: str = "") -> tuple[LabelledRows, tuple[str, ...]]:
    """Return KDD Cup 1999's records as 127 features, and the attacks' names (no final dot) as labels.

    The 34 numbers as they stand in the file, then indicators: 3 protocols; 71 services (the 66 of the 10 percent file,
    and aol, harvest, http_2784, http_8001, icmp of the full and the test file); 11 flags; two for each of four other
    columns. The papers give the number 127 and no list; this one is the only count of symbols that makes it up.
    """
    order = sorted(range(41), key=KDD99_SYMBOLS.__contains__)
    table, notices = read(path, label=41, categorical=KDD99_SYMBOLS, columns=order, member=member)
    return LabelledRows(table.X, np.char.rstrip(table.labels, ".")), notices


def read_miniboone(path: Path, *, member: str = "") -> tuple[LabelledRows, tuple[str, ...]]:
    """Return MiniBooNE's rows, and labels +1 (signal, electron neutrinos) and -1 (background).

    The first line has two counts: that many signal rows follow, then that many background rows. `DataError` where they
    are not there or do not add up.
    """
    with open_text(path, member) as stream:
        counts = stream.readline().split()
    try:
        signal, background = map(int, counts)
        rows = _frame(path, member, sep=r"\s+", header=None, skiprows=1, dtype="float64").to_numpy()
        labels = np.repeat([1.0, -1.0], [signal, background])
    except ValueError as error:
        raise DataError(f"{path}: not MiniBooNE's format: {shortened(str(error), 200)}") from None
    if len(rows) != len(labels) or not np.isfinite(rows).all():
        raise DataError(
            f"{path}: {len(rows):,} rows, not all of finite numbers or not as many as its first line says, "
            f"{len(labels):,}"
        )
    return LabelledRows(np.ascontiguousarray(rows), labels), ()
