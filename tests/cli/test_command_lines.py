"""Command lines that can't be met: one line on standard error says why, and the status is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from _support.commands import kameleon
from _support.common import SOURCE
from _support.programs import run

pytest.importorskip("rich", reason="the command line needs Rich")

from kameleon.cli import COMMANDS
from kameleon.cli import engines as listing
from kameleon.cli.demo import command as demo

NAMES = "tensorflow, theano, cntk, numpy, jax, torch, onnxruntime"
NUMPY = "to run on NumPy, which is always there,"
NEITHER = f"it's neither an engine ({NAMES}) nor a module that can be imported: there is no module"

# Command lines, the exit status, and all of standard error ("…" stands for any text).
NOT_UNDERSTOOD = [
    ("rnu", "kameleon: there is no command 'rnu'; did you mean 'run'? (see kameleon --help)"),
    ("zzz", "kameleon: there is no command 'zzz'; there are run, launch, check, explore, …"),
    ("--versoin", "kameleon: there is no option --versoin; did you mean '--version'? (see …)"),
    ("keras2 instal", "kameleon keras2: there is no command 'instal'; did you mean 'install'?"),
    ("cntk remove", "kameleon cntk: there is no command 'remove'; there are install, uninstall"),
    ("cntk uninstall x", "kameleon cntk uninstall: 'x' is one argument too many (see …)"),
    ("cntk install --pyton x", "…: there is no option --pyton; did you mean '--python'? (see …)"),
    ("keras2 install --form x", "…: there is no option --form; did you mean '--from'? (see …)"),
    ("keras2 install --from absent", "…: --from: 'absent' doesn't exist (see …)"),
    ("keras2 install --from afile", "…: --from: 'afile' is no folder (see …)"),
    ("tensorflow instal", "kameleon tensorflow: there is no command 'instal'; did you mean 'inst…"),
    ("tensorflow install --wheel folder", "…: --wheel: 'folder' is no file (see …)"),
    ("engines --jsn", "kameleon engines: there is no option --jsn; did you mean '--json'? (see …)"),
    ("engines all", "kameleon engines: 'all' is one argument too many (see …)"),
    ("demo --epochs 0", "kameleon demo: --epochs: takes a number of 1 or more, not '0' (see …)"),
    ("demo --epochs two", "…: --epochs: takes a number of 1 or more, not 'two' (see …)"),
    ("demo --seed -1", "kameleon demo: --seed: takes a number of 0 or more, not '-1' (see …)"),
    ("demo --seed", "kameleon demo: --seed: expected one argument (see …)"),
    ("demo --ot x", "kameleon demo: there is no option --ot; did you mean '--out'? (see …)"),
    ("run", "kameleon run: there's no program to run: name a program (see kameleon run --help)"),
    ("run -m", "kameleon run: there's no program to run: name a module behind -m (see …)"),
    ("run --", "kameleon run: there's no program to run: name a program (see …)"),
    ("run --engin numpy a.py", "…: there is no option --engin; did you mean '--engine'? (see …)"),
    ("run --engin=numpy a.py", "…: there is no option --engin; did you mean '--engine'? (see …)"),
    ("run --engine", "kameleon run: --engine: expected one argument (see …)"),
    ("run --loud a.py", "kameleon run: there is no option --loud (see kameleon run --help)"),
    ("run --as theno a.py", "…: --as: 'theno' is none of …; did you mean 'theano'? (see …)"),
    (
        "run --tensorflow installd a",
        "…: 'installd' is none of …; did you mean 'installed'? (see …)",
    ),
    ("run --tf-keras=3 a.py", "kameleon run: --tf-keras…: ignored explicit argument '3' (see …)"),
    ("run --devices 0 a.py", "…: --devices: takes a number of 1 or more, or …, not '0' (see …)"),
    ("run --devices two a.py", "…: --devices: takes a number …, not 'two' (see …)"),
    ("run --devices data= a.py", "…: --devices: takes a number …, not 'data=' (see …)"),
    ("run --devices a=0,b=2 a.py", "…: --devices: takes a number …, not 'a=0,b=2' (see …)"),
    ("profile -n x a.py", "kameleon profile: -n/--number: takes a number of 0 or more, not 'x' …"),
    ("launch a.py", "kameleon launch: the following arguments are required: --processes (see …)"),
    ("launch --processes 0 a.py", "…: --processes: takes a number of 1 or more, not '0' (see …)"),
    ("launch --processes 2", "kameleon launch: there's no program to run: name a program (see …)"),
    ("launch --proceses 2 a.py", "…: --processes …"),
    ("launch --processes 2 --patience 0 a", "…: --patience: takes a number of seconds above 0, …"),
    ("launch --processes 2 --engin x a", "…: there is no option --engin; did you mean '--engine…"),
]
FAILS = [
    ("demo --out afile/x", "kameleon demo: the folder 'afile/x' can't be made: Not a directory"),
    ("demo --out afile", "kameleon demo: the folder 'afile' can't be made: File exists"),
    ("demo --engine torhc", "…: there is no engine torhc; did you mean 'torch'?; there are: …"),
    ("demo --engine numpy,tensorfow", "…: there is no engine tensorfow; did you mean 'tensorflow…"),
    ("demo --engine ,", f"kameleon demo: no engine is named; there are: {NAMES}, or all …"),
    ("keras2 uninstall", "kameleon keras2 uninstall: There's nothing to remove: … doesn't exist"),
    ("cntk uninstall", "kameleon cntk uninstall: There's nothing to remove: … doesn't exist"),
    ("cntk install --python afile", "kameleon cntk install: afile is no Python 3.6; …"),
]  # fmt: skip
# Of programs: the arguments of `kameleon run`, what is set in the environment, and what is said.
PROGRAMS = [
    ("absent.py", {}, 2, "can't open file '…absent.py': No such file or directory"),
    ("afile/x.py", {}, 2, "can't open file '…x.py': Not a directory"),
    ("loop.py", {}, 2, "can't open file '…loop.py': Too many levels of symbolic links"),
    ("folder", {}, 1, "can't find a __main__.py in 'folder'"),
    ("empty.zip", {}, 1, "can't find a __main__.py in 'empty.zip'"),
    ("-m absent", {}, 1, "No module named absent"),
    ("-m plain.py", {}, 1, "No module named plain.py; did you mean 'plain'?"),
    ("-m .ok", {}, 1, "No module named .ok"),
    ("-m folder", {}, 1, "folder is a package without a __main__, which can't be run"),
    ("-m package", {}, 1, "package is a package without a __main__, which can't be run"),
    ("--engine tensorfow ok.py", {}, 1,
     f"--engine tensorfow can't be met: {NEITHER} 'tensorfow'; did you mean 'tensorflow'?; {NUMPY} "
     "use --engine numpy"),
    ("--devices 2 --engine torch ok.py", {}, 2, "--devices runs on JAX, not on torch"),
    ("ok.py", {"KAMELEON_AS": "theno"}, 1, "KAMELEON_AS=theno: programs know no such backend; …"),
]  # fmt: skip
# Who named an engine that there isn't, and how the last line of a program's error begins.
SOURCES = [
    ({"KERAS_BACKEND": "mxnet", "KAMELEON_ENGINE": ""}, "KERAS_BACKEND=mxnet can't be met: "
     f"{NEITHER} 'mxnet'; {NUMPY} set KERAS_BACKEND=numpy"),
    ({"KAMELEON_ENGINE": "mxnet"}, "KAMELEON_ENGINE=mxnet can't be met: "
     f"{NEITHER} 'mxnet'; {NUMPY} set KAMELEON_ENGINE=numpy"),
    ({"KAMELEON_ENGINE": ""}, '"backend": "mxnet" in …keras.json can\'t be met: '
     f"{NEITHER} 'mxnet'"),
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what command lines name, which is the present one."""
    (tmp_path / "afile").write_text("x", "utf-8")
    (tmp_path / "ok.py").write_text("from keras import backend\n", "utf-8")
    (tmp_path / "plain.py").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    for variable in ("KAMELEON_KERAS2", "KAMELEON_CNTK"):
        monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def matches(said: str, expected: str) -> bool:
    """Whether a text is the expected one, in which "…" stands for any text of one line."""
    pattern = ".*".join(map(re.escape, expected.split("…")))
    return re.fullmatch(pattern, said.removesuffix("\n")) is not None


