"""Tables of delimited text by pandas: CSV files, the UCI repository's files, KDD Cup 1999 and MiniBooNE.

Every column is a number unless it is named as the label, dropped or categorical. A categorical column becomes
an indicator for each of its values, in the order given or of first appearance.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.registry import WHITESPACE_NAMES
from fwsvm.data.formats.svmlight_errors import QUOTED, FormatError
from fwsvm.data.formats.text_files import open_text
from fwsvm.data.labels import objection, of_names
from fwsvm.errors import DataError, UsageError, clipped

ColumnKey = int | str
#: pandas before 3.1 rounds numbers otherwise; later versions deprecate the option.
EXACT: Any = {"float_precision": "round_trip"} if pd.__version__.split(".")[:2] < ["3", "1"] else {}
LABEL_NAMES = ("label", "labels", "class", "target", "y")
SNIFFED_LINES = 2

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
        lines = [stream.readline().decode("utf-8", "replace") for _ in range(SNIFFED_LINES)]
    delimiter = max(",;\t", key=lines[0].count)
    first, second = (
        next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), []) for line in lines
    )
    header = any(not _is_number(one) and _is_number(two) for one, two in zip(first, second, strict=False))
    if not any(map(str.strip, second)) and not any(map(_is_number, first)):
        raise DataError(f"{path} has no rows: its only line is a header")
    names = [name.strip() for name in first] if header else []
    found: ColumnKey | None = None
    if label is not None:
        found = _place(label, names, len(first), path, unlabelled)
    else:
        found = next((name for name in names if name.lower() in LABEL_NAMES), None)
    if found is None and not unlabelled:
        known = f"its columns are {_list(names)}" if names else f"it has {len(first)} columns and no header"
        raise UsageError(
            f"{path}: which column has the labels? Say --label NAME or its number from 1; {known}"
        )
    return {"delimiter": delimiter, "header": header, "label": found}


def _place(label: str, names: list[str], width: int, path: Path, unlabelled: bool) -> ColumnKey | None:
    """Return the column that a user names, None where a file without labels lacks it."""
    if label in names:
        return label
    if label.isdecimal() and 1 <= int(label) <= width:
        return int(label) - 1
    if unlabelled:
        return None
    raise UsageError(
        f"{path} has no column {label!r}; it has {_list(names) if names else f'{width} columns'}"
    )


def _list(names: Sequence[str]) -> str:
    return ", ".join(name[:QUOTED] for name in names[:QUOTED])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def read(
    path: str | Path,
    *,
    delimiter: str | None = ",",
    header: bool = False,
    label: ColumnKey | None = -1,
    drop: Sequence[ColumnKey] = (),
    categorical: Sequence[ColumnKey] | Mapping[ColumnKey, Sequence[object]] = (),
    comment: str = "",
    features: int | None = None,
    columns: Sequence[str] = (),
    member: str = "",
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Read a file into rows and labels.

    Parameters
    ----------
    path : str or Path
        Plain or compressed text.
    delimiter : str or None
        One character; a blank, ``whitespace`` or None stand for any run of spaces and tabs.
    header : bool
        The first line names the columns.
    label : int, str or None
        The label's column: its place from 0 (from the end if negative), or its name in the header; None of rows without
        labels, which are then NaN.
    drop : sequence of int or str
        Columns to leave out.
    categorical : sequence of int or str, or mapping of those to values
        Columns that become indicators; a mapping gives each column's values in order, which is needed where
        files that belong together are read apart.
    comment : str
        Lines that start with this character are skipped.
    features : int, optional
        The number of features there must be in the end.
    columns : sequence of str
        The features by their names, in this order; all others but the label are dropped.
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
    file = _File(
        Path(path), member, r"\s+" if delimiter in WHITESPACE_NAMES else str(delimiter), comment, header
    )
    label_at = None if label is None else file.column(label)
    wanted = categorical if isinstance(categorical, Mapping) else dict.fromkeys(categorical, ())
    symbols = {file.column(name): tuple(map(str, values)) for name, values in wanted.items()}
    left_out = {file.column(name) for name in drop} | {label_at}
    used = [file.column(name) for name in columns] or [at for at in range(file.width) if at not in left_out]
    numeric = [at for at in used if at not in symbols]
    frame = file.frame(numeric, [*symbols, *([] if label_at is None else [label_at])], label_at)
    X: Any = np.ascontiguousarray(frame[numeric].to_numpy(np.float64))
    if symbols:
        parts = {at: csr_array(frame[[at]].to_numpy(np.float64)) for at in numeric}
        parts |= {at: _indicators(file, frame[at], symbols[at], at) for at in symbols}
        X = csr_array(hstack([parts[at] for at in used], format="csr"))
    if features is not None and X.shape[1] != features:
        raise DataError(f"{path} has {X.shape[1]} features, but {features} were expected")
    labels = np.full(len(frame), np.nan) if label_at is None else _labels(file.path, frame[label_at])
    named = tuple(file.names[at] for at in used) if file.names and not symbols else ()
    return LabelledRows(X, labels, feature_names=named), ()


class _File:
    """A table: how its text is written, its columns' names, empty without a header, and how many they are."""

    def __init__(self, path: Path, member: str, sep: str, comment: str, header: bool) -> None:
        self.path, self.member, self.sep, self.comment = path, member, sep, comment
        line, first = next(self.records(), (0, []))
        if not first:
            raise DataError(f"{path} has no rows")
        self.names, self.width, self.skipped = (first if header else []), len(first), line if header else 0

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and fields of the lines that are neither empty nor comments."""
        with open_text(self.path, self.member) as stream:
            text = io.TextIOWrapper(stream, "utf-8", "replace", newline="")
            blank = self.sep == r"\s+"
            lines = csv.reader(text, delimiter=" " if blank else self.sep, skipinitialspace=True)
            for fields in lines:
                found = [word for field in fields for word in field.split()] if blank else fields
                found = [word.strip() for word in found]
                if any(found) and not (self.comment and found[0].startswith(self.comment)):
                    yield lines.line_num, found

    def column(self, name: ColumnKey) -> int:
        """Return a column's number, from 0, given its number (negative: from the end) or its name."""
        if isinstance(name, str):
            if name in self.names:
                return self.names.index(name)
            known = f"it has {_list(self.names)}" if self.names else "it is read without a header"
            raise DataError(f"{self.path} has no column {name!r}; {known}")
        if not -self.width <= name < self.width:
            raise DataError(f"{self.path} has no column {name}; it has {self.width} columns, counted from 0")
        return name % self.width

    def called(self, at: int) -> str:
        """Return what messages call a column."""
        return f"column {at + 1}" + (f" ({self.names[at][:QUOTED]})" if self.names else "")

    def frame(self, numeric: list[int], coded: list[int], label_at: int | None) -> pd.DataFrame:
        """Return columns by their places, numbers or categories; `FormatError` names the first line that is wrong."""
        kinds: dict[Any, Any] = dict.fromkeys(range(self.width + 1), "category")
        kinds |= dict.fromkeys(numeric, "float64")
        if (
            label_at is not None
        ):  # categories that look like numbers become numbers: 01 and 1 would be one label
            kinds[label_at] = str
        try:
            with open_text(self.path, self.member) as stream:
                frame: pd.DataFrame = pd.read_csv(
                    stream,
                    sep=self.sep,
                    header=None,
                    skiprows=self.skipped,
                    names=list(range(self.width + 1)),  # the last one is for fields beyond
                    index_col=False,
                    dtype=kinds,
                    comment=self.comment or None,
                    na_filter=False,
                    skipinitialspace=True,
                    **EXACT,
                )
        except UnicodeDecodeError:
            raise DataError(f"{self.path} is not UTF-8 text") from None
        except ValueError as error:
            raise self._first_fault(numeric, coded, str(error)) from None
        if not len(frame):
            raise DataError(f"{self.path} has no rows")
        if label_at is not None:
            frame[label_at] = frame[label_at].astype("category")
        whole = all((frame[at].cat.codes >= 0).all() and "" not in frame[at].cat.categories for at in coded)
        whole &= set(frame[self.width].cat.categories) <= {""}
        if not whole or not np.isfinite(frame[numeric].to_numpy()).all():
            raise self._first_fault(numeric, coded, "a field is not a finite number")
        return frame

    def _first_fault(self, numeric: list[int], coded: list[int], why: str) -> DataError:
        """Return the error of the first line with too few or many fields, or a field that is wrong."""
        for line, fields in self.records():
            if line <= self.skipped:
                continue
            if len(fields) != self.width:
                return FormatError(
                    self.path, line, f"{len(fields)} fields, but the first row has {self.width}"
                )
            for at in sorted([*numeric, *coded]):
                if at in coded and not fields[at]:
                    return FormatError(self.path, line, f"{self.called(at)} is empty")
                if at not in coded and not (_is_number(fields[at]) and math.isfinite(float(fields[at]))):
                    said = f"'{fields[at][:QUOTED]}' is not a finite number"
                    return FormatError(self.path, line, f"{self.called(at)}: {said}")
        return DataError(f"{self.path}: {clipped(' '.join(why.split()), 200)}")


