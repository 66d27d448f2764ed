"""``python -m fwsvm``."""

from fwsvm.cli import main

if __name__ == "__main__":
    main()
