"""Programs of TensorFlow 1 and of Keras, on their own files above K: what TensorFlow 1.15 gave."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

from kameleon.compat.keras2 import location as keras

FOLDER = Path(__file__).parent / "programs"
TOPICS = sorted(path.stem for path in FOLDER.glob("*.json"))
RECORDED: dict[str, dict[str, Any]] = {
    topic: json.loads((FOLDER / f"{topic}.json").read_text("utf-8")) for topic in TOPICS
}
OF_OTHERS = {"turns_of_functions": "turns"}  # topics that run another topic's programs
PROGRAMS = [(topic, name) for topic in TOPICS for name in RECORDED[topic]]
OF_KERAS = "keras_"  # the topics of the original Keras, on its own TensorFlow backend
LONG = {"keras_files", "keras_recurrent"}  # the topics that take longest
pytestmark = needs_tensorflows_files


@cache
def computed(engine: str, topic: str) -> dict[str, Any]:
    """What the programs of a topic return on an engine, all in one process."""
    if topic.startswith(OF_KERAS) and not keras.installed():
        pytest.skip(keras.INSTALL)
    line = ["run", "--engine", engine, str(FOLDER / f"{topic}.py")]
    with tempfile.TemporaryDirectory() as folder:
        ended = run(["-W", "ignore", "-c", COMMAND, *line], Path(folder), ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def leaves(value: Any) -> list[Any]:
    """The numbers and texts in nested lists."""
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("topic", TOPICS)
def test_all_programs_are_recorded(topic: str) -> None:
    text = (FOLDER / f"{OF_OTHERS.get(topic, topic)}.py").read_text("utf-8")
    assert text.count("\n@case\n") == len(RECORDED[topic]) > 2


@pytest.mark.together("topic")
@pytest.mark.parametrize(
    ("topic", "name"),
    [
        pytest.param(*program, marks=[pytest.mark.nightly] if program[0] in LONG else [])
        for program in PROGRAMS
    ],
)
def test_numbers_are_those_of_tensorflow(topic: str, name: str) -> None:
    _check("numpy", topic, name)


@pytest.mark.nightly
@pytest.mark.together("topic")
@pytest.mark.parametrize(("topic", "name"), PROGRAMS)
def test_numbers_are_those_of_tensorflow_on_all_engines(
    engine_name: str, topic: str, name: str
) -> None:
    _check(engine_name, topic, name)


def _check(engine_name: str, topic: str, name: str) -> None:
    found, expected = leaves(computed(engine_name, topic)[name]), leaves(RECORDED[topic][name])
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, float):
            assert ours == pytest.approx(theirs, rel=2e-5, abs=1e-6, nan_ok=True)
        else:
            assert ours == theirs
