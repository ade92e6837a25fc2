"""Tracebacks of users' errors hold the users' own frames, and one line for all of Kameleon's."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from _support.programs import run, run_code

import kameleon
from kameleon import backend as K
from kameleon._utils.tracebacks import SWITCH, is_own
from kameleon.compat.keras2 import own_layers as layers
from kameleon.errors import ArgumentError, EngineNotFoundError, FeedError, KameleonError

SIGN = "<kameleon>"
PACKAGE = str(Path(kameleon.__file__).parent)
HERE = __file__


def raised(act: Callable[[], Any]) -> BaseException:
    """The error that a call ends with."""
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def files(error: BaseException) -> list[str]:
    """The files of a traceback, from the caller of `raised` on."""
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)][1:]


def own(error: BaseException) -> list[str]:
    steps = traceback.walk_tb(error.__traceback__)
    codes = [frame.f_code for frame, _ in steps]
    return [c.co_qualname for c in codes if is_own(c) and c.co_filename != SIGN]


def tensor(*shape: int | None) -> Any:
    return K.placeholder(shape)


def fails(*args: Any) -> Any:
    raise KeyError("of the user")


def switched(x: Any, states: Any) -> Any:
    return (x if x else states), states  # a tensor has no truth value


# Calls, and what their tracebacks hold behind the caller's frame: U is the user's, S is the sign.
CALLS: dict[str, tuple[Callable[[], Any], type[BaseException], str]] = {
    "function": (lambda: K.dot(tensor(2, 3), tensor(2, 3)), KameleonError, "US"),
    "misfit": (lambda: K.dot(tensor(2, 3)), TypeError, "U"),  # type: ignore[call-arg]
    "keyword": (lambda: K.dot(tensor(2, 3), yy=1), TypeError, "U"),  # type: ignore[call-arg]
    "absent": (lambda: K.reluu, AttributeError, "US"),  # type: ignore[attr-defined]
    "operator": (lambda: tensor(2, 3) + tensor(5, 3), KameleonError, "US"),
    "reflected": (lambda: np.ones((5, 3)) - tensor(2, 3), KameleonError, "US"),
    "matmul": (lambda: [1.0, 2.0] @ tensor(5, 3), KameleonError, "US"),
    "compared": (lambda: tensor(2, 3) < tensor(5, 3), KameleonError, "US"),
    "indexed": (lambda: tensor(2, 3)[:, 5], IndexError, "US"),
    "truth": (lambda: bool(tensor(2)), TypeError, "US"),
    "number": (lambda: float(tensor()), TypeError, "US"),
    "length": (lambda: len(tensor(None, 2)), TypeError, "US"),
    "steps": (lambda: [*tensor()], TypeError, "US"),
    "array": (lambda: np.asarray(tensor(2)), TypeError, "US"),
    "ufunc": (lambda: np.add(tensor(2), np.ones(3)), KameleonError, "US"),
    "call": (lambda: K.function([x := tensor(2)], [x])([[1.0]]), FeedError, "US"),
    "call of many": (lambda: K.function([x := tensor(2)], [x])([1, 2]), FeedError, "US"),
    "run time": (lambda: K.eval(K.gather(K.constant([1.0]), K.constant([5]))), ValueError, "US"),
    "method": (lambda: tensor(2).eval(), KameleonError, "US"),
    "session": (lambda: K.get_session().run(tensor(2)), KameleonError, "US"),
    "saved": (lambda: K.function([], [K.constant(1.0)]).save(HERE + "/x"), OSError, "US"),
    "loaded": (lambda: kameleon.load(HERE + "/x"), OSError, "US"),
    "of another kind": (lambda: kameleon.load(HERE), KameleonError, "US"),
    "setting": (lambda: K.set_floatx("float8"), KameleonError, "US"),
    "engine": (lambda: kameleon.set_engine("nunpy"), EngineNotFoundError, "US"),
    "block": (lambda: K.using_engine("nunpy").__enter__(), EngineNotFoundError, "US"),
    "compared engines": (lambda: kameleon.compare(tensor(2), engines=[]), KameleonError, "US"),
    "called": (lambda: kameleon.call(np.sort, tensor(2)), ArgumentError, "US"),
    "layer": (lambda: layers.Dense(2)(tensor(2)), KameleonError, "US"),
    "mesh": (lambda: kameleon.Distribution(devices=-1), KameleonError, "US"),
    "callback": (lambda: K.map_fn(fails, tensor(2)), KeyError, "USU"),
    "callback of numbers": (
        lambda: K.eval(kameleon.call(fails, K.constant([1.0]), like=K.constant([1.0]))),
        KeyError,
        "USU",
    ),
    "inside a callback": (
        lambda: K.map_fn(lambda row: K.dot(row, tensor(4, 2)), tensor(2, 3)), KameleonError, "UUS",
    ),
    "refused inside a callback": (
        lambda: K.rnn(switched, tensor(2, 3, 4), [tensor(2, 4)]), TypeError, "UUS",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_is_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    act, kind, expected = CALLS[name]
    error = raised(act)
    assert isinstance(error, kind), repr(error)
    assert "".join("U" if f == HERE else "S" if f == SIGN else f for f in files(error)) == expected
    text = "".join(traceback.format_exception(error))
    assert text.count(f"{SWITCH}=full") == ("S" in expected)


@pytest.mark.parametrize("name", [n for n, (_, _, shown) in CALLS.items() if "S" in shown])
def test_the_switch_shows_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "full")
    error = raised(CALLS[name][0])
    assert own(error) and SIGN not in files(error)


def test_errors_of_all_functions_of_k() -> None:
    """Whatever K refuses in words of its own."""
    x, count = K.placeholder((2, 3)), 0
    wrong = (object(), "nonsense", -7, [x, "a"], {}, K.placeholder((4, 5, 6, 7)))
    skipped = ("clear_session", "set_session", "set_engine")
    for name in K.__all__:
        function = getattr(K, name)
        if not isinstance(function, FunctionType) or name in skipped:
            continue
        needed = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        for place in range(len(needed)):
            for value in wrong:
                given = [x] * len(needed)
                given[place] = value
                try:
                    function(*given)
                except KameleonError as error:
                    count += 1
                    assert not own(error), name
                except Exception:  # in Python's or NumPy's words
                    pass
    assert count > 400


def test_faults_of_our_own_keep_their_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw is for us to mend, and its frames are what a report needs."""
    monkeypatch.setattr("kameleon.backend.linear._check_pair", None)
    error = raised(lambda: K.dot(tensor(2, 3), tensor(3, 2)))
    assert "dot" in own(error) and SIGN not in files(error)


