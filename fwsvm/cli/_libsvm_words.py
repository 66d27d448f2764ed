"""LIBSVM's and LIBLINEAR's programs and options, and what they are called here.

Where a command meets an option that is only svm-train's, it says what ours is and the whole line in our words.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

#: Programs of LIBSVM and of its tools, and the command that does their work.
PROGRAMS = {
    "svm-train": "train", "svm-predict": "predict", "svm-scale": "scale", "checkdata.py": "check",
    "subset.py": "subset", "easy.py": "easy", "grid.py": "easy", "liblinear-train": "train --method avsf",
}  # fmt: skip
#: What else people call a command.
OTHER_NAMES = {
    "crossval": "cv", "cross-validate": "cv", "fit": "train", "test": "predict", "classify": "predict",
    "tune": "easy", "search": "grid", "download": "data",
}  # fmt: skip
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}
VALUES = {f"-{letter}" for letter in "stdgrcnpmehbvw"}  # options with a value
RENAMED = {"-d": "--degree", "-g": "--gamma", "-r": "--coef0", "-c": "-C", "-e": "--tol", "-m": "--cache-mb"}
REASONS = {
    "-s": "only -s 0 (C-SVC) is supported, with the squared hinge and a penalised bias: choose C anew",
    "-n": "nu-SVC and one-class SVMs are not supported",
    "-p": "regression is not supported",
    "-h": "there is no shrinking option: methods leave rows out by themselves",
    "-q": "progress goes to stderr; `2>/dev/null` is quiet",
    "-e": "--tol bounds the relative duality gap, not the violation of optimality",
}


@dataclass(frozen=True)
class _Translated:
    """Words of a line in our terms, the sentences on what changed, and whether it cross-validates."""

    words: tuple[str, ...]
    sentences: tuple[str, ...]
    folds: str = ""


class LibsvmCommand(click.Command):
    """A command that knows svm-train's options, and says what they are here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; of an option that is svm-train's, and of its order of files, say our own."""
        given = list(args)
        if self.name != "predict" and (theirs := next(filter(_means_another_here, _pairs(given)), None)):
            raise click.UsageError(self.said(given, theirs[0]), ctx)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if isinstance(error, click.NoSuchOption) and _option(error.option_name):
                raise click.UsageError(self.said(given, error.option_name), ctx) from None
            files = self._files(given, cross_validates=False)
            if error.message.startswith(EXTRA_FILE) and files[:1] == ["--model"]:
                line = shlex.join(["fwsvm", "train", *self._translated(given).words, *files])
                said = f"the second file of svm-train is the model. In the words of fwsvm: {line}"
                raise click.UsageError(said, ctx) from None
            raise

    def said(self, args: Sequence[str], unknown: str) -> str:
        """Return what our words for a line are."""
        whole = self._translated(args)
        command = "cv" if whole.folds else self.name
        line = shlex.join(
            ["fwsvm", command or "", *whole.words, *self._files(args, cross_validates=bool(whole.folds))]
        )
        program = "svm-predict" if self.name == "predict" else "svm-train"
        said = f"{unknown} is {program}'s: {'; '.join(whole.sentences)}."
        return said if any(map(_is_missing, _pairs(args))) else f"{said} In the words of fwsvm: {line}"

    def _translated(self, args: Sequence[str]) -> _Translated:
        words: list[str] = []
        sentences: list[str] = []
        folds = ""
        cross_validates = any(option == "-v" for option, _ in _pairs(args))
        for option, value in _pairs(args):
            if option == "-v":
                folds = value
                words += ["--folds", value]
                sentences.append("-v is the command cv")
                continue
            if _is_file(option, args):
                continue
            if option == "-b" and value != "0" and cross_validates:
                sentences.append(NO_PROBABILITIES)
                continue
            new, sentence = self._ours(option, value)
            words += new
            if sentence and sentence not in sentences:
                sentences.append(sentence)
        return _Translated(tuple(words), tuple(sentences), folds)

    def _ours(self, option: str, value: str) -> tuple[list[str], str]:
        """Return our words for an option and its value, and what to say of it; what is ours already is left."""
        if option in {"-t", "-b", "-w"} or option.startswith("-w"):
            return self._special(option, value)
        if option in RENAMED and not (option == "-m" and not value.isdigit()):  # else -m names a method
            more = f" ({REASONS[option]})" if option in REASONS else ""
            return [RENAMED[option], value], f"{option} is {RENAMED[option]}{more}"
        if option in REASONS:
            return [], REASONS[option]
        return [word for word in (option, value) if word], ""

    def _special(self, option: str, value: str) -> tuple[list[str], str]:
        """Return the same for a kernel's number, probabilities and the weight of a class."""
        if option == "-t":
            kernel = KERNELS.get(value)
            if kernel is None:
                return [], f"the kernel of -t {value} is not supported"
            return ["--kernel", kernel], f"-t {value} is --kernel {kernel}"
        if option == "-b":
            ours = self._own("--prob")
            if value != "0" and not ours:
                return [], NO_PROBABILITIES
            return ([ours], f"-b is {ours}") if value != "0" else ([], "-b 0 is the default")
        ours, weight = self._own("--class-weight"), f"{option[2:]}={value}"
        return ([ours, weight], f"{option} is {ours} {weight}") if ours else ([], NO_WEIGHTS)

    def _files(self, args: Sequence[str], *, cross_validates: bool) -> list[str]:
        """Return the files of a line at its end; svm-train's second one is the model, and svm-predict's too.

        Without a second one svm-train names the model by the first.

        Who knows our order of predict, the model first, is told it again.
        """
        files = [option for option, _ in _pairs(args) if _is_file(option, args)]
        if self.name == "train" and len(files) in {1, 2}:
            model = files[1] if len(files) == 2 else f"{Path(files[0]).name}.model"
            return files[:1] if cross_validates else ["--model", model, files[0]]
        if (
            self.name == "predict"
            and len(files) > 1
            and not (_is_model(files[0]) and not _is_model(files[1]))
        ):
            return [files[1], files[0], *files[2:]]
        return files

    def _own(self, start: str) -> str:
        """Return the option of this command that begins so, or nothing."""
        return next((name for one in self.params for name in one.opts if name.startswith(start)), "")