def _codes(column: "pd.Series[Any]") -> tuple[np.ndarray, list[str]]:
    """Return the code of each row and the values, without blanks around them, by first appearance."""
    codes = column.cat.codes.to_numpy()
    words = [str(word).strip() for word in column.cat.categories]
    names = list(dict.fromkeys(words[code] for code in pd.unique(codes)))
    return np.array([names.index(word) if word in names else -1 for word in words])[codes], names


def _indicators(file: _File, column: "pd.Series[Any]", given: tuple[str, ...], at: int) -> csr_array:
    """Return an indicator of each value, (m, values); without ``given`` values those of the column."""
    codes, names = _codes(column)
    values = given or tuple(names)
    if unknown := next((name for name in names if name not in values), None):
        raise DataError(f"{file.path}: {file.called(at)}: unknown value {unknown[:QUOTED]!r}")
    codes = np.array([values.index(name) for name in names], np.int32)[codes]
    return csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(codes), len(values)))


def _labels(path: Path, column: "pd.Series[Any]") -> np.ndarray:
    """Return the labels: numbers where all are, else text."""
    codes, names = _codes(column)
    if wrong := next(filter(None, map(objection, names)), ""):
        raise DataError(f"{path}: {wrong}")
    return of_names(names, codes, str(path))


