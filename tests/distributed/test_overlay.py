"""What is written aside is found again, and what is there for all stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# By name: what a process does with files in its working folder, and what it then sees; there are
# `kept` (which says "old"), and a folder `around` with `inner` in it.
PROGRAMS = {
    "new": ("open('new', 'w').write('1')", "open('new').read()", "1"),
    "replaced": ("open('kept', 'w').write('1')", "open('kept').read()", "1"),
    "appended": ("open('kept', 'a').write('1')", "open('kept').read()", "old1"),
    "changed": ("f = open('kept', 'r+'); f.write('O'); f.close()", "open('kept').read()", "Old"),
    "descriptors": (
        "d = os.open('kept', os.O_WRONLY | os.O_TRUNC); os.write(d, b'1'); os.close(d)",
        "open('kept').read()",
        "1",
    ),
    "paths": (
        "Path('new').write_text('1')",
        "Path('new').exists(), Path('kept').read_text()",
        None,
    ),
    "removed": ("os.remove('kept')", "os.path.exists('kept'), sorted(os.listdir())", None),
    "removed twice": (
        "os.remove('kept'); os.path.lexists('kept')",
        "sorted(os.listdir('.'))",
        None,
    ),
    "made again": (
        "os.remove('kept'); open('kept', 'w').close()",
        "os.path.getsize('kept'), sorted(os.listdir())",
        None,
    ),
    "folders": (
        "os.makedirs('a/b'); open('a/b/c', 'w').close()",
        "sorted((top, sorted(a), sorted(b)) for top, a, b in os.walk('.'))",
        None,
    ),
    "empty folders": ("os.mkdir('a')", "os.listdir('a'), glob.glob('a/*')", None),
    "a folder's files": (
        "open('around/more', 'w').close()",
        "sorted(os.listdir('around')), sorted(glob.glob('around/*'))",
        None,
    ),
    "trees": ("shutil.rmtree('around')", "os.path.isdir('around'), sorted(os.listdir())", None),
    "trees again": (
        "shutil.rmtree('around'); os.mkdir('around')",
        "os.listdir('around'), sorted(os.listdir())",
        None,
    ),
    "renamed": ("os.rename('kept', 'other')", "open('other').read(), sorted(os.listdir())", None),
    "renamed over": (
        "open('new', 'w').write('1'); os.replace('new', 'kept')",
        "open('kept').read(), sorted(os.listdir())",
        None,
    ),
    "renamed folders": (
        "os.rename('around', 'moved')",
        "os.listdir('moved'), open('moved/inner').read(), os.path.exists('around')",
        None,
    ),
    "copied": ("shutil.copy('kept', 'around/copy')", "open('around/copy').read()", "old"),
    "links": ("os.symlink('kept', 'link')", "os.path.islink('link'), open('link').read()", None),
    "arrays": ("np.save('a', np.arange(3))", "np.load('a.npy').tolist()", None),
    "hdf5": (
        "f = h5py.File('a.h5', 'w'); f['x'] = [1, 2]; f.close()",
        "h5py.is_hdf5('a.h5'), h5py.File('a.h5', 'r')['x'][:].tolist()",
        None,
    ),
    "hdf5 appended": (
        "h5py.File('a.h5', 'w').close(); f = h5py.File('a.h5', mode='a'); f['x'] = 1; f.close()",
        "list(h5py.File('a.h5'))",
        None,
    ),
    "temporary": (
        "t = tempfile.mkdtemp(dir='.'); open(t + '/x', 'w').close()",
        "[os.listdir(t)]",
        None,
    ),
    "temporary files": (
        "t = tempfile.NamedTemporaryFile('w+', dir='.'); t.write('1'); t.flush()",
        "open(t.name).read()",
        "1",
    ),
}
# Does all of them, each in a folder of its own, and prints what they see.
RUN = """
import glob, json, os, shutil, sys, tempfile
from pathlib import Path
import numpy as np
programs, own = json.loads(sys.argv[1]), sys.argv[2]
if own:
    from kameleon.distributed import overlay
    overlay.begin(own)
import h5py
seen, home = {}, os.getcwd()
for name, (work, look, _) in programs.items():
    os.chdir(os.path.join(home, name))
    names = dict(globals())
    exec(work, names)
    seen[name] = eval(look, names)
print(json.dumps(seen))
"""


def _tree(folder: Path) -> dict[str, Any]:
    paths = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By program, what it sees where it writes files, and where it writes them aside."""
    pytest.importorskip("h5py", reason="writes HDF5 files")
    found = []
    for kind in ("alone", "aside"):
        home, own = tmp_path_factory.mktemp(kind), tmp_path_factory.mktemp("own")
        for name in PROGRAMS:
            (home / name / "around").mkdir(parents=True)
            (home / name / "kept").write_text("old")
            (home / name / "around" / "inner").write_text("inside")
        before = _tree(home)
        told = [json.dumps(PROGRAMS), str(own) * (kind == "aside")]
        line = [sys.executable, "-W", "ignore", "-c", RUN, *told]
        done = subprocess.run(line, capture_output=True, text=True, cwd=home, env=os.environ)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
        assert (_tree(home) == before) == (kind == "aside")
    return {name: (found[0][name], found[1][name]) for name in PROGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_sees_what_it_writes_and_others_do_not(name: str, seen: dict[str, Any]) -> None:
    alone, aside = seen[name]
    assert aside == alone
    want = PROGRAMS[name][2]
    assert want is None or aside == want


def test_what_the_first_process_has_done_already_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "made").mkdir()
    program = """
import os, sys
from kameleon.distributed import overlay
overlay.begin(sys.argv[1])
os.remove('gone'), os.mkdir('made'), open('made/x', 'x').close()
"""
    line = [sys.executable, "-c", program, str(tmp_path / "own")]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "made" / "x").exists()


def test_lines_of_the_first_process_are_not_written_behind(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    program = """
import sys
from kameleon.distributed import overlay
overlay.begin(sys.argv[1])
import subprocess
# The first process is ahead of this one.
subprocess.run([sys.executable, '-c', "open('log', 'a').write('line ')"], check=True)
for line in ('line ', 'another'):
    with open('log', 'a') as file:
        file.write(line)
assert open('log').read() == 'line another', open('log').read()
"""
    line = [sys.executable, "-c", program, str(tmp_path / "own")]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text() == "line "


@pytest.mark.parametrize("moment", ["copyfile", "copystat"])
def test_a_file_that_goes_while_it_is_copied_is_not_there(moment: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "notes").write_text("old")
    program = f"""
import os, shutil, subprocess, sys
from kameleon.distributed import overlay
overlay.begin(sys.argv[1])
ask = shutil.{moment}
def gone(*args, **options):
    subprocess.run(['rm', '-f', os.path.abspath('notes')], check=True)
    return ask(*args, **options)
shutil.{moment} = gone
with open('notes', 'a') as file:
    file.write('new')
assert open('notes').read() == 'new', open('notes').read()
"""
    line = [sys.executable, "-c", program, str(tmp_path / "own")]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
