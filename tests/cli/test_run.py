"""`kameleon run`: programs see what `python script.py` lets them see, and end as they would."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from _support.originals import needs_original, needs_tensorflows_files
from _support.programs import run, run_without_original, write_small_keras

from kameleon.cli import run as runner

RUN = ("-m", "kameleon", "run")
ABOUT = """
import os, sys
print(__name__, __file__, __spec__, __cached__, __doc__, __package__, type(__builtins__))
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals(), os.getcwd())
print(__loader__.get_filename(), type(__loader__).__name__)
"""
PROGRAMS = {
    "what it sees": '"Says what it sees."' + ABOUT,
    "input": "print(input()[::-1])",
    "status": "import sys; sys.exit(7)",
    "status of None": "raise SystemExit",
    "a message as status": "import sys; sys.exit('that was it')",
    "an error": "def f(x):\n    return 1 / x\n\nf(0)\n",
    "an error from another": "try:\n    {}['a']\nexcept KeyError as e:\n"
    "    raise ValueError('b') from e\n",
    "a group of errors": "raise ExceptionGroup('both', [ValueError(1), TypeError(2)])",
    "a deep error": "def f(n):\n    return f(n - 1) if n else [][0]\n\nf(30)\n",
    "no syntax": "print(1)\nprint(2\n",
    "a stop": "import sys; sys.stdout.write('a'); raise KeyboardInterrupt",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "an abrupt end": "import os; os._exit(3)",
    "a hook for errors": "import sys\n"
    "sys.excepthook = lambda kind, error, trace: print('mine', kind, trace.tb_lineno)\n1 / 0\n",
    "at its exit": "import atexit, pickle, sys\nclass A: ...\n"
    "atexit.register(lambda: print(type(pickle.loads(pickle.dumps(A())))))\n1 / 0\n",
    "a thread that goes on": "import threading, time\n"
    "def late():\n    time.sleep(0.2); print(X)\n"
    "X = 5\nthreading.Thread(target=late).start()\n",
    "annotations": "def f(x: undefined): ...",  # our own `from __future__` stays ours
    "processes": "import multiprocessing as mp\ndef square(x):\n    return x * x\n"
    "if __name__ == '__main__':\n    with mp.get_context('spawn').Pool(1) as pool:\n"
    "        print(pool.map(square, [1, 2, 3]))\n",
    "an encoding": "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_python_would(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    encoding = "latin-1" if name == "an encoding" else "utf-8"
    (folder / "program.py").write_text(PROGRAMS[name], encoding=encoding)
    program = [os.path.join("programs", "program.py"), "--flag", "-m", "--", "a b", "--engine"]
    expected = run(program, tmp_path, stdin="hello\n")
    found = run([*RUN, *program], tmp_path, stdin="hello\n")
    assert (found.returncode, found.stdout) == (expected.returncode, expected.stdout)
    assert found.stderr == expected.stderr


def test_the_programs_end_in_different_ways(tmp_path: Path) -> None:
    statuses = {}
    for name in ("status", "a stop", "a signal", "an abrupt end", "an error"):
        (tmp_path / "program.py").write_text(PROGRAMS[name], encoding="utf-8")
        statuses[name] = run([*RUN, "program.py"], tmp_path).returncode
    assert statuses["status"] == 7 and statuses["an abrupt end"] == 3
    assert statuses["an error"] == 1
    if os.name == "posix":
        assert (statuses["a stop"], statuses["a signal"]) == (-2, -15)


def write_package(folder: Path) -> None:
    package = folder / "package" / "inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("print('package', __name__)", "utf-8")
    (package / "__init__.py").touch()
    about = "import sys; print(__name__, __file__, __spec__.name, __package__, sys.argv,"
    (package / "__main__.py").write_text(f"{about} sys.path[0])", "utf-8")
    (package / "module.py").write_text(f"{about} sys.path[0])\nsys.exit(4)", "utf-8")
    (package / "broken.py").write_text("import nothing_of_this_name", "utf-8")


@pytest.mark.parametrize("module", ["package.inner", "package.inner.module"])
def test_modules(tmp_path: Path, module: str) -> None:
    write_package(tmp_path)
    program = ["-m", module, "--flag", "-m", "x"]
    expected, found = run(program, tmp_path), run([*RUN, *program], tmp_path)
    assert (found.returncode, found.stdout) == (expected.returncode, expected.stdout)
    assert (found.returncode, found.stderr) == (4 if module.endswith("module") else 0, "")


def test_a_module_that_fails_and_one_that_is_not_there(tmp_path: Path) -> None:
    write_package(tmp_path)
    found = run([*RUN, "-m", "package.inner.broken"], tmp_path)
    assert found.returncode == 1
    assert found.stderr.endswith("No module named 'nothing_of_this_name'\n")
    assert str(Path(runner.__file__)) not in found.stderr
    for absent in ("package.absent", "absent", "absent.deeper"):
        found = run([*RUN, "-m", absent], tmp_path)
        assert (found.returncode, found.stderr) == (
            1,
            f"kameleon run: No module named {absent}\n",
        )


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_folders_and_archives(tmp_path: Path, kind: str) -> None:
    # Its own name is given in full, unlike Python does.
    about = (
        "import sys, beside, os\n"
        "print(__name__, os.path.abspath(sys.argv[0]), sys.argv[1:], sys.path[0], beside.X)"
    )
    program = "program" if kind == "folder" else "program.zip"
    if kind == "folder":
        (tmp_path / program).mkdir()
        (tmp_path / program / "__main__.py").write_text(about, "utf-8")
        (tmp_path / program / "beside.py").write_text("X = 1", "utf-8")
    else:
        with zipfile.ZipFile(tmp_path / program, "w") as archive:
            archive.writestr("__main__.py", about)
            archive.writestr("beside.py", "X = 1")
    expected, found = run([program, "a"], tmp_path), run([*RUN, program, "a"], tmp_path)
    assert expected.returncode == 0
    assert (found.returncode, found.stdout) == (0, expected.stdout), found.stderr


# The command line -----------------------------------------------------------------------------


def test_options_end_where_the_program_is_named() -> None:
    plan = runner.understand(["--tf-keras", "--engine", "torch", "a.py", "--engine", "jax"])
    assert plan == runner.Plan("a.py", False, ["--engine", "jax"], "torch", tf_keras=True)
    plan = runner.understand(["--engine=jax", "--as", "theano", "-m", "a.b", "--help", "--", "-m"])
    assert plan == runner.Plan("a.b", True, ["--help", "--", "-m"], "jax", "theano")
    plan = runner.understand(["--tf-keras=2", "a.py"])
    assert (plan.tf_keras, plan.which_keras, plan.program) == (True, "2", "a.py")
    plan = runner.understand(["--no-old-names", "--tensorflow=installed", "a.py"])
    assert plan == runner.Plan("a.py", no_old_names=True, tensorflow="installed")
    plan = runner.understand(["--keras-on", "tensorflow", "a.py"])
    assert plan == runner.Plan("a.py", keras_on="tensorflow")
    for program in ("a.py", "-a.py", "--"):
        plan = runner.understand(["--tf-keras", "--", program, "--", "-m"])
        assert plan == runner.Plan(program, arguments=["--", "-m"], tf_keras=True)


@pytest.mark.parametrize(
    "plan",
    [
        runner.Plan("a.py", False, ["--engine", "x y"], "torch", "theano", True, "2", True),
        runner.Plan("a.b", True, ["-m"], tensorflow="installed", devices="data=2", tf_keras=True),
        runner.Plan("a.py", tensorflow="original", keras_on="kameleon"),
        runner.Plan("-a.py"),
    ],
)
def test_a_plan_is_a_command_line(plan: runner.Plan) -> None:
    assert runner.understand(runner.words(plan)) == plan


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (
            "cntk",
            "--engine cntk can't be met: its library isn't installed: kameleon cntk install",
        ),
        ("nunpy", "--engine nunpy can't be met: it's neither an engine"),
    ],
)
def test_an_engine_that_is_not_there(tmp_path: Path, engine: str, said: str) -> None:
    (tmp_path / "program.py").write_text("print('began')", "utf-8")
    absent = {"KAMELEON_CNTK": str(tmp_path / "nothing")}
    found = run([*RUN, "--engine", engine, "program.py"], tmp_path, absent)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith(f"kameleon run: {said}")
    assert found.stderr.count("\n") == 1


def test_it_needs_no_library(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; print(sys.argv)", "utf-8")
    code = (
        "import sys; sys.modules['rich'] = None\n"
        "sys.argv = ['kameleon', 'run', 'program.py', 'x']\n"
        "from kameleon.cli import main; main()"
    )
    found = run(["-c", code], tmp_path)
    assert (found.returncode, found.stdout) == (0, "['program.py', 'x']\n"), found.stderr


# Keras ----------------------------------------------------------------------------------------

TELLS = """
import os, sys
import keras
from keras import backend as K
import kameleon.backend
assert K.dot is kameleon.backend.dot
print(keras.__version__, K.backend(), kameleon.backend.backend())
print(os.environ["KERAS_BACKEND"], os.environ["KAMELEON_ENGINE"])
"""
CHILD = """
import subprocess, sys
subprocess.run([sys.executable, "child.py"], check=True)
"""


@pytest.mark.parametrize("program", ["child.py", "parent.py"])
def test_a_program_and_its_children_are_hosted(tmp_path: Path, program: str) -> None:
    settings = write_small_keras(tmp_path / "original")
    (tmp_path / "child.py").write_text(TELLS, "utf-8")
    (tmp_path / "parent.py").write_text(CHILD, "utf-8")
    found = run([*RUN, "--engine", "numpy", program], tmp_path, settings)
    assert found.stdout == "2.3.1 tensorflow numpy\ntensorflow numpy\n", found.stderr


def test_an_engine_asked_for_in_the_old_way(tmp_path: Path) -> None:
    settings = write_small_keras(tmp_path / "original")
    (tmp_path / "program.py").write_text(TELLS, "utf-8")
    settings |= {"KERAS_BACKEND": "numpy", "KAMELEON_ENGINE": ""}
    found = run([*RUN, "program.py"], tmp_path, settings)
    assert found.stdout == "2.3.1 tensorflow numpy\ntensorflow numpy\n", found.stderr


def test_without_the_original(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "from keras import backend as K\nfrom keras.layers import Dense, Input\n"
        "print(K.int_shape(Dense(2)(Input((3,)))))\nimport keras.models\n",
        encoding="utf-8",
    )
    found = run_without_original(["run", "program.py"], tmp_path)
    assert (found.returncode, found.stdout) == (1, "(None, 2)\n")
    assert "keras.models is a part of the original Keras" in found.stderr.splitlines()[-1]
    assert "kameleon keras2 install" in found.stderr.splitlines()[-1]


def test_tensorflow_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys\nsys.modules['tensorflow'] = None\nfrom tensorflow import keras\n",
        encoding="utf-8",
    )
    found = run_without_original(["run", "--tensorflow", "installed", "program.py"], tmp_path)
    assert found.returncode == 1
    assert "Without KAMELEON_TENSORFLOW=installed" in found.stderr.splitlines()[-1]


TRAINS = """
import sys
import numpy as np
from {keras}.layers import Dense
from {keras}.models import Sequential

model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(1)])
model.compile("adam", "mse")
x = np.linspace(0, 1, 48).reshape(16, 3)
losses = model.fit(x, x.sum(1), epochs=5, verbose=0).history["loss"]
print(losses[-1] < losses[0], sys.modules[Dense.__module__].K.backend())
"""


@needs_original
@pytest.mark.parametrize(
    "keras", ["keras", pytest.param("tensorflow.keras", marks=needs_tensorflows_files)]
)
def test_the_original_trains(tmp_path: Path, keras: str) -> None:
    (tmp_path / "program.py").write_text(TRAINS.format(keras=keras), "utf-8")
    found = run([*RUN, "program.py"], tmp_path)
    assert (found.returncode, found.stdout) == (0, "True tensorflow\n"), found.stderr
    assert sorted(os.listdir(tmp_path / "home")) == ["keras.json"]
    assert "backend" not in (tmp_path / "home" / "keras.json").read_text("utf-8")
