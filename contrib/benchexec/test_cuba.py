"""Tests of the BenchExec integration. They run the binary in the environment variable CUBA, or the one that cargo has built."""

import argparse
import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

import make_tasks
import pytest
from benchexec import model, result, util
from benchexec.tools.template import BaseTool2, UnsupportedFeatureException

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULE = "contrib.benchexec.cuba"
RUNS = {f"{name}.yml": expected for name, _, expected in make_tasks.runs()}

sys.path.insert(0, str(ROOT))  # BenchExec finds the module by its full name


@pytest.fixture(scope="session")
def cuba():
    """The executable, relative to the root of the repository."""
    built = [ROOT / "target" / profile / "cuba" for profile in ("debug", "release")]
    places = [Path(os.environ["CUBA"]).absolute()] if "CUBA" in os.environ else built
    found = [path for path in places if path.is_file()]
    assert found, f"there is no {' or '.join(map(str, places))}: run cargo build -p cuba-cli, or set CUBA"
    return os.path.relpath(found[0], ROOT)


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    """All commands run in the root of the repository, as in README.md."""
    monkeypatch.chdir(ROOT)


def benchmark(**limits):
    """The benchmark definition, loaded by BenchExec, perhaps with other limits."""
    keys = "timelimit walltimelimit memorylimit corelimit num_of_threads name description_file"
    keys += " results_per_rundefinition results_per_taskset selected_run_definitions selected_sourcefile_sets"
    config = argparse.Namespace(**dict.fromkeys(keys.split()), output_path="", container=False)
    vars(config).update(limits)
    return model.Benchmark("contrib/benchexec/cuba.xml", config, datetime.datetime.now())


def tool():
    """The tool-info module."""
    return model.load_tool_info(MODULE, argparse.Namespace(container=False))[1]


def run_of(code, text, signal=None):
    """A run that ended with this exit code or by this signal, with this output."""
    ended = util.ProcessExitCode.create(value=None if signal else code, signal=signal)
    return BaseTool2.Run(["cuba"], ended, BaseTool2.RunOutput(text.splitlines(keepends=True)), None)


