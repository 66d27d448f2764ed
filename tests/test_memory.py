"""What is available within the limits of machine, process and cgroups, and what is refused for want of it."""

import subprocess
import sys
import textwrap

import click
import pytest
from click.testing import CliRunner

from fwsvm import _memory
from fwsvm.cli import Commands
from fwsvm.errors import DataError, UsageError

GIB = 1 << 30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return a function that writes the files by which a system tells of its memory."""
    monkeypatch.setattr(_memory, "PROCESS", tmp_path / "proc")
    monkeypatch.setattr(_memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(_memory, "_below_limits", list)

    def write(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "ascii")

    return write


def test_without_limits_it_is_what_the_machine_has_free(system):
    system({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    4096 kB\n", "proc/self/cgroup": "0::/\n"})
    assert _memory.available_bytes() == 4096 * 1024


def test_a_system_that_does_not_say_is_taken_to_have_2_gib(system):
    assert _memory.available_bytes() == 2 * GIB


def test_the_tightest_cgroup_counts_without_the_files_it_caches(system):
    system(
        {
            "proc/meminfo": f"MemAvailable: {8 * GIB // 1024} kB\n",
            "proc/self/cgroup": "0::/slice/mine\n",
            "cgroup/slice/mine/memory.max": "max\n",
            "cgroup/slice/memory.max": f"{4 * GIB}\n",
            "cgroup/slice/memory.current": f"{3 * GIB}\n",
            "cgroup/slice/memory.stat": f"anon 5\ninactive_file {GIB // 2}\nactive_file {GIB // 2}\n",
        }
    )
    assert _memory.available_bytes() == 2 * GIB


def test_the_group_of_a_container_of_version_1_stands_at_the_root(system):
    system(
        {
            "proc/meminfo": f"MemAvailable: {8 * GIB // 1024} kB\n",
            "proc/self/cgroup": "5:cpu:/\n4:memory:/docker/unseen\n",
            "cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
            "cgroup/memory/memory.usage_in_bytes": f"{GIB // 4}\n",
            "cgroup/memory/memory.stat": "total_inactive_file 0\n",
        }
    )
    assert _memory.available_bytes() == 3 * GIB // 4


def test_more_used_than_allowed_leaves_nothing(system):
    system(
        {
            "proc/self/cgroup": "0::/\n",
            "cgroup/memory.max": "1000\n",
            "cgroup/memory.current": "2000\n",
        }
    )
    assert _memory.available_bytes() == 0


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not say what addresses a process has taken"
)
def test_a_limit_on_addresses_counts_and_so_does_what_is_taken_below_it():
    script = """
        import resource
        from fwsvm._memory import available_bytes
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        before = available_bytes()
        taken = bytearray(300 << 20)
        print(before, available_bytes())
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    before, after = map(int, said.stdout.split())
    assert 300 << 20 < before < 1 << 30
    assert before - after == pytest.approx(300 << 20, rel=0.01)


def test_a_refusal_names_the_need_what_there_is_and_the_remedy(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 100 << 20)
    _memory.require(89 << 20, "the work", "do less")
    with pytest.raises(DataError, match="the work would take 91 MiB of memory; 100 MiB are available, of which fwsvm "
                                        "takes 90% at most; do less"):  # fmt: skip
        _memory.require(91 << 20, "the work", "do less", DataError)


def test_what_was_taken_before_for_the_same_work_is_not_asked_for_again(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 100 << 20)
    _memory.require(150 << 20, "the work", "do less", held=80 << 20)
    with pytest.raises(UsageError):
        _memory.require(150 << 20, "the work", "do less", held=50 << 20)


def test_memory_that_runs_out_all_the_same_is_a_sentence_at_the_command_line():
    commands = Commands()

    @click.command()
    def command():
        raise MemoryError("Unable to allocate 3.5 GiB for an array")

    commands.list_commands = lambda _: ["work"]  # type: ignore[method-assign]
    commands.get_command = lambda *_: command  # type: ignore[method-assign]
    result = CliRunner().invoke(commands, ["work"])
    assert result.exit_code == 4
    assert result.stderr.startswith("fwsvm: memory ran out (Unable to allocate 3.5 GiB for an array); ")
    assert "Traceback" not in result.stderr
