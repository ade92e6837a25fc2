"""Frames, tensors and batches of loaders as values of a function's inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import FeedError

DATA = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
COLUMNS = {"a": [1, 3], "b": [2.0, 4.0]}  # of two dtypes


def with_column(values: Any) -> Callable[[Any], Any]:
    """A frame of pandas's or polars's whose second column has these values."""
    return lambda library: library.DataFrame({"a": [1.0, 2.0], "b": values})


# What is fed, by its library: what makes it of the library.
TAKEN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "pandas: two dtypes": ("pandas", lambda pd: pd.DataFrame(COLUMNS)),
    "pandas: nullable": ("pandas", lambda pd: pd.DataFrame(COLUMNS).convert_dtypes()),
    "pandas: one name twice": ("pandas", lambda pd: pd.DataFrame(DATA, columns=["a", "a"])),
    "pandas: objects": ("pandas", lambda pd: pd.DataFrame(COLUMNS, dtype=object)),
    "pandas: categories of numbers": ("pandas", lambda pd: pd.DataFrame(DATA).astype("category")),
    "polars": ("polars", lambda pl: pl.DataFrame(COLUMNS)),
    "polars: decimals": (
        "polars",
        lambda pl: pl.DataFrame(COLUMNS).with_columns(pl.col("b").cast(pl.Float32)),
    ),
    "pyarrow": ("pyarrow", lambda pa: pa.table(COLUMNS)),
    "pyarrow: a batch": ("pyarrow", lambda pa: pa.record_batch(COLUMNS)),
    "torch": ("torch", lambda torch: torch.from_numpy(DATA)),
    "torch: doubles": ("torch", lambda torch: torch.from_numpy(DATA).double()),
    "jax": ("jax", lambda jax: jax.numpy.asarray(DATA)),
    "tensorflow": ("tensorflow", lambda tf: tf.constant(DATA)),
}
# What isn't, and words of the error.
REFUSED: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "pandas: texts": ("pandas", with_column(["x", "y"]), r"column 'b'.*\.cat\.codes"),
    "pandas: NA": (
        "pandas",
        lambda pd: pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [1, 2]}),
        r"column 'a' of a pandas\.DataFrame has nulls.*frame\['a'\]\.fillna",
    ),
    "pandas: None among objects": ("pandas", with_column([None, {}]), "column 'b'.*nulls"),
    "pandas: times": (
        "pandas",
        lambda pd: with_column(pd.to_datetime(["2020", "2021"]))(pd),
        "column 'b'.*datetime64",
    ),
    "pandas: categories": (
        "pandas",
        lambda pd: with_column(pd.Categorical(["x", "y"]))(pd),
        r"column 'b' .*holds category.*\.cat\.codes",
    ),
    "pandas: a column of texts": ("pandas", lambda pd: pd.Series(["x", "y"]), "column.astype"),
    "polars: texts": ("polars", with_column(["x", "y"]), r"column 'b'.*\.to_physical\(\)"),
    "polars: nulls": ("polars", with_column([1.0, None]), r"frame\['b'\]\.fill_null"),
    "polars: nulls of whole numbers": ("polars", with_column([1, None]), "'b'.*has nulls"),
    "polars: lazy": ("polars", lambda pl: pl.LazyFrame(COLUMNS), r"frame\.collect\(\)"),
    "pyarrow: nulls": (
        "pyarrow",
        lambda pa: pa.table({"a": [1, 2], "b": [None, 1]}),
        "'b' of a pyarrow.Table has nulls",
    ),
    "pyarrow: texts": (
        "pyarrow",
        lambda pa: pa.table({"a": [1, 2], "b": ["x", "y"]}),
        "'b' of a pyarrow.Table holds string",
    ),
    "tensorflow: ragged": (
        "tensorflow",
        lambda tf: tf.ragged.constant([[1.0, 2.0], [3.0]]),
        r"tensor\.to_tensor\(\)",
    ),
    "tensorflow: sparse": ("tensorflow", lambda tf: tf.sparse.from_dense(DATA), r"to_dense"),
    "tensorflow: a dataset": (
        "tensorflow",
        lambda tf: tf.data.Dataset.from_tensor_slices(DATA).batch(2),
        "for batch in batches: f",
    ),
    "torch: nested": (
        "torch",
        lambda torch: torch.nested.nested_tensor(
            [torch.ones(2), torch.ones(1)], layout=torch.jagged
        ),
        r"to_padded_tensor",
    ),
    "torch: a loader": (
        "torch",
        lambda torch: torch.utils.data.DataLoader(torch.from_numpy(DATA)),
        "a DataLoader gives batches.*for batch in batches: f",
    ),
    "a generator": ("numpy", lambda np: (row for row in DATA), "a generator gives batches"),
}


def library_of(case: str, name: str) -> Any:
    """The library that a case needs."""
    return pytest.importorskip(name, reason=f"{case} needs {name}: pip install {name}")


@pytest.mark.parametrize("case", TAKEN)
def test_taken(case: str, engine: Any) -> None:
    name, make = TAKEN[case]
    library = library_of(case, name)
    x = K.placeholder((None, 2))
    found = K.function([x], [x * 2.0])([make(library)])[0]
    np.testing.assert_array_equal(found, DATA * 2)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    name, make, words = REFUSED[case]
    library = library_of(case, name)
    x = K.placeholder((None, 2), name="x")
    with pytest.raises(FeedError, match=f"(?s)'x:0' is no array of float32: .*{words}"):
        K.function([x], [x * 2.0])([make(library)])


def test_nan_is_a_number() -> None:
    pandas = library_of("this", "pandas")
    x = K.placeholder((None,))
    found = K.function([x], [x])([pandas.Series([np.nan, 1.0])])[0]
    np.testing.assert_array_equal(found, [np.nan, 1.0])


def test_integers_take_no_nan_of_frames() -> None:
    pandas = library_of("this", "pandas")
    x = K.placeholder((None,), dtype="int32")
    with pytest.raises(FeedError, match="would be changed"):
        K.function([x], [x])([pandas.Series([np.nan, 1.0])])


def test_batches_of_a_loader_are_a_functions_values() -> None:
    torch = library_of("this", "torch")
    x, y = torch.arange(10.0).reshape(5, 2), torch.arange(5)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=2)
    a, b = K.placeholder((None, 2)), K.placeholder((None,), dtype="int64")
    function = K.function([a, b], [K.sum(a, axis=-1), b])
    found = [function(batch) for batch in loader]
    sums, numbers = (np.concatenate(each) for each in zip(*found, strict=True))
    np.testing.assert_array_equal(sums, x.numpy().sum(-1))
    np.testing.assert_array_equal(numbers, y.numpy())