@pytest.mark.parametrize(("line", "expected"), NOT_UNDERSTOOD, ids=[x for x, _ in NOT_UNDERSTOOD])
def test_what_is_not_understood(place: Path, line: str, expected: str) -> None:
    ended = kameleon(*line.split())
    assert (ended.status, ended.out) == (2, "")
    assert matches(ended.err, expected), ended.err


@pytest.mark.parametrize(("line", "expected"), FAILS, ids=[x for x, _ in FAILS])
def test_what_cannot_be_done(
    place: Path, line: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_require_libraries", lambda: None)
    monkeypatch.setattr(demo, "_demo_on_one", lambda *given: pytest.fail("it began to train"))
    ended = kameleon(*line.split())
    assert ended.status == 1
    assert matches(ended.err, expected), ended.err


@pytest.mark.parametrize(("line", "given", "status", "expected"), PROGRAMS)
def test_programs_that_cannot_be_run(
    place: Path, line: str, given: dict[str, str], status: int, expected: str
) -> None:
    ended = run(["-m", "kameleon", "run", *line.split()], place, {"KAMELEON_KERAS2": "", **given})
    assert (ended.returncode, ended.stdout) == (status, "")
    assert matches(ended.stderr, f"kameleon run: {expected}"), ended.stderr


@pytest.mark.parametrize("command", ["run", "explore", "profile"])
def test_the_command_that_was_given_says_it(place: Path, command: str) -> None:
    ended = run(["-m", "kameleon", command, "-m", "absent"], place, {"KAMELEON_KERAS2": ""})
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"kameleon {command}: No module named absent\n"), ended.stderr


