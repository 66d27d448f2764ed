"""Tables of delimited text by pandas: CSV files, the UCI repository's files, KDD Cup 1999 and MiniBooNE.

Every column is a number unless it is named as the label, dropped or categorical. A categorical column becomes
an indicator for each of its values.
"""

import csv
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.text_files import FormatError, open_text
from fwsvm.data.labels import number, of_names
from fwsvm.errors import DataError, UsageError, counted, listed, shortened

ColumnKey = int | str
LABEL_NAMES = ("label", "labels", "class", "target", "y")

SERVICES = tuple(
    """IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs
    exec finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4
    iso_tsap klogin kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp
    ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje shell smtp sql_net ssh sunrpc
    supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path vmnet whois""".split()  # noqa: SIM905
)
FLAGS = ("OTH", "REJ", "RSTO", "RSTOS0", "RSTR", "S0", "S1", "S2", "S3", "SF", "SH")
#: Columns of KDD Cup 1999 with symbols; 6, 11, 20, 21 are land, logged_in, is_host_login and is_guest_login.
KDD99_SYMBOLS = {
    1: ("icmp", "tcp", "udp"),
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
    pairs = zip_longest(first, second[: len(first)], fillvalue="0")  # where there is no second line, too
    header = any(not _is_number(one) and _is_number(two) for one, two in pairs)
    names = [name.strip() for name in first] if header else []
    if header and not names[0]:
        raise DataError(
            f"{path}: column 1 has no name; name it, or leave it out if it is pandas' index (index=False)"
        )
    places = {str(at + 1): at for at in range(len(first))}
    usual = next((name for name in names if name.lower() in LABEL_NAMES), None)
    found = usual if label is None else label if label in names else places.get(label)
    if found is None and not unlabelled:
        said = (
            "which column has the labels? Say --label NAME or its number from 1 (label= of fwsvm.data.load)"
            if label is None
            else f"there is no column {label!r}"
        )
        has = listed(names, most=40) if names else f"{counted(len(first), 'column')} and no header"
        raise UsageError(f"{path}: {said}; it has {has}")
    return {"delimiter": delimiter, "header": header, "label": found}


def _is_number(word: str) -> bool:
    """Return whether a word is a number, with a decimal point or comma."""
    return number(word.strip().replace(",", ".")) is not None


def read(
    path: Path,
    *,
    delimiter: str = ",",
    header: bool = False,
    label: ColumnKey | None = -1,
    drop: Sequence[ColumnKey] = (),
    categorical: Mapping[Any, Sequence[object]] | None = None,
    comment: str = "",
    columns: Sequence[ColumnKey] = (),
    skip: int = 0,
    member: str = "",
) -> LabelledRows:
    """Read a file into rows and labels.

    Parameters
    ----------
    path : Path
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
    skip : int
        Lines to skip at the top.
    member : str
        The file inside a zip archive.

    Returns
    -------
    LabelledRows
        ``X`` an ndarray, or a csr_array where columns are categorical; ``labels`` float64 where all are numbers, else
        text; ``feature_names`` from the header, where no column is categorical.

    Raises
    ------
    DataError
        The file cannot be read, has no such column, or a field is not what it should be: file, line and
        column are named.
    """
    import pandas as pd  # late: it takes as long to import as all else

    sep = r"\s+" if delimiter == "whitespace" else delimiter
    table = partial(_frame, path, member, sep=sep, comment=comment or None, skiprows=skip)
    first = table(header=None, nrows=1, dtype=str, encoding_errors="replace")
    names = [str(name).strip() for name in first.iloc[0]]
    columns_at = range(len(names))

    def place(key: ColumnKey) -> int:
        try:
            return names.index(key) if isinstance(key, str) else columns_at[key]
        except (ValueError, IndexError):
            has = listed(names, most=40) if header else f"{counted(len(names), 'column')}, counted from 0"
            raise DataError(f"{path} has no column {key!r}; it has {has}") from None

    labels_at = [] if label is None else [place(label)]
    symbols = {place(key): [*map(str, values)] for key, values in (categorical or {}).items()}
    used = [*map(place, columns)] or sorted({*columns_at} - {*labels_at, *map(place, drop)})
    numeric = [at for at in used if at not in symbols]
    kinds: dict[int, Any] = dict.fromkeys(columns_at, str) | dict.fromkeys(numeric, float)
    kinds |= {at: pd.CategoricalDtype(symbols[at]) for at in symbols}
    top = {"header": 0 if header else None, "names": columns_at}
    try:
        frame = table(**top, dtype=kinds)
        numbers = np.ascontiguousarray(frame[numeric].to_numpy(np.float64))
        lacking = frame[[*symbols, *labels_at]].isin(["", np.nan]).any(axis=None)
        is_right = np.isfinite(numbers).all() and not lacking
    except ValueError:
        is_right = False
    if not is_right:
        text = table(**top, dtype=str, encoding_errors="replace", skip_blank_lines=False)  # a row a line
        faults = {  # the first one of a line
            line: f"column {at + 1}{f' ({shortened(names[at], 40)})' * header}{why}"
            for line, words in enumerate(text.fillna("").to_numpy().tolist(), 1 + skip + header)
            for at in sorted({*used, *labels_at} if any(words) else (), reverse=True)
            if (why := _fault(words[at].strip(), numeric=at in numeric, symbols=symbols.get(at)))
        }
        raise FormatError(path, [*faults.items()])
    if not (m := len(frame)):
        raise DataError(f"{path} has no rows{': its only line is a header' if header else ''}")
    X: Any = numbers
    if symbols:
        X = scipy.sparse.hstack(
            [
                scipy.sparse.csr_array(
                    (np.ones(m), frame[at].cat.codes, np.arange(m + 1)), shape=(m, len(symbols[at]))
                )
                if at in symbols
                else scipy.sparse.csr_array(frame[[at]].to_numpy())
                for at in used
            ],
            format="csr",
        )
    labels = np.full(m, np.nan)
    for at in labels_at:
        codes, values = pd.factorize(frame[at].str.strip())  # text: 01 is not 1
        labels = of_names([*values], codes)
    return LabelledRows(X, labels, feature_names=tuple(names[at] for at in used if header and not symbols))


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


def _fault(word: str, *, numeric: bool, symbols: Sequence[str] | None) -> str:
    """Return what is wrong with a field, and what to do; empty where nothing is."""
    if not word:
        return " is empty or missing; fill it in, or leave out the row or the column"
    if symbols and word not in symbols:
        return f": unknown value {shortened(word, 40)!r}"
    value = number(word) if numeric else 0.0
    if value is not None and np.isfinite(value):
        return ""
    is_comma = "," in word and _is_number(word)
    remedy = "a point in place of the comma" if is_comma else "numbers, or leave out the row or the column"
    return f": '{shortened(word, 40)}' is not a finite number; write {remedy}"


def read_kdd99(path: Path, *, member: str = "") -> LabelledRows:
    """Return KDD Cup 1999's records as 127 features, and the attacks' names (no final dot) as labels.

    The 34 numbers as they stand in the file, then indicators: 3 protocols; 71 services (the 66 of the 10 percent file,
    and aol, harvest, http_2784, http_8001, icmp of the full and the test file); 11 flags; two for each of four other
    columns. The papers give the number 127 and no list; this one is the only count of symbols that makes it up.
    """
    columns = sorted(range(41), key=KDD99_SYMBOLS.__contains__)
    table = read(path, label=41, categorical=KDD99_SYMBOLS, columns=columns, member=member)
    return LabelledRows(table.X, np.char.rstrip(table.labels, "."))


def read_miniboone(path: Path, *, member: str = "") -> LabelledRows:
    """Return MiniBooNE's rows, and labels +1 (signal, electron neutrinos) and -1 (background).

    The first line has two counts: that many signal rows follow, then that many background rows. `DataError` where they
    do not add up.
    """
    with open_text(path, member) as stream:
        counts = [int(word) for word in stream.readline().split() if word.isdigit()]
    table = read(path, delimiter="whitespace", label=None, skip=1, member=member)
    if len(counts) != 2 or sum(counts) != table.rows:
        raise DataError(
            f"{path}: not MiniBooNE's format: {table.rows:,} rows, not as many as its first line says, {sum(counts):,}"
        )
    return LabelledRows(table.X, np.repeat([1.0, -1.0], counts))
