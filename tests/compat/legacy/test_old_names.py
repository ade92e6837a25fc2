"""Old names are there for old code, once warned about, and for nobody else."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import pickle
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE
from _support.programs import run, run_code, write_small_keras

from kameleon.compat.legacy import closed, importers, importing, settings_file, stand_in
from kameleon.compat.legacy.importers import Importer
from kameleon.errors import OldNameWarning

RUN = ("-m", "kameleon", "run")

# --- who is old code --------------------------------------------------------------------------

METADATA = {
    "old": "Name: old\nClassifier: Programming Language :: Python :: 3.6\n",
    "needs": "Name: needs\nRequires-Python: >=3.6\n",
    "upper": "Name: upper\nRequires-Python: <4,>=3.5\n",
    "modern": "Name: modern\nRequires-Python: >=3.10\n",
    "named": "Name: named\nClassifier: Programming Language :: Python :: 3.12\n",
    "tells": "Name: tells\n\nRequires-Python: >=3.12 stands in the description only\n",
}
MODERN = {"modern", "named"}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of installed libraries with these metadata, and one without any."""
    folder = tmp_path / "site-packages"
    for name, text in METADATA.items():
        told = folder / f"{name}_dist-1.0.dist-info"
        told.mkdir(parents=True)
        (told / "METADATA").write_text(text, "utf-8")
        (told / "RECORD").write_text(f"{name}/__init__.py,,\n{name}/a.py,,\n", "utf-8")
    for name in (*METADATA, "nameless"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
    importers.forget()
    return folder


def judged(name: str, file: Path | str | None) -> Importer:
    space = {"__name__": name} if file is None else {"__name__": name, "__file__": str(file)}
    return importers.importer(space)


@pytest.mark.parametrize("name", [*METADATA, "nameless"])
def test_libraries_are_judged_by_what_they_say_of_themselves(installed: Path, name: str) -> None:
    expected = Importer.OTHER if name in MODERN else Importer.LIBRARY
    assert judged(f"{name}.part", installed / name / "part.py") is expected


@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("__main__", "/home/me/train.py", Importer.PROGRAM),
        ("__main__", None, Importer.PROGRAM),
        ("test_layers", "/home/me/tests/test_layers.py", Importer.PROGRAM),
        ("queue", "/home/me/queue.py", Importer.PROGRAM),  # named as one of Python's
        ("helper", "/home/me/program.zip/helper.py", Importer.PROGRAM),
        ("tensorflow_utils", "/home/me/tensorflow_utils.py", Importer.PROGRAM),
        ("queue", importlib.import_module("queue").__file__, Importer.OTHER),
        ("sys", None, Importer.OTHER),
        ("numpy.linalg", np.linalg.__file__, Importer.OTHER),
        ("keras.layers", "/home/me/share/keras-2.3.1/keras/layers.py", Importer.OTHER),
        ("kameleon.backend", str(SOURCE / "kameleon" / "backend.py"), Importer.OTHER),
        ("tensorflow.python", "/x/site-packages/tensorflow/python/__init__.py", Importer.OTHER),
        ("tensorboard.compat", "/x/site-packages/tensorboard/compat.py", Importer.OTHER),
        ("torch.utils", "/x/torch/utils.py", Importer.OTHER),
        ("tensorflow_hub.module", "/x/site-packages/tensorflow_hub/module.py", Importer.LIBRARY),
    ],
)
def test_modules_are_judged_by_their_files(name: str, file: str | None, expected: Importer) -> None:
    folders = {"/x/site-packages/": {}}
    with pytest.MonkeyPatch.context() as patch:
        known = importers._distributions
        patch.setattr(importers, "_distributions", lambda f: folders.get(f) or known(f))
        if file is not None and file.startswith("/x/site-packages"):
            patch.setattr(importers, "_distributions", lambda f: {})
        importers._judge.cache_clear()
        assert judged(name, file) is expected


# --- what they see ----------------------------------------------------------------------------


@pytest.fixture
def _began() -> Iterator[None]:
    before = builtins.__import__
    importing.begin()
    stand_in._warned.clear()
    yield
    builtins.__import__ = before


PROGRAM = "/home/me/train.py"


