"""The context of eager execution: variables, functions, compiled operations; devices, executors."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial
from typing import Any

from ..capi.exports import as_text, constantly, export
from ..graph import LibraryFunction, messages
from ..variables import Store


class Context:
    """What operations that run at once share.

    Attributes:
        store: the variables, and other things that are kept.
        functions: by name, functions that can be called.
        kernels: by type, attributes and types of inputs, what runs an operation.
        owners: how many hold a function, by its name: who is the last takes it away.
    """

    def __init__(self, options: Any = None) -> None:
        from ..running.prepared import function

        self.store = Store(function)
        self.functions: dict[str, LibraryFunction] = {}
        self.kernels: dict[Any, Any] = {}
        self.owners: Counter[str] = Counter()
        self._numbers = itertools.count()

    def unused(self, name: str) -> str:
        """A name that nothing else has."""
        return f"_Anonymous{name}{next(self._numbers)}"


export("TFE_NewContext")(Context)

# By name, what TensorFlow's Python files register: classes of exceptions; gradients and sums.
RAISED: dict[str, Any] = {}
TOLD: dict[str, Any] = {}
for _name in ("ExceptionClass", "FallbackExceptionClass"):
    export(f"TFE_Py_Register{_name}")(partial(RAISED.__setitem__, _name))
for _name in ("VSpace", "GradientFunction", "ForwardGradientFunction"):
    export(f"TFE_Py_Register{_name}")(partial(TOLD.__setitem__, _name))


# Functions --------------------------------------------------------------------------------------


@export("TFE_ContextAddFunction")
def _add(context: Context, function: LibraryFunction) -> None:
    context.functions.setdefault(function.name, function)
    context.owners[function.name] += 1


@export("TFE_ContextAddFunctionDef")
def _add_definition(context: Context, data: bytes, size: int) -> None:
    _add(context, LibraryFunction(messages("function_pb2").FunctionDef.FromString(data)))


export("TFE_ContextHasFunction")(lambda context, name: as_text(name) in context.functions)


@export("TFE_ContextClearCaches")
def _clear(context: Context) -> None:
    context.kernels.clear()
    context.store.streams.clear()


@export("TFE_ContextRemoveFunction")
def _remove(context: Context, name: str | bytes) -> None:
    text = as_text(name)
    context.owners[text] -= 1
    if context.owners[text] > 0:
        return
    del context.owners[text]
    context.functions.pop(text, None)
    for key in [key for key in context.kernels if key[0] == text]:
        del context.kernels[key]
    for stream in [stream for stream in context.store.streams if stream[0] == text]:
        del context.store.streams[stream]


@export("TFE_ContextExportRunMetadata")
def _export(context: Context, buffer: Any) -> None:
    buffer.data = b""  # no step is traced


# Cancelling -------------------------------------------------------------------------------------


class Cancellation:
    """Whether somebody wants calls to end.

    Attributes:
        is_cancelled: so it is.
    """

    is_cancelled = False

    def cancel(self) -> None:
        """Let calls end."""
        self.is_cancelled = True


export("TFE_NewCancellationManager")(Cancellation)
export("TFE_CancellationManagerIsCancelled")(lambda manager: manager.is_cancelled)
export("TFE_CancellationManagerStartCancel")(Cancellation.cancel)


# Executors, policies ----------------------------------------------------------------------------

constantly(object(), "TFE_NewExecutor TFE_ContextGetExecutorForThread TFE_NewContextOptions")
constantly(False, "TFE_ExecutorIsAsync")
constantly(2, "TFE_ContextGetDevicePlacementPolicy")
constantly(0, "TFE_ContextGetMirroringPolicy")
constantly(
    None,
    "TFE_ExecutorWaitForAllPendingNodes TFE_ExecutorClearError"
    " TFE_ContextSetExecutorForThread TFE_ContextSetThreadLocalDevicePlacementPolicy"
    " TFE_ContextSetThreadLocalMirroringPolicy TFE_ContextStartStep TFE_ContextEndStep"
    " TFE_ContextEnableRunMetadata TFE_ContextDisableRunMetadata"
    " TFE_ContextEnableGraphCollection TFE_ContextDisableGraphCollection"
    " TFE_Py_EnableInteractivePythonLogging TFE_ClearScalarCache"
    " TFE_ContextOptionsSetConfig TFE_ContextOptionsSetAsync"
    " TFE_ContextOptionsSetDevicePlacementPolicy TFE_ContextOptionsSetMirroringPolicy"
    " TFE_Py_SetEagerContext",
)
