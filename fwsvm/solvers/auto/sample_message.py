"""What a result says of the sample that its machine is trained on."""

from fwsvm.solvers.auto.samples import CHOSEN_WIDTH
from fwsvm.solvers.result import Result, SampleFacts
from fwsvm.status import Status


def of_sample(sample: SampleFacts, result: Result, status: Status, refused: str, *, by_weight: bool) -> str:
    """Return in sentences of which rows the machine is, and how it was chosen.

    Parameters
    ----------
    sample : SampleFacts
    result : Result, of the sample
    status : Status, by which the trials ended
    refused : str, the error that ended them, or ''
    by_weight : bool, whether rows held out count by unequal weights
    """
    why = (
        status.sentence if status is Status.INTERRUPTED
        else f"No model of all {sample.of:,} rows was trained: {refused.rstrip('.')}." if refused
        else f"The time limit was too short for all {sample.of:,} rows."
    )  # fmt: skip
    proven = "certificate" if result.certified else "gap"
    said = (
        f"{why} The model was trained on a random sample of {sample.rows:,} rows; objective and {proven} "
        "are of the sample's problem, not of the problem on all rows."
    )
    if sample.accuracy != sample.accuracy:
        return said
    weighted = " by weight" if by_weight else ""
    width = " and gamma were" if result.settings["width_rule"] == CHOSEN_WIDTH else " was"
    return (
        f"{said} The sample size{width} chosen on {sample.held_out:,} held-out rows, of which the model predicts "
        f"{sample.accuracy:.2%} right{weighted}."
    )