def executed(code: str, file: Path | str = PROGRAM, name: str = "train") -> dict[str, Any]:
    """The globals of a module in that file, after its code."""
    space: dict[str, Any] = {"__name__": name, "__file__": str(file)}
    exec(compile(code, str(file), "exec"), space)
    return space


def seen(code: str, file: Path | str = PROGRAM, name: str = "train") -> Any:
    """What the code gives the name `seen`, where old names warn nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OldNameWarning)
        return executed(code, file, name)["seen"]


# Ways to reach NumPy; each gives the type `float`.
WAYS = (
    "import numpy; seen = numpy.float",
    "import numpy as np; seen = np.float",
    "from numpy import float as seen",
    "import importlib; seen = importlib.import_module('numpy').float",
    "from importlib import import_module; seen = import_module('numpy').float",
    "seen = __import__('numpy').float",
    "import numpy.linalg; seen = numpy.float",
    "def late():\n    import numpy as np\n    return np.float\nseen = late()",
    "import numpy as np; seen = getattr(np, 'float')",
    "seen = eval('__import__(\"numpy\").float')",
)


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("code", WAYS)
def test_all_ways_to_import(code: str) -> None:
    assert seen(code) is float


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("name", ["old", "nameless"])
def test_libraries_of_the_day_see_what_their_source_names(installed: Path, name: str) -> None:
    file = installed / name / "__init__.py"
    for code in WAYS[:3]:
        assert seen(code, file, name) is float
    for looks in ("hasattr(numpy, 'float')", "getattr(numpy, 'float', False)"):
        assert seen(f"import numpy; seen = {looks}", file, name) is False


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("name", sorted(MODERN))
def test_modern_libraries_see_the_library_itself(installed: Path, name: str) -> None:
    assert seen("import numpy as seen", installed / name / "__init__.py", name) is np


@pytest.mark.usefixtures("_began")
def test_nobody_else_sees_a_stand_in() -> None:
    held: Any = executed("import numpy, numpy.random, numpy.lib")["numpy"]
    assert held is not np and sys.modules["numpy"] is np
    assert type(np) is type(np.random) is type(sys.modules["numpy.lib"]) is ModuleType
    assert not hasattr(np, "float") and "float" not in vars(np)
    # Whoever is handed a stand-in sees what the library has.
    looks = "import sys\nseen = hasattr(sys.held, 'float')"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "held", held, raising=False)
        assert seen(looks)
        assert not seen(looks, np.__file__, "numpy.looks")


@pytest.mark.usefixtures("_began")
def test_a_stand_in_is_the_library_in_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    held: Any = executed("import numpy")["numpy"]
    assert held.ndarray is np.ndarray and held.polynomial is np.polynomial
    assert (held.__name__, held.__file__, held.__spec__) == ("numpy", np.__file__, np.__spec__)
    assert repr(held) == repr(np) and isinstance(held, ModuleType)
    assert pickle.loads(pickle.dumps(held)) is np
    assert vars(held) is vars(np) and {"zeros", "float"} <= {*dir(held)}
    with pytest.raises(AttributeError, match="nothing"):
        held.nothing  # noqa: B018
    monkeypatch.setattr(np, "kameleon_sets", 1, raising=False)
    held.kameleon_sets = 2  # as programs of 2019 set `np.load`
    assert np.kameleon_sets == held.kameleon_sets == 2
    del held.kameleon_sets
    assert not hasattr(np, "kameleon_sets")
    np.kameleon_sets = None


@pytest.mark.usefixtures("_began")
def test_what_a_program_sets_goes_before_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    held: Any = executed("import numpy")["numpy"]
    monkeypatch.setattr(np, "meshgrid", np.meshgrid)
    held.meshgrid = len
    assert held.meshgrid is np.meshgrid is len
    monkeypatch.undo()
    del importing._stand_ins["numpy"]


@pytest.mark.usefixtures("_began")
def test_everything_at_once() -> None:
    space = executed("from numpy import *")
    assert space["product"]([2, 3]) == 6 and space["zeros"] is np.zeros
    assert space["Inf"] == np.inf and "__name__" in space and space["__file__"] == PROGRAM


def test_everything_at_once_warns_of_nothing() -> None:
    def value(library: ModuleType) -> str:
        warnings.warn("it is going, too", DeprecationWarning, stacklevel=2)
        return library.__name__

    table = stand_in.Table(gone={"old": stand_in.Old("new", value)})
    found = stand_in.StandIn(ModuleType("library"), table).everything()
    assert vars(found)["old"] == "library"


# --- the warning ------------------------------------------------------------------------------


def test_what_has_left_meanwhile_is_given_as_gone() -> None:
    gone = {"name": stand_in.constant("today", 1)}
    table = stand_in.Table(gone, changed={"name": lambda today: today + 1})
    library: Any = ModuleType("library")
    with pytest.warns(OldNameWarning, match=r"library\.name is gone"):
        assert stand_in.StandIn(library, table).name == 1
    library.name = 2
    assert stand_in.StandIn(library, table).name == 3


@pytest.mark.usefixtures("_began")
def test_each_name_warns_a_module_once() -> None:
    code = "import numpy as np\n\nfor _ in 'ab':\n    np.float\nnp.float\nnp.Inf"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        executed(code)
        executed("import numpy as np; np.float", "/home/me/other.py", "other")
    lines = [(w.filename, w.lineno, w.category) for w in caught]
    assert lines == [
        (PROGRAM, 4, OldNameWarning),
        (PROGRAM, 6, OldNameWarning),
        ("/home/me/other.py", 1, OldNameWarning),
    ]
    assert "numpy.float is gone" in str(caught[0].message)
    assert str(caught[1].message).endswith("Today: numpy.inf")


@pytest.mark.usefixtures("_began")
def test_imports_warn_at_the_line_that_imports(tmp_path: Path, monkeypatch: Any) -> None:
    """A library that warns whoever imports it finds the line, as without Kameleon."""
    warns = "import warnings\nwarnings.warn('gone soon', UserWarning, stacklevel=2)\n"
    (tmp_path / "kameleon_warns.py").write_text(warns, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match="gone soon") as caught:
        executed("x = 1\nimport kameleon_warns")
    assert (caught[0].filename, caught[0].lineno) == (PROGRAM, 2)
    del sys.modules["kameleon_warns"]


# --- programs ---------------------------------------------------------------------------------

USES = "import numpy as np\nprint(np.float, np.Inf, np.product([2, 3]), hasattr(np, 'NaN'))\n"
SAID = "<class 'float'> inf 6 True\n"


def write(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """Write files, a small Keras among them; return settings that name it and the libraries."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    libraries = folder / "site-packages"
    return write_small_keras(folder / "original") | {"PYTHONPATH": f"{SOURCE}:{libraries}"}


