"""What scikit-learn, scikit-image, Matplotlib and NetworkX had in 2019, and do otherwise now."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from inspect import signature
from operator import attrgetter
from typing import Any

import numpy as np

from ..functions import Function, around, bound, renamed
from ..members import Changed, Members
from ..stand_in import Old, Table, constant, from_module, moved, same


def linear_assignment(X: Any) -> Any:
    """The pairs of rows and columns whose sum is least, as rows of two."""
    optimize: Any = importlib.import_module("scipy.optimize")
    return np.stack(optimize.linear_sum_assignment(X), axis=1)


def _imputer(preprocessing: Any) -> Any:
    impute: Any = importlib.import_module("sklearn.impute")

    class Imputer(impute.SimpleImputer):  # type: ignore[misc]
        """Fills in what is missing: for each column, or row, by its mean, median or mode."""

        def __init__(
            self, missing_values: Any = "NaN", strategy: str = "mean", axis: int = 0,
            verbose: int = 0, copy: bool = True,
        ):  # fmt: skip
            missing = np.nan if missing_values == "NaN" else missing_values
            super().__init__(missing_values=missing, strategy=strategy, copy=copy)
            self.axis, self.verbose = axis, verbose

        def fit(self, X: Any, y: Any = None) -> Any:
            return super().fit(np.asarray(X).T if self.axis else X)

        def transform(self, X: Any) -> Any:
            if not self.axis:
                return super().transform(X)
            across = impute.SimpleImputer(
                missing_values=self.missing_values, strategy=self.strategy
            )
            return across.fit_transform(np.asarray(X).T).T

        def fit_transform(self, X: Any, y: Any = None) -> Any:
            return self.fit(X).transform(X)

    return Imputer


@around
def _squared_error(mean: Function, *args: Any, squared: bool = True, **options: Any) -> Any:
    metrics: Any = importlib.import_module("sklearn.metrics")
    return (mean if squared else metrics.root_mean_squared_error)(*args, **options)


# Modules of scikit-learn that are private today, by package. Their names have got an underscore in
# front and lost one behind; those that were renamed otherwise stand as OLD=NEW.
PRIVATE = {
    "cluster": """
        affinity_propagation_ bicluster birch dbscan_ hierarchical=_agglomerative k_means_=_kmeans
        mean_shift_ optics_ spectral
    """,
    "covariance": """
        empirical_covariance_ shrunk_covariance_ robust_covariance graph_lasso_ elliptic_envelope
    """,
    "cross_decomposition": "pls_",
    "datasets": """
        base california_housing covtype kddcup99 lfw olivetti_faces openml rcv1 samples_generator
        species_distributions svmlight_format=_svmlight_format_io twenty_newsgroups
    """,
    "decomposition": """
        base dict_learning factor_analysis fastica_ incremental_pca kernel_pca nmf online_lda=_lda
        pca sparse_pca truncated_svd
    """,
    "ensemble": "bagging base forest gradient_boosting=_gb iforest voting weight_boosting",
    "feature_extraction": "dict_vectorizer hashing=_hash stop_words",
    "feature_selection": """
        base from_model mutual_info rfe univariate_selection variance_threshold
    """,
    "gaussian_process": "gpr gpc",
    "linear_model": """
        base bayes coordinate_descent huber least_angle logistic omp passive_aggressive perceptron
        ransac ridge sag stochastic_gradient theil_sen
    """,
    "manifold": "isomap locally_linear mds spectral_embedding_ t_sne",
    "metrics": "base classification regression ranking scorer",
    "metrics.cluster": "bicluster supervised unsupervised",
    "mixture": "base gaussian_mixture bayesian_mixture",
    "neighbors": """
        ball_tree base classification graph kd_tree kde lof nca nearest_centroid regression
        unsupervised
    """,
    "neural_network": "rbm multilayer_perceptron",
    "preprocessing": "data label",
    "semi_supervised": "label_propagation",
    "svm": "base bounds classes",
    "tree": "tree=_classes export",
    "utils": "mocking testing",
}


def _private_modules() -> Mapping[str, Table]:
    return {
        f"sklearn.{package}.{old}": moved(f"sklearn.{package}.{new or '_' + old.rstrip('_')}")
        for package, modules in PRIVATE.items()
        for old, _, new in (module.partition("=") for module in modules.split())
    }


@bound
def if_delegate_has_method(utilities: Any, delegate: Any) -> Callable[..., Any]:
    """A method that is there where a part of the estimator has one of its name.

    Args:
        utilities: `sklearn.utils.metaestimators`.
        delegate: the path of the part; of several, the first that the estimator has.

    Returns:
        A decorator.
    """
    paths = (delegate,) if isinstance(delegate, str) else tuple(delegate)

    def decorate(method: Any) -> Any:
        def is_there(estimator: Any) -> bool:
            for path in paths[:-1]:
                with suppress(AttributeError):
                    part = attrgetter(path)(estimator)
                    break
            else:
                part = attrgetter(paths[-1])(estimator)
            return hasattr(part, method.__name__)

        return utilities.available_if(is_there)(method)

    return decorate


def _checking(check: Function) -> Function:
    """A check of arrays whose parameter for infinite numbers may have its name of today."""
    old, today = "force_all_finite", "ensure_all_finite"
    return renamed(**{old: today})(check) if today in signature(check).parameters else check


CHECKS = dict.fromkeys(("check_array", "check_X_y"), _checking)


@around
def _resize(
    resize: Function, image: Any, output_shape: Any, order: Any = None, *args: Any, **options: Any
) -> Any:
    """As it was for masks: false and true are 0.0 and 1.0 wherever pixels are mixed."""
    if order and np.asarray(image).dtype == bool:
        image = np.asarray(image, float)
    return resize(image, output_shape, order, *args, **options)


# NetworkX ---------------------------------------------------------------------------------------


@around
def _as_matrix(function: Function, /, *args: Any, **options: Any) -> Any:
    """A function whose sparse result is a matrix, as it was, and not an array."""
    sparse: Any = importlib.import_module("scipy.sparse")
    return sparse.csr_matrix(function(*args, **options))


SPARSE = ("adjacency_matrix", "laplacian_matrix", "normalized_laplacian_matrix", "incidence_matrix")


@bound
def connected_component_subgraphs(networkx: Any, G: Any) -> Iterator[Any]:
    """A copy of each connected part of a graph."""
    return (G.subgraph(nodes).copy() for nodes in networkx.connected_components(G))


@bound
def to_numpy_matrix(networkx: Any, *args: Any, **options: Any) -> Any:
    """The adjacency matrix, as one of NumPy's matrices."""
    return np.asmatrix(networkx.to_numpy_array(*args, **options))


GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
OF_GRAPHS: Members = {"Graph": {"node": Old(".nodes", lambda graph: graph.nodes)}}

# ------------------------------------------------------------------------------------------------

ENCODERS: Members = {
    "OneHotEncoder": {"__init__": Changed(renamed(sparse="sparse_output"))},
}
FEATURES = {
    "get_feature_names": Old(
        ".get_feature_names_out()", lambda x: lambda: x.get_feature_names_out().tolist()
    )
}
HISTOGRAM = renamed(normed="density")

TABLES: Mapping[str, Table] = {
    "sklearn.externals": Table(made=True),
    "sklearn.externals.joblib": moved("joblib"),
    "sklearn.externals.six": moved("six"),
    **_private_modules(),
    "sklearn.utils.linear_assignment_": Table(
        {"linear_assignment": constant("scipy.optimize.linear_sum_assignment", linear_assignment)},
        made=True,
    ),
    "sklearn.grid_search": moved("sklearn.model_selection"),
    "sklearn.cross_validation": moved("sklearn.model_selection"),
    "sklearn.preprocessing": Table(
        {"Imputer": Old("sklearn.impute.SimpleImputer", _imputer)}, members=ENCODERS
    ),
    "sklearn.utils.metaestimators": Table(
        {
            "if_delegate_has_method": Old(
                "sklearn.utils.metaestimators.available_if", if_delegate_has_method
            )
        }
    ),
    "sklearn.feature_extraction.text": Table(
        {"VectorizerMixin": same("sklearn.feature_extraction.text._VectorizerMixin")},
        members={"CountVectorizer": FEATURES},
    ),
    "sklearn.feature_extraction": Table(members={"DictVectorizer": FEATURES}),
    "sklearn.utils": Table(
        {"safe_indexing": same("sklearn.utils._safe_indexing")},
        CHECKS,
    ),
    "sklearn.utils.validation": Table(changed=CHECKS),
    "sklearn.metrics": Table(changed={"mean_squared_error": _squared_error}),
    "matplotlib.cm": Table({"get_cmap": from_module("matplotlib.pyplot", "get_cmap")}),
    "matplotlib.pyplot": Table(
        {"hold": constant("nothing: plots are added", lambda *on: None)},
        {"hist": HISTOGRAM},
    ),
    "matplotlib.cbook": Table(
        {
            "deprecated": from_module("matplotlib._api", "deprecated"),
            "mplDeprecation": from_module("matplotlib", "MatplotlibDeprecationWarning"),
            "iterable": from_module("numpy", "iterable"),
        }
    ),
    "skimage.transform": Table(changed={"resize": _resize}),
    "networkx": Table(
        {
            "to_scipy_sparse_matrix": Old(
                "networkx.to_scipy_sparse_array",
                lambda networkx: _as_matrix(networkx.to_scipy_sparse_array),
            ),
            "from_scipy_sparse_matrix": same("networkx.from_scipy_sparse_array"),
            "to_numpy_matrix": Old("networkx.to_numpy_array", to_numpy_matrix),
            "from_numpy_matrix": same("networkx.from_numpy_array"),
            "connected_component_subgraphs": Old(
                "G.subgraph, of each component", connected_component_subgraphs
            ),
            "info": constant("str(G)", str),
            **{f"Ordered{kind}": same(f"networkx.{kind}") for kind in GRAPHS},
        },
        dict.fromkeys(SPARSE, _as_matrix),
        members=OF_GRAPHS,
    ),
    "matplotlib.axes": Table(members={"Axes": {"hist": Changed(HISTOGRAM)}}),
}
