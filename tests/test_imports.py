"""Imports point one way, cost little, and leave no trace but keras.json."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support import PACKAGE, run_python

FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(PACKAGE)) for path in FILES]

# --- the graph of imports -----------------------------------------------------------------------

# The floors of the house: a module imports from floors below its own, or from its own room.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("_private", "_machines", "_suggestions", "_tables"),
    ("_reports", "_tracebacks"),
    ("_pictures",),
    ("_scopes",),
    ("_locks",),
    ("_threads",),
    ("aside", "files", "events", "random_state"),
    ("keras_json", "layouts", "checksums"),
    ("config",),
    ("hosting",),
    ("old_code",),
    ("external",),
    ("ir",),
    ("prims",),
    ("gradients",),
    ("analysis",),
    ("kernels",),
    ("emit",),
    ("transform",),
    ("engines",),
    ("calls",),
    ("runtime",),
    ("backend",),
    ("compat",),
    ("theano1",),
    ("undocumented",),
    ("layers", "testing", "comparison", "interop", "distribution", "checkpoint"),
    ("hosted",),
    ("as_keras",),
    ("demo",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
# Rooms that may ask the package itself, which announces the version.
ABOVE_ALL = {"", "cli", "__main__"}
# Rooms that may see less than all below them.
NARROW = {
    "hosting": {
        "errors",
        "_private",
        "_scopes",
        "files",
        "config",
        "keras_json",
    },  # Keras waits, half loaded
    "old_code": {"errors", "_private", "_locks", "config", "keras_json", "hosting"},
    "ir": {"errors", "_scopes", "_threads", "_locks"},
    "kernels": {"errors", "_private", "prims"},
    "emit": {"errors", "ir"},
    "engines": {
        *("errors", "_private", "_machines", "_reports", "_threads", "_locks"),
        "config",  # says where CNTK is
        "layouts",
        *("ir", "prims", "analysis", "kernels", "emit", "transform"),
    },
}


@dataclass(frozen=True)
class Import:
    """That one module imports another, and when it does."""

    importer: str
    imported: str
    line: int
    late: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def module_name(path: Path) -> str:
    """Dotted name of the module in the file."""
    parts = ("kameleon", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imports_of(name: str) -> Iterator[Import]:
    """What the module imports, at its top or late (in a function, or for types only)."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, late = stack.pop()
        for target in targets_of(name, node):
            yield Import(name, target, node.lineno, late)  # type: ignore[attr-defined]
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        late = late or inside or is_for_types(node)
        stack.extend((child, late) for child in ast.iter_child_nodes(node))


def is_for_types(node: ast.AST) -> bool:
    """Whether the node is an `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def targets_of(name: str, node: ast.AST) -> list[str]:
    """The modules that an import statement loads; none for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        is_package = MODULES[name].name == "__init__.py"
        parts = name.split(".")[: -(node.level - is_package) or None]
        base = ".".join([*parts, *filter(None, [base])])
    children = [f"{base}.{alias.name}" for alias in node.names]
    submodules = [child for child in children if child in MODULES]
    return submodules if len(submodules) == len(children) else [base, *submodules]


def room(module: str) -> str:
    """The part of the package that a module belongs to; the package itself is ''."""
    return (module + ".").split(".")[1]


IMPORTS = [found for name in MODULES for found in imports_of(name)]
INNER = [i for i in IMPORTS if i.imported.split(".")[0] == "kameleon"]
OUTER = [
    i for i in IMPORTS if i.imported.split(".")[0] not in sys.stdlib_module_names | {"kameleon"}
]


def test_every_module_has_a_floor() -> None:
    assert {room(name) for name in MODULES} - {""} <= set(FLOOR)


def test_there_are_imports_to_check() -> None:
    assert len(INNER) > 50, "the parser of imports sees nothing"


def test_imports_point_one_way() -> None:
    def is_wrong(found: Import) -> bool:
        mine, other = room(found.importer), room(found.imported)
        if mine in ("", other):
            return False
        return mine not in ABOVE_ALL if other == "" else FLOOR[other] >= FLOOR[mine]

    assert not [str(found) for found in INNER if is_wrong(found)]


def test_narrow_rooms_see_only_what_they_may() -> None:
    wrong = [
        str(found)
        for found in INNER
        for mine in [room(found.importer)]
        if mine in NARROW and room(found.imported) not in {mine, *NARROW[mine]}
    ]
    assert not wrong


def test_engines_import_the_embedded_one_at_most() -> None:
    def engine(module: str) -> str:
        return (module + "...").split(".")[2]

    wrong = [
        str(found)
        for found in INNER
        if room(found.importer) == room(found.imported) == "engines"
        and engine(found.importer)
        and engine(found.imported) not in {"", "numpy", engine(found.importer)}
        and not engine(found.imported).startswith("_")
    ]
    assert not wrong


def test_no_two_files_need_each_other() -> None:
    """Not even late, or for types alone: whoever reads one needn't have read the other."""
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in INNER:
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
        for i in OUTER
        if room(i.importer) == "ir"
        and i.imported.split(".")[0] != "numpy"
        and not (i.imported == "ml_dtypes" and i.late)  # only where bfloat16 is asked for
    ]
    assert not wrong


def test_other_libraries_are_imported_late() -> None:
    wrong = [
        str(i)
        for i in OUTER
        if not i.late
        and i.imported.split(".")[0] != "numpy"
        and room(i.importer) not in ("engines", "hosted", "cli", "__main__")
        and not i.importer.startswith("kameleon.calls.of_")  # a file for each library
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


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_lines_are_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [n for n, line in enumerate(lines, 1) if len(line) > 100]


KERAS = re.compile(r"^\s*(>>> )?(from|import) keras\b", re.MULTILINE)
PRIVATE = re.compile(r"/(work|tmp/w|root|home)/")


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_only_what_keras_hosts_imports_keras(path: Path) -> None:
    assert "hosted" in path.parts or not KERAS.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_private_paths(path: Path) -> None:
    assert not PRIVATE.findall(path.read_text(encoding="utf-8"))