def read_kdd99(path: Path, *, member: str = "") -> tuple[LabelledRows, tuple[str, ...]]:
    """Return KDD Cup 1999's records as 127 features, and the attacks' names (no final dot) as labels.

    The 34 numbers as they stand in the file, then indicators: 3 protocols; 71 services (the 66 of the 10 percent file,
    and aol, harvest, http_2784, http_8001, icmp of the full and the test file); 11 flags; two for each of four other
    columns. The papers give the number 127 and no list; this one is the only count of symbols that makes it up.
    """
    table, notices = read(path, label=41, categorical=KDD99_SYMBOLS, member=member)
    numbers: list[int] = []
    symbols: list[int] = []
    for at in range(41):
        start = len(numbers) + len(symbols)
        width = len(KDD99_SYMBOLS.get(at, "1"))
        (symbols if at in KDD99_SYMBOLS else numbers).extend(range(start, start + width))
    X = csr_array(csr_array(table.X).tocsc()[:, numbers + symbols].tocsr())
    X.sort_indices()
    return LabelledRows(X, np.char.rstrip(table.labels, ".")), notices


def read_miniboone(path: Path, *, member: str = "") -> tuple[LabelledRows, tuple[str, ...]]:
    """Return MiniBooNE's rows, and labels +1 (signal, electron neutrinos) and -1 (background).

    The first line has two counts: that many signal rows follow, then that many background rows. `DataError` where they
    are not there or do not add up.
    """
    try:
        with open_text(path, member) as stream:
            signal, background = (int(word) for word in stream.readline().split())
            frame = pd.read_csv(stream, sep=r"\s+", header=None, dtype="float64", **EXACT)
        rows = frame.to_numpy()
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(
            f"{path}: not MiniBooNE's format: {clipped(' '.join(str(error).split()), 200)}"
        ) from None
    if min(signal, background) < 0 or len(rows) != signal + background or not np.isfinite(rows).all():
        raise DataError(
            f"{path}: {len(rows):,} rows, not all of finite numbers or not as many as its first line says, "
            f"{signal + background:,}"
        )
    return LabelledRows(np.ascontiguousarray(rows), np.repeat([1.0, -1.0], [signal, background])), ()
