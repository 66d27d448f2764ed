"""Cross-validation of one setting on a Dask cluster (`fwsvm cv --scheduler`)."""

from collections.abc import Iterator

from fwsvm.distributed import folds as there
from fwsvm.distributed.fit import fit, resolve
from fwsvm.distributed.machine_parts import sent
from fwsvm.experiments import accuracy, record
from fwsvm.experiments.cluster_training import Remote, data_columns, identity_columns
from fwsvm.experiments.cross_validation import Fold
from fwsvm.experiments.plan import SELECT
from fwsvm.experiments.validation import refuse_lost_class, refuse_more_folds
from fwsvm.phases import Phase, enter
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.loop import Watch


def cross_validate(
    data: Remote, settings: Settings, folds: int, watch: Watch | None = None
) -> Iterator[Fold]:
    """Train on all rows but a part and predict the part, for each part in turn; the settings' seed draws them.

    Parts are drawn in each partition by itself, class by class, so they are not those of one machine.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class has too few.
    """
    table = data.table
    refuse_more_folds(data.name, table.found.rows, folds)
    for part in range(folds):
        asked = [
            there.HeldOutPart(part, folds, (settings.seed, number)) for number in range(len(table.blocks))
        ]
        rest, started = table.without(asked), utc_now()
        refuse_lost_class(data.name, rest.found.counts.sum(axis=0), table.found.classes)
        result = fit(rest, settings, resolve(rest, settings), watch)
        words = f"fold {part} of {folds} on a cluster"
        more = identity_columns(data, settings, words) | {
            "role": SELECT,
            "fold": part,
            "started_utc": started,
        }
        columns = data_columns(data._replace(table=rest))
        if result.status is Status.INTERRUPTED:
            yield Fold(result, record.row(columns, result, **more), 0, 0)
            continue
        enter(Phase.PREDICT)
        try:
            machine = sent(table.cluster, result.model)
            answers = table.ask(there.right_of_held_out, asked, table.same(machine))
        except accuracy.UNMEASURED as error:
            result = accuracy.unmeasured(result, accuracy.TEST, error)
            yield Fold(result, record.row(columns, result, **more), 0, 0)
            continue
        right, count = sum(right for right, _ in answers), sum(count for _, count in answers)
        yield Fold(
            result, record.row(columns, result, **more, test_accuracy=right / max(1, count)), count, right
        )
