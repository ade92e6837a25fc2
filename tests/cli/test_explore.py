"""`kameleon explore` runs a program, and writes a page for each function that it compiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.programs import COMMAND, run
from runtime.test_explorer import embedded

from kameleon.cli import explore
from kameleon.runtime import function as functions

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


def test_a_folder_that_can_t_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as end:
        explore.main(["-o", str(tmp_path / "file" / "x"), "program.py"])
    assert end.value.code == 1 and "can't be made" in capsys.readouterr().err
    assert not functions.watchers
