"""Tells BenchExec (3.x) how to run cuba, and what its answers mean."""

import html
import os
import re

from benchexec.result import RESULT_ERROR, RESULT_FALSE_REACH, RESULT_TRUE_PROP, RESULT_UNKNOWN
from benchexec.tools.template import BaseTool2, UnsupportedFeatureException

# By exit code: the word that the last line of the output begins with, and what that is for
# BenchExec.
VERDICTS = {
    0: ("safe", RESULT_TRUE_PROP),
    10: ("unsafe", RESULT_FALSE_REACH),
    5: ("unknown", RESULT_UNKNOWN),
}

# The end of a verdict with `--no-check`.
UNCHECKED = re.compile(r"; proof not checked\)|; trace not checked$")

ERRORS = {1: "usage", 2: "bad input", 6: "internal error"}

# What a task definition may say in `options`, as `cuba verify` says it on the command line.
TASK_OPTIONS = ("instances", "threads", "label", "target")

# cuba has work for two threads.
JOBS = 2


class Tool(BaseTool2):
    """
    cuba: context-unbounded analysis of concurrent pushdown systems and Boolean programs.

    The text output is read, in which the verdict is the last line, and a trace can be read in the log. That of --json
    lists every level that was computed, which are hundreds of thousands where there is no answer.
    cuba is told to stop before BenchExec's limits, unless the options have --timeout or --memory.
    Columns: contexts, proved_by, reason.
    """

    def executable(self, tool_locator):
        return tool_locator.find_executable("cuba")

    def name(self):
        return "cuba"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="cuba ")

    def cmdline(self, executable, options, task, rlimits):
        if task.property_file and os.path.basename(task.property_file) != "unreach-call.prp":
            raise UnsupportedFeatureException(f"cuba verifies unreach-call.prp only, not {task.property_file}")
        asked = task.options or {}
        for key in asked:
            if key not in TASK_OPTIONS:
                raise UnsupportedFeatureException(f"the task option {key} is none of {', '.join(TASK_OPTIONS)}")
        question = [f"--{key}={value}" for key, value in asked.items()]
        return [executable, "verify", *options, *own_limits(rlimits, options), *question, task.single_input_file]

    def determine_result(self, run):
        code = run.exit_code.value
        if code in ERRORS:
            return f"{RESULT_ERROR} ({ERRORS[code]})"
        if code not in VERDICTS:
            return RESULT_ERROR  # BenchExec adds the signal, or the exit code
        word, verdict = VERDICTS[code]
        if not last_line(run.output).startswith(f"{word}: "):
            return f"{RESULT_ERROR} (exit code {code}, but not '{word}')"
        if UNCHECKED.search(last_line(run.output)):
            return RESULT_UNKNOWN  # no evidence was checked
        # Bare, if unknown: BenchExec takes whatever else is not a verdict for an error. The reason
        # is a column.
        return verdict

    def get_value_from_output(self, output, identifier):
        last = last_line(output)
        if identifier == "contexts":
            found = re.search(r"^unknown: safe up to (\d+) context|with (\d+) contexts?, and with no fewer", last)
            return (found[1] or found[2]) if found else ""
        if identifier == "proved_by":
            found = re.match(r"safe: .*[(; ]proved by (?:([RS]_)\d+ = |([^;]+), \d+ states?; )", last)
            return (found[2] or found[1] + "k") if found else ""
        if identifier == "reason":
            said = [line for line in output if line.startswith("error: ")] or [last]
            return html.escape(said[0].partition(": ")[2], quote=False)  # tables take it for HTML
        return None


def last_line(output):
    """The last line of what was printed. cuba writes to standard error, which is in there too, before the answer."""
    return output[-1] if output else ""


def own_limits(rlimits, options):
    """
    Limits at which cuba still has the time and the memory to say `unknown` itself, with what it knows by then.

    --timeout is wall time, in which two threads may use up twice the CPU time; a tenth is for coming to an end.
    --memory is for the tables, and evidence may take as much again.
    """
    times = []
    if rlimits.cputime:
        times.append(rlimits.cputime / min(JOBS, rlimits.cpu_cores or JOBS))
    if rlimits.walltime:
        times.append(rlimits.walltime)
    limits = {}
    if times:
        limits["--timeout"] = f"{max(1, int(0.9 * min(times)))}s"
    if rlimits.memory:
        limits["--memory"] = f"{rlimits.memory // 2}B"
    given = {option.partition("=")[0] for option in options}
    return [f"{name}={limit}" for name, limit in limits.items() if name not in given]
