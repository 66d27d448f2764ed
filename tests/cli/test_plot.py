"""``fwsvm plot``: what it draws, says and refuses, on folders as `fwsvm grid` writes them."""

from tests.cli.running import run


def test_plot_writes_every_format_and_says_what_it_wrote(folder, tmp_path):
    result = run("plot", folder, "--figure", "ranks", "-f", "svg", "-f", "pdf", "-f", "png", "-o", tmp_path)
    assert result.exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"ranks-{m}.{form}" for m in ("accuracy", "time") for form in ("pdf", "png", "svg")
    ]
    assert "critical difference" in result.output
    assert run("plot", folder, "--figure", "convergence", "-o", tmp_path).exit_code == 2


def test_measures_over_a_baseline_are_drawn_and_not_tested(folder, tmp_path):
    measure = "speedup"
    assert run("plot", folder, "--measure", measure, "-o", tmp_path).exit_code == 0
    drawn = {path.stem for path in tmp_path.iterdir()}
    assert f"series-{measure}" in drawn
    assert not any(name.startswith("ranks") for name in drawn)
    refused = run("stats", folder, "--design", "pairs", "--measure", measure)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"fwsvm: --measure {measure}: it is relative to a baseline")


def test_a_data_set_that_is_not_there_is_named_beside_one_that_is(folder, tmp_path):
    refused = run("plot", folder, "--dataset", "usps", "--dataset", "nosuch", "-o", tmp_path / "out")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("fwsvm: --dataset 'nosuch': not in these results; there are ")
    assert not (tmp_path / "out").exists()
    assert "did you mean 'usps'?" in run("plot", folder, "--dataset", "ups", "-o", tmp_path).stderr
    assert run("plot", folder, "--dataset", "usps", "--figure", "datasets", "-o", tmp_path).exit_code == 0
