"""The tool-info module for BenchExec 3.x: runs cuba and reads its answers."""

import html
import os
import re

from benchexec.result import RESULT_ERROR, RESULT_FALSE_REACH, RESULT_TRUE_PROP, RESULT_UNKNOWN
from benchexec.tools.template import BaseTool2, UnsupportedFeatureException

# For each exit code: the first word of the last line of the output, and BenchExec's result.
VERDICTS = {
    0: ("safe", RESULT_TRUE_PROP),
    10: ("unsafe", RESULT_FALSE_REACH),
    5: ("unknown", RESULT_UNKNOWN),
}

# The end of a verdict with `--no-check`.
UNCHECKED = re.compile(r"; proof not checked\)|; trace not checked$")

ERRORS = {1: "usage", 2: "bad input", 6: "internal error"}

# The keys of `options` in a task definition. They have the names of options of `cuba verify`.
TASK_OPTIONS = ("instances", "threads", "label", "target")

# The number of threads of cuba that can be busy at the same time.
JOBS = 2


class Tool(BaseTool2):
    """
    cuba: context-unbounded analysis of concurrent pushdown systems and Boolean programs.

    Reads the text output. Its last line is the verdict. The output of --json would list every level, perhaps
    hundreds of thousands. cuba gets limits below those of BenchExec, unless the options have --timeout or --memory.
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
        task_options = task.options or {}
        for key in task_options:
            if key not in TASK_OPTIONS:
                raise UnsupportedFeatureException(f"the task option {key} is none of {', '.join(TASK_OPTIONS)}")
        question = [f"--{key}={value}" for key, value in task_options.items()]
        return [executable, "verify", *options, *own_limits(rlimits, options), *question, task.single_input_file]

    def determine_result(self, run):
        code = run.exit_code.value
        if code in ERRORS:
            return f"{RESULT_ERROR} ({ERRORS[code]})"
        if code not in VERDICTS:
            return RESULT_ERROR  # BenchExec adds the signal or the exit code
        word, verdict = VERDICTS[code]
        if not last_line(run.output).startswith(f"{word}: "):
            return f"{RESULT_ERROR} (exit code {code}, but not '{word}')"
        if UNCHECKED.search(last_line(run.output)):
            return RESULT_UNKNOWN  # no evidence was checked
        # For unknown, no reason is added, because BenchExec would treat it as an error. A column has it.
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
            lines = [line for line in output if line.startswith("error: ")] or [last]
            return html.escape(lines[0].partition(": ")[2], quote=False)  # tables contain it as HTML
        return None


def last_line(output):
    """The last line of the output. cuba writes to standard error, which the output includes, before the answer."""
    return output[-1] if output else ""


def own_limits(rlimits, options):
    """
    The limits for cuba, which leave enough time and memory to print `unknown` and the results so far.

    --timeout is wall time, in which two threads may use twice as much CPU time. A tenth remains for the output.
    --memory limits the tables. The evidence may need as much again.
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