def execute(command):
    """Runs this command. Standard output and standard error are one text, as in BenchExec."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=60, check=False
    )
    return run_of(done.returncode, done.stdout)


def command_line(options=(), task_options=None, files=("m.bp",), prop=None, **limits):
    """The command line of a task."""
    task = BaseTool2.Task.with_files(files, property_file=prop, options=task_options)
    return tool().cmdline("./cuba", list(options), task, BaseTool2.ResourceLimits(**limits))


# The tool-info module


def test_benchexec_accepts_the_module(cuba, tmp_path):
    safe = tmp_path / "safe.txt"
    safe.write_text(execute([cuba, "verify", "models/paper/fig2.cpds"]).output.text, encoding="utf-8")
    check = [sys.executable, "-m", "benchexec.test_tool_info", MODULE, "--no-container"]
    check += ["--tool-directory", os.path.dirname(cuba), "--tool-output", str(safe)]
    check += ["--task-definition", "contrib/benchexec/tasks/table2-bluetooth-1.adder-1.stopper-2.yml"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = subprocess.run(check, env=env, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    version = subprocess.check_output([cuba, "--version"], text=True).split()[1]
    command = f"['{cuba}', 'verify', '--instances=adder=1,stopper=2', 'models/table2/bluetooth-1.bp']"
    expected = ("Name of tool: “cuba”", f"Executable: “{cuba}”", f"Version: “{version}”", command, "\t“true”")
    assert [line for line in expected if line not in done.stderr] == []
    # BenchExec tries features that the module does not support.
    warnings = re.findall("WARNING: (.*?): ", done.stderr)
    unsupported = ("tasks with property file", "tasks with multiple input files", "SV-Benchmarks task")
    assert warnings == [f"Tool-info module does not support {what}" for what in unsupported], done.stderr


@pytest.mark.parametrize(
    "code, text, status, category",
    [
        (0, "safe: Z has no bad state\n", "true", "correct"),
        (0, "warning: odd\nsafe: Z has no bad state\n", "true", "correct"),
        (10, "context 1: P\n\nunsafe: it fails\n", "false(unreach-call)", "wrong"),
        (5, "unknown: safe up to 3 contexts, open beyond; it was interrupted\n", "unknown", "unknown"),
        (0, "safe: it holds (proved by Z, 8 states; proof not checked)\n", "unknown", "unknown"),
        (0, "safe: it holds (proved by Z, 8 states; proof not checked); assuming one copy\n", "unknown", "unknown"),
        (0, "safe: it holds (proved by Z, 8 states; proof checked)\n", "true", "correct"),
        (10, "unsafe: it fails with 3 contexts, and with no fewer; trace not checked\n", "unknown", "unknown"),
        (0, "unsafe: it fails\n", "ERROR (exit code 0, but not 'safe')", "error"),
        (10, "safe: Z has no bad state\n", "ERROR (exit code 10, but not 'unsafe')", "error"),
        (5, "safe: Z has no bad state\n", "ERROR (exit code 5, but not 'unknown')", "error"),
        (0, "safe: Z has no bad state\nand more\n", "ERROR (exit code 0, but not 'safe')", "error"),
        (0, "", "ERROR (exit code 0, but not 'safe')", "error"),
        (1, "safe: Z has no bad state\n", "ERROR (usage)", "error"),
        (2, "error: unknown stack symbol\n", "ERROR (bad input)", "error"),
        (6, "error: this is a mistake in cuba itself\n", "ERROR (internal error)", "error"),
        (101, "safe: Z has no bad state\n", "ERROR (101)", "error"),
    ],
)
def test_a_verdict_needs_the_exit_code_and_the_last_line(code, text, status, category):
    assert status_and_category(run_of(code, text)) == (status, category)


@pytest.mark.parametrize("text", ["", "safe: Z has no bad state\n"])
@pytest.mark.parametrize(
    "signal, reason, status",
    [
        (6, None, "ABORTED"),
        (11, None, "SEGMENTATION FAULT"),
        (9, None, "KILLED BY SIGNAL 9"),
        (9, "cputime", "TIMEOUT"),
        (9, "walltime", "TIMEOUT"),
        (9, "memory", "OUT OF MEMORY"),
    ],
)
def test_output_before_a_signal_does_not_count(signal, reason, status, text):
    assert status_and_category(run_of(None, text, signal), reason) == (status, "error")


def test_an_answer_after_the_limit_is_a_timeout():
    assert status_and_category(run_of(5, "unknown: it was interrupted\n"), "cputime-soft") == ("TIMEOUT", "error")
    assert status_and_category(run_of(0, "safe: just so\n"), "cputime-soft") == ("TIMEOUT (true)", "error")


def status_and_category(run, reason=None):
    """The status and category of a run of a safe task. BenchExec may have ended it for a reason."""
    task = benchmark().run_sets[0].runs[0]
    task.expected_results = dict.fromkeys(task.expected_results, result.ExpectedResult(True, None))
    task._cmdline = run.cmdline
    status = task._analyze_result(run.exit_code, run.output, reason)
    return status, result.get_result_category(task.expected_results, status, task.properties)


BROKEN = "shared 0\ninit 0|a\nthread P {\n  symbols a\n  (0,b) -> (0,a)\n}\n"


@pytest.mark.parametrize(
    "text, options, status, reason",
    [
        (BROKEN, [], "ERROR (bad input)", "unknown stack symbol `b`"),
        (None, [], "ERROR (bad input)", "there is no file"),
        (BROKEN, ["--unheard-of"], "ERROR (usage)", "unexpected argument '--unheard-of' found"),
        (BROKEN.replace("(0,b)", "(0,a)"), [], "ERROR (usage)", "names no bad state"),
    ],
)
def test_bad_input_is_an_error_with_its_reason(cuba, tmp_path, text, options, status, reason):
    file = tmp_path / "model.cpds"
    if text:
        file.write_text(text)
    run = execute([cuba, "verify", *options, str(file)])
    assert tool().determine_result(run) == status
    assert reason in tool().get_value_from_output(run.output, "reason"), run.output


def test_limits_are_set_below_those_of_benchexec():
    assert command_line() == ["./cuba", "verify", "m.bp"]
    assert command_line(cputime=60)[2:-1] == ["--timeout=27s"]
    assert command_line(cputime=60, cpu_cores=8)[2:-1] == ["--timeout=27s"]
    assert command_line(cputime=60, cpu_cores=1)[2:-1] == ["--timeout=54s"]
    assert command_line(cputime=60, walltime=20)[2:-1] == ["--timeout=18s"]
    assert command_line(walltime=1)[2:-1] == ["--timeout=1s"]
    assert command_line(memory=2 * 10**9)[2:-1] == ["--memory=1000000000B"]


@pytest.mark.parametrize("given", [["--timeout=9s", "--memory=1G"], ["--timeout", "9s", "--memory", "1G"]])
def test_limits_of_the_user_replace_the_computed_ones(given):
    assert command_line(given, cputime=60, memory=10**9)[2:-1] == given


def test_task_options_become_command_line_options():
    task_options = {"instances": "f=1,g=2", "threads": 2}
    line = command_line(["--engine", "symbolic"], task_options, prop="somewhere/unreach-call.prp")
    assert line == ["./cuba", "verify", "--engine", "symbolic", "--instances=f=1,g=2", "--threads=2", "m.bp"]
    assert command_line(task_options={"label": "f:L", "target": "x|*"})[2:-1] == ["--label=f:L", "--target=x|*"]


@pytest.mark.parametrize("what", [{"task_options": {"language": "C"}}, {"prop": "termination.prp"}, {"files": ["a", "b"]}])
def test_unsupported_tasks_are_refused(what):
    with pytest.raises(UnsupportedFeatureException):
        command_line(**what)


def test_cuba_has_every_task_option(cuba, tmp_path):
    program = tmp_path / "any.bp"
    program.write_text("decl x;\nvoid main() begin\nL: x := 1;\n   thread_create(&main);\n   assert(!x);\nend\n")
    for task_options, status in [
        ({"threads": 1}, "false(unreach-call)"),
        ({"threads": 1, "label": "main:L"}, "false(unreach-call)"),
        ({"threads": 1, "target": "!x & x|*,*"}, "true"),
        ({"instances": "main=2", "threads": 1}, "false(unreach-call)"),
    ]:
        task = BaseTool2.Task.with_files([str(program)], options=task_options)
        run = execute(tool().cmdline(cuba, [], task, BaseTool2.ResourceLimits()))
        assert tool().determine_result(run) == status, f"{task_options}\n{run.output}"


def test_columns():
    def values(text):
        output = run_of(0, text).output
        return [tool().get_value_from_output(output, column) for column in ("contexts", "proved_by", "reason")]

    assert values("unsafe: `assert(a < b)` fails with 1 context, and with no fewer\n") == [
        "1", "", "`assert(a &lt; b)` fails with 1 context, and with no fewer",
    ]
    assert values("unknown: safe up to 4 contexts; with 5 contexts a bad state is reachable, but\n")[:2] == ["4", ""]
    assert values("") == ["", "", ""]
    assert tool().get_value_from_output(run_of(0, "safe: so\n").output, "no such column") is None


# The tasks


def test_the_task_definitions_match_the_models():
    written = {path.name: path.read_text(encoding="utf-8") for path in make_tasks.TASKS.iterdir()}
    assert written == make_tasks.tasks(), "run contrib/benchexec/make_tasks.py"


def test_the_benchmark_has_every_task():
    loaded = benchmark()
    assert loaded.rlimits == BaseTool2.ResourceLimits(60, 60, None, 2 * 10**9, 2)
    (run_set,) = loaded.run_sets
    assert [os.path.basename(run.identifier) for run in run_set.runs] == sorted(RUNS)
    for run in run_set.runs:
        expected = RUNS[os.path.basename(run.identifier)]
        (verdict,) = run.expected_results.values()
        assert verdict == result.ExpectedResult(expected["verdict"] == "safe", None)
        options = {key: expected[key] for key in ("instances", "threads") if key in expected}
        assert (run.task_options or {}) == options
        (prop,) = run.properties
        assert (prop.name, prop.is_svcomp) == ("unreach-call", True)


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_answer_is_correct(name, cuba):
    expected = RUNS[name]
    loaded = benchmark(timelimit="3s" if "undecided" in expected else None)  # cuba then stops after a second
    loaded.executable = cuba
    (task,) = [run for run in loaded.run_sets[0].runs if os.path.basename(run.identifier) == name]
    run = execute(task.cmdline())
    status = tool().determine_result(run)
    category = result.get_result_category(task.expected_results, status, task.properties)
    assert category == ("unknown" if "undecided" in expected else "correct"), f"{status}\n{run.output}"
    assert tool().get_value_from_output(run.output, "proved_by") == expected.get("proved_by", "")
    contexts = tool().get_value_from_output(run.output, "contexts")
    if "undecided" in expected:
        assert int(contexts) > 0  # safe up to this number
    else:
        assert contexts == str(expected.get("contexts", ""))
