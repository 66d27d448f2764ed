"""Lines of LIBSVM's users, and mistyped commands: each is answered by what to type instead, and that can be typed."""

import shlex
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.cli import main
from fwsvm.cli._libsvm_words import PROGRAMS
from tests.cli.running import done


def answer(line: str) -> str:
    return done(*shlex.split(line), code=2).stderr.splitlines()[-1]


def ours(said: str) -> str:
    return said.partition("In the words of fwsvm: ")[2]


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("train -c 10 -g 0.5 a.svm", "fwsvm train -C 10 --gamma 0.5 --model a.svm.model a.svm"),
        ("train -c10 -g0.5 a.svm a.model", "fwsvm train -C 10 --gamma 0.5 --model a.model a.svm"),
        (
            "train -s 0 -t 1 -d 2 -r 0 a.svm",
            "fwsvm train --kernel poly --degree 2 --coef0 0 --model a.svm.model a.svm",
        ),
        ("train -v 5 -c 2 a.svm a.model", "fwsvm cv --folds 5 -C 2 a.svm"),
        (
            "train -e 0.01 -m 200 -h 0 -q a.svm",
            "fwsvm train --tol 0.01 --cache-mb 200 --model a.svm.model a.svm",
        ),
        ("train -m fw -C 3 -g 2 'a b'", "fwsvm train -m fw -C 3 --gamma 2 'a b'"),
        ("train --stop gap -v 3 a.svm", "fwsvm cv --stop gap --folds 3 a.svm"),
        ("cv -c 1 a.svm", "fwsvm cv -C 1 a.svm"),
        (
            "train -w1 5 -w-1 2 a.svm",
            "fwsvm train --class-weight 1=5 --class-weight -1=2 --model a.svm.model a.svm",
        ),
        ("train -b 1 a.svm a.model", "fwsvm train --probability --model a.model a.svm"),
        ("predict -b 1 test model out", "fwsvm predict --probability model test out"),
        ("train -t 4 a.svm a.model", "fwsvm train --kernel precomputed --model a.model a.svm"),
        ("train -w1 5 -v 5 a.svm", "fwsvm cv --class-weight 1=5 --folds 5 a.svm"),
        ("train -m 100 a.svm", "fwsvm train --cache-mb 100 --model a.svm.model a.svm"),
        ("train -h 0 a.svm", "fwsvm train --model a.svm.model a.svm"),
        ("train a.svm a.model", "fwsvm train --model a.model a.svm"),
    ],
)
def test_a_line_of_svm_train_is_said_in_our_words(line: str, same: str) -> None:
    assert ours(answer(line)) == same


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("train -s 3 a.svm", "only -s 0 (C-SVC) is supported"),
        ("train -t 3 a.svm", "the kernel of -t 3 is not supported"),
        ("train -n 0.5 a.svm", "nu-SVC and one-class SVMs are not supported"),
        ("train -v 5 a.svm", "-v is the command cv"),
    ],
)
def test_what_is_not_here_or_elsewhere_is_said(line: str, why: str) -> None:
    assert why in answer(line)


@pytest.mark.parametrize("line", ["train -s 3 a.svm", "train -s 1 -n 0.5 a.svm", "train -t 3 a.svm"])
def test_what_is_not_here_has_no_line_of_ours(line: str) -> None:
    assert ours(answer(line)) == ""


def test_who_names_the_model_first_as_we_do_is_told_it_first(tmp_path: Path) -> None:
    model, rows = tmp_path / "m", tmp_path / "rows"
    model.write_text("svm_type c_svc\n")
    rows.write_text("1 1:1\n")
    for line in (f"predict -b 1 {model} {rows} out", f"predict -b 1 {rows} {model} out"):
        assert ours(answer(line)) == f"fwsvm predict --probability {model} {rows} out"


def parses(line: str) -> None:
    """Have click read a line, without running it."""
    words = shlex.split(line)[1:]
    context = click.Context(main, info_name="fwsvm")
    command = main.get_command(context, words[0])
    assert command is not None
    command.make_context(words[0], words[1:], context)


@given(st.lists(st.sampled_from(
    ["-s 0", "-t 0", "-t 1", "-t 2", "-t 4", "-d 3", "-g 0.5", "-g0.5", "-r 1", "-c 10", "-c10", "-m 100", "-e 0.1",
     "-h 0", "-v 5", "-b 0", "-b 1", "-q", "-w1 2", "-w-1 0.5"]), unique=True), st.booleans())  # fmt: skip
def test_every_answer_is_a_line_that_can_be_typed(options: list[str], model: bool) -> None:
    line = " ".join(["train", *options, "-p 0.1", "data.svm", *(["data.model"] if model else [])])
    parses(ours(answer(line)))


def test_an_option_that_is_nobodys_stays_an_error_of_its_own() -> None:
    assert "No such option" in answer("train --x 3 a.svm")
    assert "svm-train" not in answer("train -z 3 a.svm")


@pytest.mark.parametrize(
    ("typed", "meant"), [("trian", "train"), ("predcit", "predict"), ("gird", "grid"), ("croosval", "cv")]
)
def test_a_mistyped_command_is_answered_by_the_nearest(typed: str, meant: str) -> None:
    assert answer(f"{typed} wdbc").endswith(f"No such command '{typed}'; did you mean {meant}?")


def test_a_word_near_nothing_is_no_command() -> None:
    assert answer("zzzzzz").endswith("No such command 'zzzzzz'")
    assert len(answer("x" * 5000)) < 200


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_libsvm_is_answered_by_the_command_that_does_its_work(program: str) -> None:
    said = answer(f"{program} a b")
    assert said.endswith(f"LIBSVM's {program} is `fwsvm {PROGRAMS[program]}`")
    assert main.get_command(click.Context(main), PROGRAMS[program].split()[0]) is not None
