"""The surface of `kameleon.backend`: names, signatures, older calls and documentation."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import PACKAGE, TESTS

import kameleon
from kameleon import backend as K

SURFACE: dict[str, Any] = json.loads((TESTS / "signatures.json").read_text(encoding="utf-8"))
DOCUMENTED: dict[str, str] = SURFACE["documented"]
# Parameters that the original's source has behind those of its documentation.
UNDOCUMENTED: dict[str, str] = SURFACE["undocumented"]
# What hosts of the backend and programs of its day reach for beyond the documentation.
BEYOND = (
    "is_variable",
    "name_scope",
    "size",
    "control_dependencies",
    "get_session",
    "set_session",
    "normalize_data_format",
    "while_loop",
    "custom_gradient",
    "show",
)


def signature_of(text: str) -> inspect.Signature:
    """The signature that `text`, such as `(x, axis=-1)`, describes."""
    scope: dict[str, Any] = {}
    exec(f"def described{text}: ...", scope)
    return inspect.signature(scope["described"])


def described(signature: inspect.Signature) -> list[tuple[str, str]]:
    """Names, kinds and defaults of the parameters; annotations don't matter."""
    return [
        (p.name, f"{p.kind.description} = {p.default!r}") for p in signature.parameters.values()
    ]


# --- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "meant"),
    [
        (lambda: K.functon, "function"),
        (lambda: K.reshap, "reshape"),
        (lambda: K.conv2d(0, 0, paddin="same"), "padding"),
        (lambda: K.function([], [], engin="numpy"), "engine"),
        (lambda: K.sum(1.0, axs=0), "axis"),
    ],
)
def test_what_was_meant_is_told(mistake: Callable[[], Any], meant: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError), match=f"[Dd]id you mean '{meant}'"):
        mistake()


def test_python_tells_what_was_meant_of_the_package() -> None:
    with pytest.raises(AttributeError) as raised:
        _ = kameleon.compar
    assert (raised.value.name, raised.value.obj) == ("compar", kameleon)


def test_functions_are_found_by_their_names() -> None:
    functions = [getattr(K, name) for name in K.__all__]
    assert all(pickle.loads(pickle.dumps(f)) is f for f in functions if inspect.isfunction(f))


def test_what_the_package_shows() -> None:
    assert set(dir(kameleon)) == {*kameleon.__all__, "backend"}
    assert all(getattr(kameleon, name) for name in dir(kameleon))


def test_the_citation_has_the_version() -> None:
    told = (TESTS.parent / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {kameleon.__version__}\n" in told


# --- names and signatures -----------------------------------------------------------------------


def test_all_documented_functions_are_listed() -> None:
    assert len(DOCUMENTED) == 152


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_signature(name: str) -> None:
    parameters = described(inspect.signature(getattr(K, name)))
    if name == "function":  # documented as taking keywords beyond its list
        parameters = [p for p in parameters if "keyword-only" not in p[1]]
    behind = described(signature_of(UNDOCUMENTED.get(name, "()")))
    assert parameters == [*described(signature_of(DOCUMENTED[name])), *behind]


@pytest.mark.parametrize("name", [*SURFACE["required"], *BEYOND])
def test_required_name_exists(name: str) -> None:
    assert callable(getattr(K, name))


@pytest.mark.parametrize("name", sorted({*DOCUMENTED, *SURFACE["required"], *BEYOND}))
def test_name_is_exported(name: str) -> None:
    assert name in K.__all__


# --- documentation and order --------------------------------------------------------------------


@pytest.mark.parametrize("name", K.__all__)
def test_docstring_has_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(K, name)) or ""
    assert text.splitlines()[:1] != [""], f"K.{name} has no docstring"
    assert ">>>" in text, f"K.{name} shows no example"


def test_all_has_no_duplicates() -> None:
    assert len(set(K.__all__)) == len(K.__all__)


