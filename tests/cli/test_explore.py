"""`kameleon explore` runs a program, and writes a page for each function that it compiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run
from runtime.test_explorer import embedded

PROGRAM = """
import sys
from keras import backend as K
x = K.placeholder((2,), name='x')
f = K.function([x], [K.exp(x)], name='double/exp')
print(f([[0., 0.]])[0], f([[0., 0.]])[0], K.eval(K.zeros(1)), sys.argv[1:])
K.function([], [K.ones(3)])([])
"""


def test_a_page_for_each_function(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    line = ["explore", "-o", "pages", "program.py", "-o", "its own"]
    done = run(["-c", COMMAND, *line], tmp_path)
    assert done.stdout == "[1. 1.] [1. 1.] [0.] ['-o', 'its own']\n", done.stderr
    assert done.stderr.endswith(f"kameleon explore: 2 pages are in {tmp_path / 'pages'}\n")
    first, second = sorted((tmp_path / "pages").iterdir())
    assert [first.name, second.name] == ["001-double-exp.html", "002-K-function.html"]
    content = embedded(first.read_text("utf-8"))
    assert [b["title"] for b in content["stages"][0]["boxes"]] == ["Placeholder", "Exp"]
    assert content["places"][0][3] == "x = K.placeholder((2,), name='x')"


def test_a_program_ends_as_it_ends(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + "1 / 0\n")
    done = run(["-c", COMMAND, "explore", "program.py"], tmp_path)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert len(list((tmp_path / "explored").iterdir())) == 2


def test_a_folder_that_can_t_be_made(tmp_path: Path) -> None:
    (tmp_path / "program.py").touch()
    done = run(["-c", COMMAND, "explore", "-o", "program.py/x", "program.py"], tmp_path)
    assert done.returncode == 1 and "can't be made" in done.stderr


@pytest.mark.parametrize("command", ["explore", "profile"])
@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("absent.py", 2, "can't open file"),
        ("-m absent", 1, "No module named absent"),
        ("-m absent.py", 1, "No module named absent.py; did you mean 'absent'?"),
    ],
)
def test_a_program_that_isn_t_there(
    tmp_path: Path, command: str, line: str, status: int, told: str
) -> None:
    done = run(["-c", COMMAND, command, "-o", "pages", *line.split()], tmp_path)
    assert done.returncode == status and done.stderr.startswith(f"kameleon {command}: {told}")
    assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "pages").exists()


@pytest.mark.parametrize("command", ["explore", "profile"])
@pytest.mark.parametrize(("name", "status"), [("package.absent", 1), ("package.present", 0)])
def test_a_folder_in_which_nothing_is_goes(
    tmp_path: Path, command: str, name: str, status: int
) -> None:
    for file in ("__init__.py", "present.py"):
        (tmp_path / "package").mkdir(exist_ok=True)
        (tmp_path / "package" / file).write_text("import os; os.chdir('/')")
    (tmp_path / "there").mkdir()
    for folder, stays in (("there", True), ("there/new", False), ("new/of/three", False)):
        done = run(["-c", COMMAND, command, "-o", folder, "-m", name], tmp_path)
        assert done.returncode == status, done.stderr
        assert (f"kameleon {command}: No module named {name}" in done.stderr) == bool(status)
        assert (tmp_path / folder).exists() == stays
    assert not (tmp_path / "new").exists()


TENSORFLOW = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4], name='x')
with tf.variable_scope('layer'):
    y = tf.nn.relu(tf.matmul(x, tf.get_variable('w', [4, 3])))
step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {x: [[1.0, 2.0, 3.0, 4.0]]})
"""


@needs_tensorflows_files
def test_graphs_of_tensorflow_have_its_names_and_the_program_s_lines(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TENSORFLOW)
    line = ["explore", "--engine", "numpy", "program.py"]
    done = run(["-W", "ignore", "-c", COMMAND, *line], tmp_path, ANYWHERE)
    assert done.returncode == 0, done.stderr
    content = embedded(max((tmp_path / "explored").iterdir()).read_text("utf-8"))
    for stage in content["stages"][:2]:  # names and lines are there behind passes, too
        boxes = {box.get("name"): box for box in stage["boxes"]}
        places = {name: content["places"][box["source"]] for name, box in boxes.items()}
        assert places["layer/MatMul"][3].startswith("y = tf.nn.relu(") and places["x"][1] == 3
        gradients = {name for name, box in boxes.items() if box.get("is_gradient")}
        assert "gradients/layer/MatMul_grad/MatMul_1" in gradients and "layer/Relu" in boxes
        assert all(name.startswith("gradients/") for name in gradients)
