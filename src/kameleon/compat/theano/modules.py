"""The modules of Theano that old programs import: `theano`, `theano.tensor` …"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from ...backend import surface as K
from ...config import floatx, set_floatx
from ...errors import MissingNameError
from . import functions, methods, networks
from .tensors import NAMES, tensor

ROOT = "theano"
VERSION = "1.0.4"

WHY = "Theano itself isn't behind Kameleon, and K has nothing of that name"
# What to use for some of the names that aren't there.
HINTS = {
    "sandbox": "K functions",
    "svd": "numpy.linalg.svd, outside of the graph",
    "nlinalg": "numpy.linalg, outside of the graph",
    "slinalg": "scipy.linalg, outside of the graph",
    "Op": "kameleon.call, for functions of arrays",
    "fft": "numpy.fft, outside of the graph",
}


class Config:
    """`theano.config`: floatX is K's; all else is held and says nothing."""

    device, mode, optimizer, compute_test_value = "cpu", "FAST_RUN", "fast_run", "off"
    exception_verbosity, cxx, openmp, linker = "low", "", False, "cvm"
    base_compiledir = compiledir = ""
    # The dtype of tensors that are made without one.
    floatX = property(lambda self: floatx(), lambda self, x: set_floatx(x))  # noqa: N815


class Namespace(ModuleType):
    """Some of a library's names over K functions; any other name is an error that says what to use.

    Args:
        name: what the program calls the module.
        why: why it has no other names.
        hints: for some of these, what to use instead.

    >>> Namespace("K.ctc", "it isn't there", {"ctc_loss": "K.ctc_batch_cost"}).ctc_loss
    Traceback (most recent call last):
      ...
    kameleon.errors.MissingNameError: K.ctc.ctc_loss: it isn't there; use K.ctc_batch_cost
    """

    def __init__(self, name: str, why: str, hints: Mapping[str, str]) -> None:
        super().__init__(name)
        self._why, self._hints = why, hints

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy, pickle and inspect, not by a program
            raise AttributeError(name)
        use = self._hints.get(name, "K functions (such as K.sum, K.dot, K.switch) instead")
        raise MissingNameError(f"{self.__name__}.{name}: {self._why}; use {use}")

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(self) if not name.startswith("_"))


class Print:
    """`theano.printing.Print(message)(x)` is x, and shows its value when it's computed."""

    def __init__(self, message: str = "", attrs: Any = (), **more: Any):
        self.message = message

    def __call__(self, x: Any) -> Any:
        return K.print_tensor(tensor(x), self.message)


def _asarray(a: Any, dtype: Any, order: Any = None) -> Any:
    return np.asarray(a, dtype=floatx() if dtype == "floatX" else dtype)


SUBTENSORS = {"set_subtensor": methods.set_subtensor, "inc_subtensor": methods.inc_subtensor}
STREAMS = {
    "RandomStreams": functions.RandomStreams, "MRG_RandomStreams": functions.RandomStreams,
}  # fmt: skip
GRADIENTS = {
    "grad": functions.grad, "jacobian": functions.jacobian, "hessian": functions.hessian,
    "disconnected_grad": K.stop_gradient, "consider_constant": K.stop_gradient,
}  # fmt: skip
LOOPS = {"scan": functions.scan, "map": functions.scan_map, "reduce": functions.reduce}
POOLS = {"pool_2d": networks.pool_2d, "max_pool_2d": networks.pool_2d}
COMPILING = {
    "function": functions.function, "shared": functions.shared, "In": functions.In,
    "Param": lambda variable, default=None, name=None: functions.In(variable, name, default),
    "UnusedInputError": functions.UnusedInputError,
}  # fmt: skip
PRINTING = {
    "Print": Print, "pp": builtins.repr, "debugprint": lambda x, *a, **o: print(repr(x)),
    "pprint": builtins.repr,
}  # fmt: skip

# By path, the names of a module; a name with an empty path is the package's own.
MODULES: Mapping[str, Mapping[str, Any]] = {
    "": {
        **COMPILING, **GRADIENTS, **LOOPS, "clone": functions.clone, "config": Config(),
        "_asarray": _asarray, "__version__": VERSION, "version": VERSION,
        "pp": PRINTING["pp"], "Variable": NAMES["Variable"],
    },
    "tensor": {**NAMES, **SUBTENSORS, **GRADIENTS},
    "tensor.basic": {**NAMES, **SUBTENSORS, **GRADIENTS},
    "tensor.subtensor": SUBTENSORS,
    "tensor.extra_ops": {name: NAMES[name] for name in ("cumsum", "repeat", "squeeze")},
    "tensor.nnet": networks.NAMES,
    "tensor.nnet.nnet": networks.NAMES,
    "tensor.nnet.conv": {"conv2d": networks.conv2d},
    "tensor.signal": {},
    "tensor.signal.pool": POOLS,
    "tensor.signal.downsample": POOLS,
    "tensor.shared_randomstreams": STREAMS,
    "tensor.raw_random": {},
    "sandbox": {},
    "sandbox.rng_mrg": STREAMS,
    "ifelse": {"ifelse": functions.ifelse},
    "gradient": GRADIENTS,
    "scan_module": LOOPS,
    "compile": COMPILING,
    "compile.sharedvalue": {"shared": functions.shared},
    "printing": PRINTING,
}  # fmt: skip


@cache
def module(name: str) -> ModuleType:
    """The module that old code gets by a full name in Theano.

    Raises:
        ModuleNotFoundError: there is none.
    """
    path = name.removeprefix(ROOT).removeprefix(".")
    if path not in MODULES:
        raise ModuleNotFoundError(
            f"{name}: Theano itself isn't behind Kameleon; use K functions", name=name
        )
    made = Namespace(name, WHY, HINTS)
    made.__path__ = []
    made.__spec__ = ModuleSpec(name, None, is_package=True)
    vars(made).update(MODULES[path])
    for child in MODULES:
        package, _, last = child.rpartition(".")
        if child and package == path and last not in MODULES[path]:
            vars(made)[last] = module(f"{ROOT}.{child}")
    return made


def provided(name: str) -> ModuleType:
    """The module, for old code, which sees tensors as Theano's from then on."""
    methods.install()
    return module(name)