def names_in_all(path: Path) -> list[str] | None:
    """The names that the module writes down in `__all__`; None where it has no such list."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            return list(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return None


CHAPTERS = {
    path.stem: names
    for path in sorted((PACKAGE / "backend").glob("*.py"))
    if path.stem != "__init__" and (names := names_in_all(path)) is not None
}


def test_every_name_stands_in_one_chapter() -> None:
    written = sorted(name for names in CHAPTERS.values() for name in names)
    assert written == sorted(K.__all__)


def test_all_is_sorted_by_chapter() -> None:
    chapter = {name: stem for stem, names in CHAPTERS.items() for name in names}
    order = [stem for stem, _ in itertools.groupby(chapter[name] for name in K.__all__)]
    assert len(order) == len(set(order)), f"chapters are torn apart: {order}"
    assert K.__all__ == [name for stem in order for name in CHAPTERS[stem]]


def test_all_of_the_surface_is_explicit() -> None:
    """`NAMES` is one list display, of whole chapters' lists."""
    tree = ast.parse((PACKAGE / "backend" / "surface.py").read_text(encoding="utf-8"))
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "NAMES"]
    stored = [use for use in uses if not isinstance(use.ctx, ast.Load)]
    through = [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript)]
    assert len(stored) == 1 and not set(uses) & set(through), "assigned once, changed nowhere"
    assigned = [n.value for n in tree.body if isinstance(n, ast.Assign) and stored[0] in n.targets]
    assert [type(value) for value in assigned] == [ast.List]


def test_star_import_brings_what_all_says() -> None:
    scope: dict[str, Any] = {}
    exec("from kameleon.backend import *", scope)
    assert set(K.__all__) == set(scope) - {"__builtins__"}


# --- older calls --------------------------------------------------------------------------------

IMAGE = np.arange(24, dtype="float32").reshape(1, 2, 3, 4)
VOLUME = np.arange(16, dtype="float32").reshape(1, 2, 2, 2, 2)
ROWS = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -0.25]], "float32")
SHARES = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], "float32")
TARGETS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "float32")
LABELS = np.array([1, 0], "int32")


def tensors(*arrays: np.ndarray[Any, Any]) -> list[Any]:
    """Constants of the arrays, in their dtypes."""
    return [K.constant(array, dtype=str(array.dtype)) for array in arrays]


def batches() -> list[Any]:
    """Two tensors that fit `batch_dot` over axes (1, 2)."""
    x = np.arange(16, dtype="float32").reshape(2, 4, 2)
    y = np.arange(24, dtype="float32").reshape(2, 3, 4)
    return tensors(x, y)


def moments() -> list[Any]:
    """x, mean, var, beta, gamma of a batch normalisation."""
    return tensors(ROWS, *(np.full(3, v, "float32") for v in (0.5, 2.0, -1.0, 3.0)))


def kernel() -> Any:
    """A kernel for the transposed convolution of `IMAGE` to two channels."""
    return tensors(np.linspace(-1, 1, 32, dtype="float32").reshape(2, 2, 2, 4))[0]


