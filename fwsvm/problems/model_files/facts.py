"""What LIBSVM's and LIBLINEAR's formats have no place for: lines ``#fwsvm {json}`` after the last vector or weight.

features          number of features
classes           labels as text, where the header has codes for them
labels            {"dtype": ..., "values": [...]}: the classes in the type that predictions have
kernel, kernel_parameters, svm_predict     the kernel's own name and parameters; whether svm-predict knows it
scaling           {"interval": [0, 1], "features": [1, 3], "minimum": [...], "maximum": [...]}, features from 1
feature_names     names of the training rows' columns
zero_based        whether the training file counted its features from 0
facts             method, settings and certificate, in a line of their own
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fwsvm.errors import ModelError, UsageError, shown
from fwsvm.kernels.kernel import KERNELS, KernelFamily, family_of
from fwsvm.problems.machines import KernelModel, LinearModel
from fwsvm.scaling import Ranges

MARK = "#fwsvm "
LARGEST = 2**31 - 1  # LIBSVM and LIBLINEAR read counts, labels and indices into an int
LABEL_KINDS = "biufUTMO"


def label_codes(classes: tuple[str, ...]) -> list[int]:
    """Return the whole numbers that stand for the labels in the header: their own, or 0 to K - 1.

    >>> label_codes(("1", "-1")), label_codes(("M", "B")), label_codes(("01", "1"))
    ([1, -1], [0, 1], [0, 1])
    """
    codes = [whole_number(name) for name in classes]
    if all(code is not None and str(code) == name for code, name in zip(codes, classes, strict=True)):
        return [code for code in codes if code is not None]
    return list(range(len(classes)))


def whole_number(text: str) -> int | None:
    """Return the whole number that a text writes if it fits an int of C, or None.

    >>> whole_number("-1"), whole_number("2147483648"), whole_number("1.0")
    (-1, None, None)
    """
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isdecimal() and digits.isascii() and len(digits) <= 10):
        return None
    value = int(text)
    return value if -LARGEST - 1 <= value <= LARGEST else None


def written_family(kernel: Any) -> tuple[KernelFamily, Any]:
    """Return the family under which a kernel is written, and the kernel as one of it: LIBSVM's, where there is one."""
    family = family_of(kernel)
    if family.equal is None:
        return family, kernel
    return family_of(family.equal(kernel)), family.equal(kernel)


def fact_lines(model: KernelModel | LinearModel) -> Iterator[str]:
    """Yield the lines of facts; numbers that are not finite become null.

    Raises
    ------
    ModelError
        A fact of a type that JSON does not have.
    """
    needed: dict[str, Any] = {"classes": model.classes}
    if isinstance(model, KernelModel):
        family = family_of(model.kernel)
        own = {name: getattr(model.kernel, name) for name in family.own}
        needed["features"] = model.features
        needed |= {"kernel": family.name, "svm_predict": bool(written_family(model.kernel)[0].libsvm)}
        needed |= {"kernel_parameters": own} if own else {}
    if model.labels is not None:
        is_date = model.labels.dtype.kind == "M"
        values = model.labels.astype(str) if is_date else model.labels
        dtype = "T" if values.dtype.kind == "T" else model.labels.dtype.str
        needed["labels"] = {"dtype": dtype, "values": values}
    if model.ranges is not None:
        needed["scaling"] = {
            "interval": [model.ranges.lower, model.ranges.upper],
            "features": model.ranges.features + 1,
            "minimum": model.ranges.minimum,
            "maximum": model.ranges.maximum,
        }
    if model.feature_names:
        needed["feature_names"] = model.feature_names
    if model.zero_based is not None:
        needed["zero_based"] = model.zero_based
    for record in (needed, {"facts": model.facts} if model.facts else {}):
        if record:
            yield f"{MARK}{json.dumps(_plain(record), allow_nan=False)}\n"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
        case list() | tuple():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case str() | bool() | int() | float() | None:
            return value
    raise ModelError(f"a fact of type {type(value).__name__} cannot be written to a model file")


