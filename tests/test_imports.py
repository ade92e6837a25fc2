"""Imports point one way, cost little, and leave no trace but keras.json."""

from __future__ import annotations

import json
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from _support.common import PACKAGE, run_python
from _support.import_graph import FILES, MODULES, Import, inner, outer

# --- the graph of imports -----------------------------------------------------------------------

# The layers, lowest first: a module imports from layers below its own, or from its own part. Where
# a part lies within another one, the longest name counts.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("_utils.private", "_utils.machines", "_utils.suggestions", "_utils.tables"),
    ("_utils.reports", "_utils.tracebacks"),
    ("_utils.scopes",),
    ("_utils.locks",),
    ("_utils.threads",),
    ("_utils.files", "_utils.random_state"),
    ("_utils.checksums",),
    ("_utils",),
    ("config",),
    ("graph.ir",),
    ("graph.primitives",),
    ("graph.gradients",),
    ("graph.analysis",),
    ("graph.passes",),
    ("graph",),
    ("engines._kernels",),
    ("engines._codegen",),
    ("engines",),
    ("runtime.calls",),
    ("runtime",),
    ("backend",),
    ("distributed",),
    ("testing",),
    ("compat.keras2",),
    ("compat.legacy",),
    ("compat.theano", "compat.tensorflow"),
    ("compat.undocumented", "compat.keras2.own_layers", "compat.keras2.hosted"),
    ("compat.imports",),
    ("compat",),
    ("as_keras",),
    ("cli",),
    ("__main__",),
)
LAYER = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# What one meets first.
ENTRIES = {part.split(".")[0] for part in LAYER}
# Parts that may ask the package itself, which announces the version.
ABOVE_ALL = {"", "cli", "__main__"}
# Parts that may see less than all below them.
NARROW = {
    "graph.ir": {"errors", "_utils"},
    "engines._kernels": {"errors", "_utils", "graph.primitives"},
    "engines._codegen": {"errors", "_utils", "graph", "engines._kernels"},
    "engines": {"errors", "_utils", "config", "graph", "engines"},
    "compat.keras2": {"errors", "_utils", "config"},  # Keras waits, half loaded
    "compat.legacy": {"errors", "_utils", "config", "compat.keras2"},
}


def part_of(module: str) -> str:
    """The part of the package that a module belongs to; the package itself is ''."""
    words = module.split(".")[1:]
    parts = (".".join(words[:count]) for count in range(len(words), 0, -1))
    return next((part for part in parts if part in LAYER), ".".join(words))


def test_every_module_has_a_layer() -> None:
    assert {part_of(name) for name in MODULES} - {""} <= set(LAYER)


def test_what_one_meets_first_is_little() -> None:
    """Twelve entries, and what Python asks of a command's package."""
    found = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or any(path.rglob("*.py")))
    there = {path.stem for path in found}
    assert there - {"__init__", "__pycache__"} == ENTRIES
    assert len(ENTRIES - {"__main__"}) == 12


def test_there_are_imports_to_check() -> None:
    assert len(inner()) > 50, "the parser of imports sees nothing"


def test_imports_point_one_way() -> None:
    def is_wrong(found: Import) -> bool:
        mine, other = part_of(found.importer), part_of(found.imported)
        if mine in ("", other):
            return False
        return mine not in ABOVE_ALL if other == "" else LAYER[other] >= LAYER[mine]

    assert not [str(found) for found in inner() if is_wrong(found)]


def test_narrow_parts_see_only_what_they_may() -> None:
    wrong = [
        str(found)
        for found in inner()
        for mine, other in [(part_of(found.importer), part_of(found.imported))]
        if mine in NARROW
        and not any(f"{other}.".startswith(f"{part}.") for part in (mine, *NARROW[mine]))
    ]
    assert not wrong


def test_engines_import_the_embedded_one_at_most() -> None:
    def engine(module: str) -> str:
        return (module + "...").split(".")[2]

    wrong = [
        str(found)
        for found in inner()
        if part_of(found.importer) == part_of(found.imported) == "engines"
        and engine(found.importer)
        and engine(found.imported) not in {"", "numpy", engine(found.importer)}
        and not engine(found.imported).startswith("_")
    ]
    assert not wrong


def test_no_two_files_need_each_other() -> None:
    """Not even late, or for types alone: whoever reads one needn't have read the other."""
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in inner():
        # All modules may ask the package itself for the version.
        if found.imported in MODULES and found.imported not in ("kameleon", found.importer):
            graph[found.importer].add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_the_core_needs_numpy_alone() -> None:
    wrong = [
        str(i)
        for i in outer()
        if part_of(i.importer) == "graph.ir"
        and i.imported.split(".")[0] != "numpy"
        and not (i.imported == "ml_dtypes" and i.late)  # only where bfloat16 is asked for
    ]
    assert not wrong


# A file for each library, itself imported late.
OF_A_LIBRARY = tuple(
    f"kameleon.{part}" for part in ("runtime.calls.of_", "backend.interop.", "backend.export.")
)


def test_other_libraries_are_imported_late() -> None:
    wrong = [
        str(i)
        for i in outer()
        if not i.late
        and i.imported.split(".")[0] != "numpy"
        and part_of(i.importer).split(".")[0] not in ("engines", "cli", "__main__")
        and part_of(i.importer) != "compat.keras2.hosted"
        and not i.importer.startswith(OF_A_LIBRARY)
    ]
    assert not wrong


# --- what importing does ------------------------------------------------------------------------

HEAVY = ("scipy", "tensorflow", "torch", "jax", "onnxruntime", "pytensor", "matplotlib", "pandas")
LOADED = "import sys; print(*sorted(sys.modules), sep='\\n')"


