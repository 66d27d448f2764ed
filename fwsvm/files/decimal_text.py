"""Numbers as the files write them."""


def shortest(value: float) -> str:
    """Return the shortest text that reads as the same double.

    >>> shortest(1.0), shortest(0.1), shortest(1e300)
    ('1', '0.1', '1e+300')
    """
    return repr(value).removesuffix(".0")
