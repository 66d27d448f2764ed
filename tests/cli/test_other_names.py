"""What people call a command elsewhere is answered by the command, and ``--version`` by the version."""

import click
import pytest

import fwsvm
from fwsvm.cli import main
from fwsvm.cli._libsvm_words import OTHER_NAMES
from tests.cli.running import done

#: Each with the beginning of what the command says that it does.
ELSEWHERE = {
    "crossval": ("cv", "Cross-validate one setting"),
    "cross-validate": ("cv", "Cross-validate one setting"),
    "fit": ("train", "Train a model"),
    "test": ("predict", "Predict the rows"),
    "classify": ("predict", "Predict the rows"),
    "tune": ("easy", "Scale, choose C and width"),
    "search": ("grid", "Run the experiment"),
    "download": ("data", "Show, fetch"),
}


def test_all_other_names_are_tried() -> None:
    assert set(ELSEWHERE) == set(OTHER_NAMES)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_another_name_is_answered_by_the_command_that_does_it(name: str) -> None:
    command, does = ELSEWHERE[name]
    said = done(name, "wdbc", code=2).stderr.splitlines()[-1]
    assert f"No such command '{name}'; did you mean {command}" in said
    found = main.get_command(click.Context(main), command)
    assert found is not None
    assert (found.help or "").startswith(does)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_that_of_the_package(option: str) -> None:
    said = done(option)
    assert (said.stdout, said.stderr) == (f"fwsvm, version {fwsvm.__version__}\n", "")
