"""Public libraries for TensorFlow 1, and their own tests that run on its Python files above K."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

NONE: Mapping[str, str] = MappingProxyType({})


class Library(NamedTuple):
    """A library, and which of its tests run.

    Attributes:
        package: name and version in the package index.
        needs: what it needs beside TensorFlow, as it is today.
        tests: patterns of its modules of tests.
        left_out: modules, and why they aren't run.
        fail: by test, why it may fail.
    """

    package: str
    needs: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: Mapping[str, str] = NONE
    fail: Mapping[str, str] = NONE


SLOW = "minutes of convolutions"
NETWORK = "downloads pictures"
DUMPS = "TensorFlow's debugger reads what its runtime in C++ writes"
THEIRS = "fails on TensorFlow 1.15, too: `add_scalar_summary` isn't there"
LEFT_OUT = "fails on TensorFlow 1.15, too: its network reads a state that the test leaves out"

ROUNDED = "NumPy's own Cholesky decomposition is compared: float32's last digits differ"

LIBRARIES = [
    Library("trfl==1.1.0", ("dm-tree", "six", "tensorflow-probability==0.8.0", "decorator",
                            "cloudpickle"), ("trfl/*_test.py",)),
    Library(
        "gpflow==1.5.1",
        (
            *("six", "multipledispatch", "tabulate", "scipy", "pytest", "pandas<3", "pytz"),
            *("decorator", "mock"),
        ),
        ("tests/test_*.py",),
        dict.fromkeys(("tests.test_examples", "tests.test_notebooks"), SLOW),
    ),
    Library(
        "tf-slim==1.0", ("absl-py",), ("tf_slim/*_test.py", "tf_slim/data/*_test.py",
                                       "tf_slim/nets/alexnet_test.py"),
        fail={
            "TrainTest.testTrainWithSessionWrapper": DUMPS,
            "SingleEvaluationTest.testAdditionalHooks": DUMPS,
            **{f"SummariesTest.testScalarSummary{name}": THEIRS
               for name in ("IsPartOfCollectionWithNoPrint", "IsPartOfCollectionWithPrint",
                            "IsWrittenWithNoPrint", "IsWrittenWithPrint")},
        },
    ),
    Library("tflearn==0.3.2", ("six", "pillow"), ("tests/test_*.py",),
            {"tests.test_validation_monitors": NETWORK}),
    Library("tensorforce==0.4.3", ("six", "tqdm", "Pillow"),
            ("tensorforce/tests/test_memory.py", "tensorforce/tests/test_reward_estimation.py",
             "tensorforce/tests/test_vpg_agent.py", "tensorforce/tests/test_dqn_agent.py"),
            fail={"TestDQNAgent.test_multi": LEFT_OUT}),
    Library("t3f==1.1.0", ("six",), ("t3f/*_test.py",),
            fail={"BatchKroneckerTestFloat32.testCholesky": ROUNDED}),
    Library("tensorflow-constrained-optimization==0.2", ("scipy", "six"),
            ("tensorflow_constrained_optimization/python/*_test.py",
             "tensorflow_constrained_optimization/python/*/*_test.py")),
    Library("mesh-tensorflow==0.1.18", ("future", "six", "gin-config", "mock"),
            ("mesh_tensorflow/ops_test.py", "mesh_tensorflow/layers_test.py")),
]  # fmt: skip