OldAndNew = tuple[Callable[[], Any], Callable[[], Any]]
OLDER_CALLS: dict[str, OldAndNew] = {
    "batch_dot: list of axes": (
        lambda: K.batch_dot(*batches(), axes=[1, 2]),
        lambda: K.batch_dot(*batches(), axes=(1, 2)),
    ),
    "batch_normalization: keyword epsilon, no axis": (
        lambda: K.batch_normalization(*moments(), epsilon=1e-4),
        lambda: K.batch_normalization(*moments(), axis=-1, epsilon=1e-4),
    ),
    "resize_volumes: keyword X": (
        lambda: K.resize_volumes(
            X=K.constant(VOLUME),
            depth_factor=2,
            height_factor=1,
            width_factor=3,
            data_format="channels_last",
        ),
        lambda: K.resize_volumes(K.constant(VOLUME), 2, 1, 3, "channels_last"),
    ),
    "resize_images: no interpolation": (
        lambda: K.resize_images(K.constant(IMAGE), 2, 2, "channels_last"),
        lambda: K.resize_images(K.constant(IMAGE), 2, 2, "channels_last", "nearest"),
    ),
    "conv2d_transpose: no dilation": (
        lambda: K.conv2d_transpose(
            K.constant(IMAGE), kernel(), (1, 3, 4, 2), (1, 1), "valid", None
        ),
        lambda: K.conv2d_transpose(K.constant(IMAGE), kernel(), (1, 3, 4, 2), dilation_rate=(1, 1)),
    ),
    "dropout: seed in third place": (
        lambda: K.dropout(K.constant(IMAGE), 0.5, 7),
        lambda: K.dropout(K.constant(IMAGE), 0.5, seed=7),
    ),
    "identity: no name": (
        lambda: K.identity(K.constant(ROWS)),
        lambda: K.constant(ROWS),
    ),
    "l2_normalize: axis in second place": (
        lambda: K.l2_normalize(K.constant(ROWS), 1),
        lambda: K.l2_normalize(K.constant(ROWS), axis=1),
    ),
    "relu: no threshold": (
        lambda: K.relu(K.constant(ROWS), 0.1, 2.0),
        lambda: K.relu(K.constant(ROWS), alpha=0.1, max_value=2.0, threshold=0.0),
    ),
    "softmax: no axis": (
        lambda: K.softmax(K.constant(ROWS)),
        lambda: K.softmax(K.constant(ROWS), axis=-1),
    ),
    "binary_crossentropy: output first, by keyword": (
        lambda: K.binary_crossentropy(output=K.constant(SHARES), target=K.constant(TARGETS)),
        lambda: K.binary_crossentropy(K.constant(TARGETS), K.constant(SHARES)),
    ),
    "categorical_crossentropy: output first, by keyword": (
        lambda: K.categorical_crossentropy(output=K.constant(SHARES), target=K.constant(TARGETS)),
        lambda: K.categorical_crossentropy(K.constant(TARGETS), K.constant(SHARES), axis=-1),
    ),
    "sparse_categorical_crossentropy: output first, by keyword": (
        lambda: K.sparse_categorical_crossentropy(
            output=K.constant(SHARES), target=K.constant(LABELS, dtype="int32")
        ),
        lambda: K.sparse_categorical_crossentropy(
            K.constant(LABELS, dtype="int32"), K.constant(SHARES), axis=-1
        ),
    ),
    "variable: no constraint": (
        lambda: K.variable(ROWS, "float64", "older"),
        lambda: K.variable(ROWS, dtype="float64", constraint=None),
    ),
}


@pytest.mark.parametrize("older, newer", OLDER_CALLS.values(), ids=list(OLDER_CALLS))
def test_older_call_keeps_working(older: Callable[[], Any], newer: Callable[[], Any]) -> None:
    np.testing.assert_array_equal(K.eval(older()), K.eval(newer()))


def test_every_older_signature_has_a_call() -> None:
    called = {title.partition(":")[0] for title in OLDER_CALLS} | {"batch_get_value"}
    assert set(SURFACE["older"]) <= called


def test_older_keyword_of_batch_get_value() -> None:
    variables = [K.variable(ROWS), K.variable(3.0)]
    first, second = K.batch_get_value(xs=variables)
    np.testing.assert_array_equal(first, ROWS)
    assert second == 3.0


def test_batch_get_value_needs_its_argument() -> None:
    with pytest.raises(TypeError):
        K.batch_get_value()


def test_keyword_that_never_existed_is_refused() -> None:
    with pytest.raises(TypeError, match="banana"):
        K.batch_get_value(banana=[K.variable(1.0)])
    with pytest.raises(TypeError, match="banana"):
        K.resize_volumes(
            banana=K.constant(VOLUME),
            depth_factor=1,
            height_factor=1,
            width_factor=1,
            data_format="channels_last",
        )


def test_both_spellings_at_once_are_refused() -> None:
    variable = K.variable(1.0)
    with pytest.raises(TypeError):
        K.batch_get_value([variable], xs=[variable])


def test_legacy_get_variable_shape() -> None:
    assert K.get_variable_shape(K.variable(ROWS)) == (2, 3)
    assert K.get_variable_shape(K.placeholder((None, 4))) == (None, 4)