EXTRA_FILE = "Got unexpected extra argument"  # as click says it
NO_PROBABILITIES = "-b (probabilities) is --probability in train and predict; cv has no such option"
NO_WEIGHTS = "-w, weights of classes, belong to training: --class-weight LABEL=W"


def _is_missing(pair: tuple[str, str]) -> bool:
    """Whether an option of svm-train with its value asks for a machine that no line of ours trains."""
    option, value = pair
    return (option == "-s" and value != "0") or (option == "-t" and value not in KERNELS)


def _option(name: str) -> bool:
    """Whether a name is an option of svm-train; -w goes with a label."""
    return name[:2] in VALUES | {"-q"} and (len(name) == 2 or name.startswith("-w"))


def _pairs(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each option of svm-train with its value, joined or not, and every other word with an empty one."""
    waiting = list(args)
    while waiting:
        word = waiting.pop(0)
        option = word if word.startswith("-w") and len(word) > 2 else word[:2]
        if not (
            word.startswith("-") and not word.startswith("--") and (option in VALUES or word.startswith("-w"))
        ):
            yield ("-q", "") if word == "-q" else (word, "")
            continue
        value = word[len(option) :]
        yield option, value or (waiting.pop(0) if waiting else "")


def _means_another_here(pair: tuple[str, str]) -> bool:
    """Whether an option with its value is svm-train's, though ours has another meaning: -m of a size, -h of 0 or 1."""
    option, value = pair
    return (option == "-m" and value.isdigit()) or (option == "-h" and value in {"0", "1"})


def _is_model(name: str) -> bool:
    """Whether a file begins as a model of LIBSVM or LIBLINEAR does."""
    try:
        with Path(name).open("rb") as file:
            return file.read(16).startswith((b"svm_type", b"solver_type"))
    except OSError:
        return False


def _is_file(word: str, args: Sequence[str]) -> bool:
    """Whether a word is a file: it is no option, and the line has none of ours, whose values look the same."""
    return not word.startswith("-") and not any(one.startswith("--") or one[:2] == "-C" for one in args)


def nearest_command(name: str, known: Sequence[str]) -> str:
    """Return what to say of a command that there is not: the nearest, or what LIBSVM's program is here."""
    from difflib import get_close_matches

    if name in PROGRAMS:
        return f"; LIBSVM's {name} is `fwsvm {PROGRAMS[name]}`"
    near = [OTHER_NAMES.get(each, each) for each in get_close_matches(name, [*known, *OTHER_NAMES], 3)]
    return f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""


Decorator = Callable[[Callable[..., Any]], LibsvmCommand]


def libsvm_command(name: str) -> Decorator:
    """Return `click.command` for a command that takes the place of svm-train or svm-predict."""
    return click.command(name, cls=LibsvmCommand)