def test_importing_the_package_is_silent(tmp_path: Path) -> None:
    done = run_python("import kameleon", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(tmp_path.iterdir()), "importing the package writes nothing"


def test_importing_the_package_loads_no_engine(tmp_path: Path) -> None:
    done = run_python(f"import kameleon; {LOADED}", tmp_path)
    modules = done.stdout.split()
    assert "kameleon" in modules
    assert not [m for m in modules if m.split(".")[0] in HEAVY or m.startswith("kameleon.engines.")]


def test_importing_the_backend_loads_no_other_engine(tmp_path: Path) -> None:
    done = run_python(f"import kameleon.backend; {LOADED}", tmp_path, {"KERAS_BACKEND": "numpy"})
    modules = done.stdout.split()
    assert "kameleon.backend" in modules
    assert not [m for m in modules if m.split(".")[0] in HEAVY]


def test_importing_the_backend_announces_the_engine(tmp_path: Path) -> None:
    done = run_python("import kameleon.backend", tmp_path, {"KERAS_BACKEND": "numpy"})
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Using NumPy backend.\n"


def test_numpy_is_the_default_engine(tmp_path: Path) -> None:
    code = (
        "from kameleon.config import choice; choice.installed = lambda name: name == 'numpy';"
        "from kameleon import backend as K; print(K.backend())"
    )
    done = run_python(code, tmp_path)
    assert (done.stdout, done.stderr) == ("numpy\n", "Using NumPy backend.\n")


# --- keras.json ---------------------------------------------------------------------------------

SETTINGS = (
    "from kameleon import backend as K;"
    "print(K.floatx(), K.epsilon(), K.image_data_format(), K.backend())"
)


def test_importing_the_backend_writes_the_documented_defaults(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run_python("import kameleon.backend", home, {"KERAS_BACKEND": "numpy"})
    assert done.returncode == 0
    # No "backend": other installations of Keras read the same file.
    written = json.loads((home / "keras.json").read_text(encoding="utf-8"))
    assert written == {
        "image_data_format": "channels_last",
        "epsilon": 1e-07,
        "floatx": "float32",
    }
    assert [path.name for path in home.iterdir()] == ["keras.json"]


def test_keras_json_is_obeyed_and_left_alone(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "image_data_format": "channels_first",
            "epsilon": 1e-05,
            "floatx": "float64",
            "backend": "numpy",
        }
    )
    (tmp_path / "keras.json").write_text(text, encoding="utf-8")
    assert run_python(SETTINGS, tmp_path).stdout == "float64 1e-05 channels_first numpy\n"
    assert (tmp_path / "keras.json").read_text(encoding="utf-8") == text


def test_environment_overrides_keras_json(tmp_path: Path) -> None:
    (tmp_path / "keras.json").write_text('{"backend": "nonsense.module"}', encoding="utf-8")
    done = run_python(SETTINGS, tmp_path, {"KERAS_BACKEND": "numpy"})
    assert done.stdout == "float32 1e-07 channels_last numpy\n"
    done = run_python(SETTINGS, tmp_path)
    assert done.returncode != 0
    assert "nonsense.module" in done.stderr
    assert "keras.json" in done.stderr


def test_unknown_backend_is_an_error(tmp_path: Path) -> None:
    done = run_python("import kameleon.backend", tmp_path, {"KERAS_BACKEND": "nonsense.module"})
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert "KERAS_BACKEND=nonsense.module" in last


EXTERNAL = """
def placeholder(*args, **kwargs): return "their placeholder"
def variable(*args, **kwargs): return "their variable"
def function(*args, **kwargs): return "their function"
"""


def external(tmp_path: Path, source: str, code: str) -> tuple[int, str, str]:
    """Run `code` on an external backend `my_package.my_module` that holds `source`."""
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "my_module.py").write_text(source, encoding="utf-8")
    done = run_python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}",
        tmp_path / "home",
        {"KERAS_BACKEND": "my_package.my_module"},
    )
    return done.returncode, done.stdout, done.stderr


def test_external_backend_supplies_the_functions(tmp_path: Path) -> None:
    code = "from kameleon import backend as K; print(K.variable(1), K.placeholder(), K.backend())"
    status, out, err = external(tmp_path, EXTERNAL, code)
    assert (status, out) == (0, "their variable their placeholder my_package.my_module\n"), err
    assert "my_package.my_module" in err


def test_external_backend_must_be_complete(tmp_path: Path) -> None:
    source = "def placeholder(): ..."
    status, _, err = external(tmp_path, source, "import kameleon.backend")
    assert status != 0
    last = err.strip().splitlines()[-1]
    assert "my_package.my_module" in last
    assert re.search(r"lacks variable, function$", last)


# --- the text of the sources --------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    """The text of each file."""
    return {path: path.read_text(encoding="utf-8") for path in FILES}


KERAS = re.compile(r"^\s*(>>> )?(from|import) keras\b", re.MULTILINE)
PRIVATE = re.compile(r"/(work|tmp/w|root|home)/")


def test_lines_are_short(texts: dict[Path, str]) -> None:
    lines = ((path, line) for path, text in texts.items() for line in text.splitlines())
    assert not [(path, line) for path, line in lines if len(line) > 100]


def test_only_what_keras_hosts_imports_keras(texts: dict[Path, str]) -> None:
    assert not [
        path
        for path, text in texts.items()
        # the old one, and the new
        if KERAS.search(text) and "hosted" not in path.parts and not path.stem.startswith("keras3")
    ]


def test_no_private_paths(texts: dict[Path, str]) -> None:
    assert not [path for path, text in texts.items() if PRIVATE.search(text)]
