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

VARIANTS = "lists in checkpoints aren't read back"
OLDER_SESSION = "fails on TensorFlow 1.15, too: it names a tensor that isn't there"
AT_ONCE = "two calls read and change a variable, and nothing tells which of them comes first"
OTHER_ROWS = "fails on TensorFlow 1.15, too: it expects other rows"

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
    Library("graph_nets==1.0.5", ("dm-sonnet==1.36", "networkx", "absl-py", "six", "future",
                                  "contextlib2", "semantic_version", "decorator", "cloudpickle",
                                  "tensorflow-probability==0.8.0"),
            ("graph_nets/tests/*_test.py",)),
    Library("tensorflow-gan==1.0.0.dev0", ("tensorflow-probability==0.8.0", "tensorflow-hub==0.7.0",
                                           "absl-py", "six", "decorator", "cloudpickle"),
            ("tensorflow_gan/python/*_test.py", "tensorflow_gan/python/features/*_test.py",
             "tensorflow_gan/python/losses/*_test.py", "tensorflow_gan/python/eval/*_test.py"),
            fail={"InceptionScoreTest.test_inception_score_value": OLDER_SESSION,
                  "SpectralNormalizationTest.test_multiple_calls0 (repeat_type='double',"
                  " training=True, expect_same=True)": AT_ONCE}),
    Library("tf-agents==0.3.0", ("gin-config==0.3.0", "tensorflow-probability==0.8.0", "absl-py",
                                 "six", "decorator", "cloudpickle", "mock"),
            ("tf_agents/replay_buffers/*_test.py", "tf_agents/networks/*_test.py",
             "tf_agents/agents/dqn/*_test.py", "tf_agents/agents/reinforce/*_test.py",
             "tf_agents/bandits/environments/*_test.py", "tf_agents/metrics/*_test.py"),
            {"tf_agents.networks.q_rnn_network_test": "needs an environment of Gym's"},
            fail={"EpisodicTableTest.testCheckpoint": VARIANTS,
                  **{f"EpisodicReplayBufferTest.testSingleDeterministicPassAsDatasetWith{name}":
                     OTHER_ROWS for name in ("NumStepsBatchSize", "NumStepsBatchSizeAndShift")}}),
    Library("mesh-tensorflow==0.1.18", ("future", "six", "gin-config", "mock"),
            ("mesh_tensorflow/ops_test.py", "mesh_tensorflow/layers_test.py")),
]  # fmt: skip