def test_legacy_dim_ordering() -> None:
    assert K.image_dim_ordering() == "tf"
    K.set_image_dim_ordering("th")
    assert K.image_data_format() == "channels_first"
    assert K.image_dim_ordering() == "th"
    K.set_image_dim_ordering("tf")
    assert K.image_data_format() == "channels_last"
    with pytest.raises(ValueError, match="middle"):
        K.set_image_dim_ordering("middle")


# --- beyond the documentation -------------------------------------------------------------------


def test_is_variable_takes_anything() -> None:
    assert K.is_variable(K.variable(1.0))
    others = [K.placeholder((2,)), K.constant(1.0), None, 3, "x", ROWS, object(), [K]]
    assert not any(K.is_variable(other) for other in others)


def test_name_scope_prefixes_and_nests() -> None:
    with K.name_scope("outer") as outer:
        assert outer.startswith("outer")
        with K.name_scope("inner"):
            variable = K.variable(1.0, name="kernel")
        second = K.variable(1.0, name="bias")
    assert variable.name.startswith("outer/inner/kernel")
    assert second.name.startswith("outer/bias")


def test_name_scope_is_left_after_an_error() -> None:
    with pytest.raises(RuntimeError), K.name_scope("outer"):
        raise RuntimeError
    assert K.variable(1.0, name="kernel").name.startswith("kernel")


def test_size_counts_elements() -> None:
    x = K.placeholder((None, 3))
    assert K.function([x], [K.size(x)])([ROWS])[0] == 6


def test_control_dependencies_read_afresh() -> None:
    variable = K.variable(1.0)
    with K.control_dependencies([K.update_add(variable, 2.0)]):
        after = variable * 10.0
    before = variable * 10.0
    values = K.function([], [before, after])([])
    assert [float(value) for value in values] == [10.0, 30.0]
    assert K.get_value(variable) == 3.0


def test_session_runs_fetches() -> None:
    x = K.placeholder((None, 3))
    total = K.sum(x)
    session = K.get_session()
    assert session.run(total, feed_dict={x: ROWS}) == ROWS.sum()
    doubled, again = session.run([x * 2.0, total], {x: ROWS})
    np.testing.assert_array_equal(doubled, ROWS * 2)
    assert again == ROWS.sum()
    K.set_session(session)
    assert K.get_session() is session


def test_normalize_data_format() -> None:
    assert K.normalize_data_format(None) == "channels_last"
    assert K.normalize_data_format("channels_first") == "channels_first"
    with pytest.raises(ValueError, match="middle"):
        K.normalize_data_format("middle")


def test_while_loop() -> None:
    limit = K.placeholder((), dtype="int32")
    count, total = K.while_loop(
        lambda i, _: i < limit,
        lambda i, t: [i + 1, t * 2.0],
        [K.constant(0, dtype="int32"), K.constant(1.0)],
    )
    run = K.function([limit], [count, total])
    assert [float(v) for v in run([5])] == [5.0, 32.0]
    assert [float(v) for v in run([0])] == [0.0, 1.0]


def test_the_slope_of_a_while_loop_whose_start_its_steps_read_too() -> None:
    x = K.placeholder((), dtype="float64")
    start = [K.constant(0), x, x]
    _, y, _ = K.while_loop(lambda i, *_: i < 3, lambda i, y, z: [i + 1, y * z * x, z], start)
    slope, curvature = (g := K.gradients(y, [x])[0]), K.gradients(g, [x])[0]
    assert K.function([x], [y, slope, curvature])([2.0]) == [2.0**7, 7 * 2.0**6, 42 * 2.0**5]


def test_custom_gradient() -> None:
    tripled = K.custom_gradient(lambda x: (K.square(x), lambda g: g * 3.0))
    x = K.variable(5.0)
    value, slope = K.function([], [tripled(x), *K.gradients(tripled(x), [x])])([])
    assert (float(value), float(slope)) == (25.0, 3.0)