PYTEST = {
    "conftest.py": "import numpy as np\nimport pytest\n\n"
    "@pytest.fixture\ndef zero():\n    return np.float(0)\n",
    "tests/test_it.py": "import numpy as np\nimport helper, library\n\n"
    "def test_it(zero):\n    assert np.product([zero + 1]) == 1\n"
    "    assert helper.kind() == 'i' and library.kind() == 'f'\n",
    "helper.py": "import numpy\ndef kind():\n"
    "    return numpy.ones(2).astype(numpy.int).dtype.kind\n",
    "site-packages/library.py": "import numpy\ndef kind():\n"
    "    return numpy.zeros(2, numpy.float).dtype.kind\n",
}


def test_modules_that_pytest_loads(tmp_path: Path) -> None:
    settings = write(tmp_path, PYTEST)
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "tests"]
    found = run([*RUN, "-m", "pytest", *options], tmp_path, settings)
    assert found.returncode == 0, found.stdout
    assert "1 passed" in found.stdout and "OldNameWarning: numpy.product is gone" in found.stdout
    assert "tests/test_it.py:5" in found.stdout.replace(str(tmp_path), "")


@pytest.mark.parametrize("how", ["script", "module", "import"])
def test_programs(tmp_path: Path, how: str) -> None:
    settings = write(tmp_path, {"program.py": USES})
    if how == "import":
        found = run_code("import kameleon.as_keras\n" + USES, tmp_path, settings)
    else:
        program = ["program.py"] if how == "script" else ["-m", "program"]
        found = run([*RUN, *program], tmp_path, settings)
        assert "program.py:2: OldNameWarning: numpy.float is gone" in found.stderr
    assert (found.returncode, found.stdout) == (0, SAID), found.stderr