def test_causes_stay_without_our_frames(tmp_path: Path) -> None:
    (tmp_path / "broken_backend.py").write_text("import nothing_of_this_name\n", "utf-8")
    code = (
        "try:\n    from kameleon import backend\n"
        "except ImportError as error:\n    found = error\n"
        "import traceback\n"
        "print(type(found.__cause__).__name__)\n"
        "traceback.print_exception(found)\n"
    )
    done = run_code(code, tmp_path, {"KAMELEON_ENGINE": "broken_backend"})
    assert done.stdout == "ModuleNotFoundError\n", done.stderr
    assert f'File "{tmp_path / "broken_backend.py"}", line 1' in done.stderr
    assert PACKAGE not in done.stderr


def test_an_error_raised_again_is_as_before() -> None:
    error = raised(CALLS["function"][0])

    def again() -> None:
        raise error

    assert own(raised(again)) == []
    assert files(error).count(SIGN) == 1


# Where tracebacks are read ---------------------------------------------------------------------

WRONG = "from kameleon import backend as K\nx = K.placeholder((2, 3))\n"


def frames_of(said: str) -> list[str]:
    return [line.split('"')[1] for line in said.splitlines() if line.startswith('  File "')]


def test_a_script_and_one_under_kameleon_run(tmp_path: Path) -> None:
    program = str(tmp_path / "program.py")
    Path(program).write_text(WRONG + "def f():\n    return K.dot(x, x)\nf()\n", encoding="utf-8")
    for arguments in ([program], ["-m", "kameleon", "run", program]):
        done = run(arguments, tmp_path)
        assert frames_of(done.stderr) == [program, program, SIGN], done.stderr
        assert done.stderr.splitlines()[-1].startswith("kameleon.errors.ShapeError: dot: ")


def test_the_interactive_interpreter(tmp_path: Path) -> None:
    done = run(["-i", "-q"], tmp_path, stdin=WRONG + "K.dot(x, x)\n")
    assert SIGN in frames_of(done.stderr) and PACKAGE not in done.stderr, done.stderr


def test_threads(tmp_path: Path) -> None:
    start = "import threading\nt = threading.Thread(target=lambda: K.dot(x, x))\nt.start()\n"
    done = run_code(WRONG + start, tmp_path)
    assert frames_of(done.stderr)[-2:] == ["<string>", SIGN] and PACKAGE not in done.stderr


def test_pytest(tmp_path: Path) -> None:
    text = WRONG + "def test_it():\n    K.dot(x, x)\n"
    (tmp_path / "test_wrong.py").write_text(text, encoding="utf-8")
    done = run(["-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", "."], tmp_path)
    assert "test_wrong.py:4: ShapeError" in done.stdout, done.stdout
    assert PACKAGE not in done.stdout and SIGN not in done.stdout


def test_ipython(tmp_path: Path) -> None:
    pytest.importorskip("IPython", reason="what notebooks run in")
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        f"shell.run_cell({WRONG + 'K.dot(x, x)'!r})\n"
    )
    done = run_code(code, tmp_path, {"IPYTHONDIR": str(tmp_path / "ipython")})
    assert "ShapeError: dot: axis 1" in done.stdout, done.stdout + done.stderr
    assert "K.dot(x, x)" in done.stdout and PACKAGE not in done.stdout


def test_calls_of_compiled_functions_have_no_wrapper() -> None:
    """They take microseconds: the boundary is a `try` of their own."""
    assert not hasattr(type(K.function([], [])).__call__, "__wrapped__")
