"""Writes the task definitions in tasks/ from the expected answers in models/**/*.toml: python make_tasks.py"""

import os
import tomllib
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "models"
TASKS = HERE / "tasks"


def runs():
    """Each run of each model: the name of its task, the model, and its part of the TOML."""
    for toml in sorted(MODELS.rglob("*.toml")):
        answers = tomllib.loads(toml.read_text(encoding="utf-8"))
        model = next(path for path in map(toml.with_suffix, (".cpds", ".bp")) if path.exists())
        for run in answers.pop("run", [{}]):
            run = answers | run  # entries before the runs hold for all of them
            yield task_name(toml, run), model, run


def task_name(toml, run):
    """`table2-bluetooth-1.adder-1.stopper-2`; without slashes, because all log files of BenchExec are in one folder."""
    name = "-".join(toml.relative_to(MODELS).with_suffix("").parts)
    started = run["instances"].split(",") if "instances" in run else []
    started += [f"threads={run['threads']}"] if "threads" in run else []
    return ".".join([name, *(part.replace("=", "-") for part in started)])


def tasks():
    """The text of each task definition, by file name."""
    texts = {}
    for name, model, run in runs():
        task = {
            "format_version": "2.0",
            "input_files": Path(os.path.relpath(model, TASKS)).as_posix(),
            "properties": [
                {
                    "property_file": "../unreach-call.prp",
                    "expected_verdict": {"safe": True, "unsafe": False}[run["verdict"]],
                }
            ],
        }
        options = {key: run[key] for key in ("instances", "threads") if key in run}
        if options:
            task["options"] = options
        assert f"{name}.yml" not in texts, f"two tasks have the name {name}"
        texts[f"{name}.yml"] = "# made by make_tasks.py\n" + yaml.safe_dump(task, sort_keys=False)
    return texts


def main():
    """Writes every task definition, and removes those of runs that no longer exist."""
    texts = tasks()
    TASKS.mkdir(exist_ok=True)
    for path in TASKS.glob("*.yml"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (TASKS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