@pytest.mark.parametrize("by", ["option", "variable"])
def test_the_switch(tmp_path: Path, by: str) -> None:
    settings = write(tmp_path, {"program.py": USES})
    option = ["--no-old-names"] if by == "option" else []
    variable = {} if by == "option" else {"KAMELEON_OLD_NAMES": "0"}
    found = run([*RUN, *option, "program.py"], tmp_path, settings | variable)
    assert found.returncode == 1
    assert "AttributeError: module 'numpy' has no attribute 'float'" in found.stderr


FAILS = {
    "program.py": "def f():\n    import numpy, package.inner\n\nf()\n",
    "package/__init__.py": "",
    "package/inner.py": "import sys\n1 / 0\n",
    "absent.py": "try:\n    import nothing_of_this_name\nexcept ImportError:\n    open('absent')\n",
}


@pytest.mark.parametrize("program", ["program.py", "absent.py"])
def test_tracebacks_are_pythons(tmp_path: Path, program: str) -> None:
    settings = write(tmp_path, FAILS)
    expected = run([program], tmp_path, settings)
    found = run([*RUN, program], tmp_path, settings)
    assert (found.returncode, found.stderr) == (expected.returncode, expected.stderr)


# --- what objects have lost ------------------------------------------------------------------

LOOKS = "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\nseen = hasattr(df, 'append')"


@pytest.mark.usefixtures("_began")
def test_objects_have_old_names_for_old_code_alone(installed: Path) -> None:
    pytest.importorskip("pandas")
    assert seen(LOOKS)
    assert not seen(LOOKS, installed / "old" / "a.py", "old.a")  # it merely looks
    named = LOOKS.partition("seen")[0] + "seen = len(df.append(df))"
    assert seen(named, installed / "old" / "a.py", "old.a") == 2
    modern = installed / "modern" / "a.py"
    assert not seen(LOOKS, modern, "modern.a")
    with pytest.raises(AttributeError, match="'DataFrame' object has no attribute 'append'"):
        seen(named, modern, "modern.a")
    with pytest.raises(TypeError, match="positional"):
        seen(LOOKS.partition("seen")[0] + "seen = df.drop('a', 1)", modern, "modern.a")
    assert (
        seen(
            "import pandas as pd\nseen = pd.DataFrame({'append': [1]}).append.sum()",
            modern,
            "modern.a",
        )
        == 1
    )


@pytest.mark.usefixtures("_began")
def test_a_class_says_in_its_own_words_what_it_lacks(installed: Path) -> None:
    pytest.importorskip("h5py")
    executed("import h5py")  # by old code, for which the class gets its descriptors
    code = "import h5py\nh5py.Dataset.value"
    with pytest.raises(AttributeError, match="has no attribute 'value'"):
        executed(code, installed / "modern" / "a.py", "modern.a")


@pytest.mark.usefixtures("_began")
def test_a_method_that_is_gone_warns_its_line() -> None:
    pytest.importorskip("pandas")
    code = "import pandas as pd\nx = pd.Series([1])\nseen = list(x.iteritems())"
    with pytest.warns(OldNameWarning, match="Series.iteritems is gone") as told:
        executed(code)
    assert [(w.filename, w.lineno) for w in told] == [(PROGRAM, 3)]


# --- what is given ------------------------------------------------------------------------------