def parse_facts(text: str) -> dict[str, Any]:
    """Return the facts of a line after `MARK`; `ValueError` where they are not a JSON object."""
    record = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(record, dict):
        raise TypeError("they are not a JSON object")
    return record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


# The functions below read facts that a person may have edited; a `ValueError` or `TypeError` says what does not fit.


def classes_of(found: Mapping[str, Any], codes: list[int]) -> tuple[str, ...]:
    """Return the classes: those of the facts, which must fit the header's codes, else the codes."""
    if len(set(codes)) < len(codes):
        raise ValueError("the header has a label twice")
    classes = tuple(found.get("classes", map(str, codes)))
    if not all(isinstance(name, str) and name.isprintable() for name in classes):
        raise ValueError("'classes' must be printable texts")
    if len(set(classes)) < len(classes) or label_codes(classes) != codes:
        raise ValueError("'classes' does not fit the labels in the header")
    return classes


def labels_of(found: Mapping[str, Any], K: int) -> np.ndarray | None:
    """Return the classes in the type that predictions have."""
    if "labels" not in found:
        return None
    values, dtype = found["labels"]["values"], np.dtype(found["labels"]["dtype"])
    if len(values) != K or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"'labels' must have {K} values")
    if dtype.kind not in LABEL_KINDS:
        raise ValueError(f"'labels' cannot have the type {dtype}")
    return np.array(values, dtype=dtype)


def features_of(found: Mapping[str, Any], used: int) -> int:
    """Return the number of features, which is at least that of those ``used``."""
    features = found.get("features", used)
    if type(features) is not int or not used <= features < LARGEST:
        raise ValueError(f"'features' must be {used} to {LARGEST - 1}")
    return features


def names_of(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the training rows' columns."""
    names = tuple(found.get("feature_names", ()))
    if not all(isinstance(name, str) for name in names):
        raise ValueError("'feature_names' must be texts")
    return names


def base_of(found: Mapping[str, Any]) -> bool | None:
    """Return whether the training file counted its features from 0."""
    base = found.get("zero_based")
    if base not in (True, False, None):
        raise ValueError("'zero_based' must be true or false")
    return base


def ranges_of(found: Mapping[str, Any], features: int) -> Ranges | None:
    """Return the ranges that rows are scaled by."""
    if "scaling" not in found:
        return None
    told = found["scaling"]
    places = np.array(told["features"], dtype=np.int64) - 1
    minimum, maximum, interval = (
        np.array(told[name], dtype=np.float64) for name in ("minimum", "maximum", "interval")
    )
    if not (places.shape == minimum.shape == maximum.shape == (len(places),) and interval.shape == (2,)):
        raise ValueError("'scaling' has lists of unequal lengths")
    if (np.diff(places) <= 0).any() or (places < 0).any() or (places >= features).any():
        raise ValueError(f"the features of 'scaling' must increase from 1 to {features}")
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.append(maximum - minimum, interval[1] - interval[0])
    if not ((widths > 0) & np.isfinite(widths)).all():
        raise ValueError("a range of 'scaling' is empty or not finite")
    return Ranges(places, minimum, maximum, float(interval[0]), float(interval[1]))


def own_kernel(kernel: Any, family: KernelFamily, name: Any) -> Any:
    """Return a kernel of the header as one of the family that the facts name, which must be equal."""
    other = KERNELS.get(name) if isinstance(name, str) else None
    if other is family:
        return kernel
    if other is not None and other.equal is not None and set(other.parameters) <= set(kernel._fields):
        same = other.make(**{parameter: getattr(kernel, parameter) for parameter in other.parameters})
        if other.equal(same) == kernel and type(other.equal(same)) is type(kernel):
            return same
    raise UsageError(f"the kernel of the header is not the one of the facts, {shown(name)}")