@pytest.mark.parametrize(("given", "expected"), SOURCES)
def test_who_named_an_engine_is_said(place: Path, given: dict[str, str], expected: str) -> None:
    (place / "home").mkdir()
    (place / "home" / "keras.json").write_text('{"backend": "mxnet"}', "utf-8")
    ended = run(["-m", "kameleon", "run", "ok.py"], place, given | {"KAMELEON_KERAS2": ""})
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert matches(last, f"kameleon.errors.EngineNotFoundError: {expected}…"), ended.stderr


def test_a_call_is_named_where_a_call_chose(place: Path) -> None:
    code = "import kameleon\nkameleon.set_engine('nunpy')\n"
    ended = run(["-c", code], place, {"KAMELEON_ENGINE": ""})
    last = ended.stderr.splitlines()[-1]
    assert "the call for 'nunpy' can't be met: " in last and "did you mean 'numpy'?" in last


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is kept from root")
def test_files_without_permission(place: Path) -> None:
    (place / "ok.py").chmod(0)
    (place / "folder").chmod(0o500)
    ended = run(["-m", "kameleon", "run", "ok.py"], place)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "Permission denied" in ended.stderr
    ended = run(["-m", "kameleon", "demo", "--out", "folder/x"], place)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_each_command_helps(name: str, option: str) -> None:
    ended = kameleon(*name.split(), option)
    assert (ended.status, ended.err) == (0, "")
    assert f"usage: kameleon {name}" in ended.out and "-h, --help" in ended.out


def test_the_list_of_commands() -> None:
    for ended in (kameleon("--help"), kameleon("-h"), kameleon()):
        assert all(f"\n  {name} " in ended.out for name in COMMANDS)


def test_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kameleon", "engines", "--no-devices", "--json"]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        command, env=environment, stdout=writes, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kameleon", "engines", "--no-devices"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": str(SOURCE)}, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "kameleon engines: No space left on device\n"


@pytest.mark.parametrize("closed", ["", ">&-"])
def test_output_that_is_closed_or_takes_few_letters(tmp_path: Path, closed: str) -> None:
    line = f'"{sys.executable}" -m kameleon engines --no-devices {closed}'
    given = {"PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "ascii", "KERAS_BACKEND": "numpy"}
    done = subprocess.run(
        line, env=os.environ | given, capture_output=True, text=True, shell=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("In force: numpy \\u2013 KERAS_BACKEND=numpy\n") != bool(closed)


@pytest.mark.parametrize("columns", ["30", "80", "200", ""])
def test_paths_are_not_broken_up(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on a narrow terminal nor in a file."""
    path = f"{tmp_path}/a long folder/{'and more/' * 12}"
    row = listing.EngineRow("mine", "Mine", installed=True, error=f"OSError: {path}: not there")
    monkeypatch.setattr(listing, "rows", lambda chosen: [row])
    if not columns:
        monkeypatch.delenv("COLUMNS", raising=False)
    ended = kameleon("engines", "--no-devices", settings={"COLUMNS": columns} if columns else {})
    assert path in ended.out