# By what old code says, what it gets.
GIVEN: dict[str, Any] = {
    "from collections import Iterable; seen = isinstance([], Iterable)": True,
    "import collections; seen = isinstance({}, collections.Mapping)": True,
    "import collections; seen = collections.OrderedDict(a=1)": {"a": 1},
    "import inspect; seen = inspect.getargspec(lambda a, b=1, *c: a)": (
        ["a", "b"],
        "c",
        None,
        (1,),
    ),
    "import time; seen = time.clock() >= 0": True,
    "import string; seen = string.join(['a', 'b'])": "a b",
    "from distutils.version import LooseVersion as V; seen = V('1.10') > V('1.9')": True,
    "from distutils.util import strtobool; seen = strtobool('Yes')": 1,
    "import distutils.spawn; seen = distutils.spawn.find_executable('sh') is not None": True,
    "import pkg_resources as p; seen = p.resource_string('json', 'decoder.py')[:3]": b'"""',
    "import pkg_resources as p; seen = p.resource_exists('json.tool', '__init__.py')": True,
    "import pkg_resources as p; seen = p.resource_listdir('json', '') > []": True,
    "from pkg_resources import parse_version as v; seen = v('1.10') > v('1.9')": True,
    "import pkg_resources as p; seen = p.get_distribution('numpy>=1.2').project_name": "numpy",
    "import pkg_resources as p; seen = str(p.get_distribution('numpy').parsed_version) > '1'": True,
    "import pkg_resources as p; seen = [d.key for d in p.require('numpy')]": ["numpy"],
    "import pkg_resources as p\ntry: p.get_distribution('no-such')\n"
    "except p.DistributionNotFound: seen = 1": 1,
    "import scipy; seen = float(scipy.interp(1.5, [1, 2], [3, 4]))": 3.5,
    "import scipy; seen = scipy.zeros(2).tolist()": [0, 0],
    "from scipy.misc import logsumexp; seen = float(logsumexp([0.0]))": 0.0,
    "from scipy.signal import hann; seen = hann(3).tolist()": [0, 1, 0],
    "import scipy.signal; seen = scipy.signal.gaussian(3, 1)[1]": 1.0,
    "from scipy.ndimage.interpolation import zoom; seen = zoom([1.0, 1.0], 2).tolist()": [1.0] * 4,
    "import scipy.ndimage as n; seen = float(n.filters.gaussian_filter([1.0, 1.0], 1)[0])": 1,
    "from PIL import Image; seen = Image.ANTIALIAS == Image.LANCZOS": True,
    "import PIL.Image; seen = PIL.Image.fromstring('L', (1, 1), b'a').getpixel((0, 0))": 97,
    "from sklearn.externals import joblib; seen = callable(joblib.dump)": True,
    "import sklearn.preprocessing as p; seen = p.OneHotEncoder(sparse=False).sparse_output": False,
    "from sklearn.preprocessing import Imputer; seen = Imputer(axis=1).fit_transform("
    "[[1, float('nan'), 3]]).tolist()": [[1, 2, 3]],
    "from sklearn.metrics import mean_squared_error as e; seen = e([0], [3], squared=False)": 3,
    "from sklearn.utils.linear_assignment_ import linear_assignment as a; "
    "seen = a([[2, 1], [1, 2]]).tolist()": [[0, 1], [1, 0]],
    "from sklearn.cross_validation import train_test_split as s; seen = len(s([1, 2]))": 2,
    "from sklearn.ensemble.forest import RandomForestClassifier as F; seen = F().n_estimators": 100,
    "from sklearn.cluster.k_means_ import KMeans; seen = KMeans(3).n_clusters": 3,
    "import sklearn.linear_model.base as b; seen = callable(b.LinearRegression)": True,
    "from sklearn.feature_extraction.text import TfidfVectorizer, VectorizerMixin\n"
    "v = TfidfVectorizer(); v.fit(['b a_']); seen = v.get_feature_names()": ["a_"],
    "from sklearn.utils import check_array; seen = len(check_array([[1.]], force_all_finite=False))"
    "": 1,
    "from sklearn.utils.metaestimators import if_delegate_has_method as d\n"
    "class A:\n part = []\n @d(delegate='part')\n def pop(self): pass\n"
    " @d(delegate=('gone', 'part'))\n def keys(self): pass\n"
    "seen = [hasattr(A(), 'pop'), hasattr(A(), 'keys')]": [True, False],
    "import matplotlib.pyplot as p; seen = p.hist([1, 1], bins=1, normed=True)[0].tolist()": [1],
    "import matplotlib.pyplot as p; seen = p.cm.get_cmap('gray').name": "gray",
    "from matplotlib.cbook import deprecated; seen = callable(deprecated)": True,
    "import skimage.transform as t; import numpy as np; "
    "seen = t.resize(np.eye(2) > 0, (1, 1), order=1, mode='constant').tolist()": [[0.5]],
    "import numpy as n; x = n.full(shape=2, fill_value=3); y = n.stack(arrays=[x, x]); "
    "y = n.array_split(ary=y, indices_or_sections=2)[0]; z = n.random.permutation(x=y); "
    "seen = n.asarray(a=n.array(object=z)).tolist()": [[3, 3]],
    "import numpy as n\nclass A:\n def __array__(self, *how): raise NotImplementedError\n"
    "x = A(); seen = [n.array(y).shape for y in ([x, 1.0], [[x, x]], ((x, x), [x]))]": [
        (2,),
        (1, 2),
        (2,),
    ],
    "import networkx as n; g = n.Graph(); g.add_node(1, a=2); seen = g.node[1]['a']": 2,
    "import networkx as n; seen = n.adjacency_matrix(n.path_graph(2)).get_shape()": (2, 2),
    "import networkx as n; seen = n.to_scipy_sparse_matrix(n.path_graph(2)).toarray().tolist()": [
        [0, 1],
        [1, 0],
    ],
    "import networkx as n; seen = [list(g) for g in n.connected_component_subgraphs("
    "n.Graph([(1, 2), (3, 4)]))]": [[1, 2], [3, 4]],
    "import networkx as n; seen = n.OrderedMultiDiGraph([(1, 2)]).is_directed()": True,
    "import gast; k = gast.Constant(True, None); "
    "seen = [isinstance(k, c) for c in (gast.NameConstant, gast.Num, gast.Str)]": [
        True,
        False,
        False,
    ],
    "import gast; seen = [gast.Str('a').value, isinstance(gast.Num(2), gast.Num)]": ["a", True],
    "import yaml; seen = yaml.load('a: [1]')": {"a": [1]},
    "from IPython.core.display import display, clear_output; seen = callable(display)": True,
    "import tifffile as t; seen = t.imsave is t.imwrite": True,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Python itself still has
@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("code", GIVEN)
def test_what_old_code_gets(code: str) -> None:
    library = code.split()[1].partition(".")[0].rstrip(";")
    pytest.importorskip(library)
    assert seen(code) == GIVEN[code]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of SciPy, that it's empty
@pytest.mark.usefixtures("_began")
def test_images_are_read_scaled_and_written(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("scipy")
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    misc: Any = executed("import scipy.misc as misc")["misc"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OldNameWarning)
        space = {"__name__": "train", "__file__": PROGRAM, "misc": misc, "image": image,
                 "path": str(tmp_path / "a.png")}  # fmt: skip
        code = (
            "misc.imsave(path, image); read = misc.imread(path); half = misc.imresize(image, 50);"
            "wide = misc.imresize(image, (4, 12), 'nearest'); grey = misc.imread(path, True);"
            "bytes_ = misc.bytescale([0.0, 0.5, 1.0]); turned = misc.imrotate(image, 180)"
        )
        exec(compile(code, PROGRAM, "exec"), space)
    np.testing.assert_array_equal(space["read"], image)
    assert space["half"].shape == (2, 3, 3) and space["wide"].shape == (4, 12, 3)
    assert space["grey"].dtype == np.float32 and space["grey"].shape == (4, 6)
    assert space["bytes_"].tolist() == [0, 128, 255]
    np.testing.assert_array_equal(space["turned"], image[::-1, ::-1])


@pytest.mark.usefixtures("_began")
def test_a_file_without_a_mode_is_made(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = str(tmp_path / "a.h5")
    assert seen(f"import h5py\nwith h5py.File({path!r}) as f: f['x'] = 1\nseen = True")
    assert seen(f"import h5py\nwith h5py.File({path!r}) as f: seen = int(f['x'][()])") == 1


@pytest.mark.usefixtures("_began")
def test_files_are_opened_for_universal_newlines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtins, "open", settings_file.settings_open)
    (tmp_path / "a").write_bytes(b"a\r\nb")
    code = f"with open({str(tmp_path / 'a')!r}, 'rU') as f: seen = f.read()"
    assert seen(code) == "a\nb"
    with pytest.raises(ValueError, match="rU"):
        seen(code, np.__file__, "numpy.reads")


@pytest.mark.usefixtures("_began")
def test_a_module_that_is_gone_names_what_brings_it_back() -> None:
    if importlib.util.find_spec("telnetlib"):
        pytest.skip("Python still has it")
    with pytest.raises(ModuleNotFoundError) as told:
        executed("import telnetlib")
    assert "pip install standard-telnetlib" in "".join(told.value.__notes__)


# --- classes in C -------------------------------------------------------------------------------

# By what code says of an array or a number: what modern code gets of it.
IN_C = {
    "hasattr(np.zeros(1), 'itemset')": False,
    "hasattr(np.float32(1), 'newbyteorder')": False,
    "hasattr(np.ma.zeros(1), 'newbyteorder')": False,
    "repr(np.float64(1.5))": repr(np.float64(1.5)),
    "(np.float32(1) + 1.5).dtype.name": (np.float32(1) + 1.5).dtype.name,
    "hasattr(array.array('b'), 'fromstring')": False,
    "hasattr(ET.Element('a'), 'getchildren')": False,
}
LIBRARIES = "import array, numpy as np\nimport xml.etree.ElementTree as ET\n"


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("said", IN_C)
def test_classes_in_c_have_old_names_for_old_code_alone(installed: Path, said: str) -> None:
    code = f"{LIBRARIES}seen = {said}"
    assert seen(code) != IN_C[said]
    assert seen(code, installed / "modern" / "a.py", "modern.a") == IN_C[said]


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize("said", ["float(x)", "bool(x[:0])", "'%d' % x"])
def test_arrays_count_as_numbers_for_old_code_alone(installed: Path, said: str) -> None:
    code = f"import numpy as np\nx = np.array([2.5])\nseen = {said}"
    assert seen(code) in (2.5, False, "2")
    modern = installed / "modern" / "a.py"
    plain = {"__name__": np.__name__, "__file__": np.__file__}
    try:
        exec(code, plain)
    except (TypeError, ValueError, DeprecationWarning) as error:
        with pytest.raises(type(error), match=str(error)[:20]):
            seen(code, modern, "modern.a")
    else:  # an older NumPy, which still does so
        assert seen(code, modern, "modern.a") == plain["seen"]


@pytest.mark.usefixtures("_began")
def test_classes_stay_closed() -> None:
    executed("import numpy")
    with pytest.raises(TypeError, match="immutable type"):
        np.ndarray.itemset = 1
    assert isinstance(np.zeros(2).view(np.recarray)[0], np.float64)


@pytest.mark.usefixtures("_began")
def test_a_class_that_is_called_on_the_spot() -> None:
    code = (
        "import numpy as np\ndef f(kind=np.uint8):\n"
        "    return np.uint8(-2), [np.uint8(x) for x in (-1, 2)], kind is type(kind(3))\n"
        "class A:\n    z = np.uint8(-1)\n    n = np.uint8.__name__\n"
        "seen = [f(), A.z, A.n, np.uint8 is np.array([1], np.uint8).dtype.type,"
        " np.add(np.uint8(3), -4), np.add.reduce([1, 2]), np.uint8(*[-1])]"
    )
    assert seen(code) == [(254, [255, 2], True), 255, "uint8", True, -1, 3, 255]


@pytest.mark.usefixtures("_began")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("float(np.ones((1, 1)))", "float() of an array of one element is gone"),
        ("np.uint8(-1)", "wrapping an integer around"),
        ("np.vstack(x for x in ([1], [2]))", "numpy.vstack(generator) is gone"),
        ("np.reshape([1, 2], newshape=(2, 1))", "numpy.reshape(newshape=…) is gone"),
        ("np.uint8(200) + 100", "an operator gives of numpy.uint8 and int"),
        ("np.zeros(1).itemset(0, 2.0)", "ndarray.itemset is gone"),
    ],
)
def test_each_way_warns_its_line_once(code: str, told: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        executed(f"import numpy as np\nfor _ in 'ab':\n    {code}\n{code}")
    assert [(w.filename, w.lineno, w.category) for w in caught] == [(PROGRAM, 3, OldNameWarning)]
    assert told in str(caught[0].message)


def test_where_classes_cannot_be_opened_they_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closed.OPENING, "_holds", False)
    closed.put(bytearray, "kameleon_tries", 1)
    assert not hasattr(bytearray, "kameleon_tries")

    class Open: ...

    closed.put(Open, "kameleon_tries", 1)
    assert Open.kameleon_tries == 1  # type: ignore[attr-defined]
