"""Operations that run at once: Python values become tensors, and a kernel is called."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..capi.exports import as_text, export
from ..capi.nests import is_resource_variable, is_tensor
from ..failures import UNFIT, failure, invalid, is_failure
from . import tapes
from .context import RAISED
from .conversion import as_array
from .signatures import MIXED, ONE, Argument, Signature, signature
from .tensors import Kind, kind_of, tensor

if TYPE_CHECKING:
    from .context import Context
    from .kernels import Kernel

# Running ----------------------------------------------------------------------------------------


def run(
    context: Context, name: str, pairs: tuple[Any, ...], inputs: list[Any]
) -> tuple[Kernel, list[Any]]:
    """What an operation gives for eager tensors, and what computed it.

    Args:
        context: what holds its variables and functions.
        name: the type, or the name of a function.
        pairs: names of attributes, each with its value, as signatures have it.
        inputs: the tensors.
    """
    key = (name, pairs, tuple([each._number for each in inputs]))
    kernel: Kernel | None = context.kernels.get(key)
    try:
        if kernel is None:
            kernel = _begin(context, key)
        return kernel, kernel(inputs)
    except Exception as error:
        raise _failed(error, name, kernel, inputs) from error


def _begin(context: Context, key: Any) -> Kernel:
    from .kernels import Kernel

    name, pairs, numbers = key
    function = context.functions.get(name)
    found = signature(name) if function is None else Signature(function.signature)
    if found is None:
        raise failure("NOT_FOUND", f"Op type not registered '{name}'")
    made = context.kernels[key] = Kernel(context, found, pairs, numbers)
    return made


def _failed(
    error: Exception, name: str, kernel: Kernel | None = None, inputs: Sequence[Any] = ()
) -> Exception:
    """What an operation raised, as the class that TensorFlow's files turn into their errors."""
    from kameleon.errors import KameleonError

    if isinstance(error, (KameleonError, *UNFIT)) and not is_failure(error):
        mismatch = None if kernel is None else kernel.mismatch(inputs)
        error = mismatch or invalid(str(error))
    if not is_failure(error):
        return error
    found: Any = error
    own = rf"\{{\{{node {re.escape(name)}(_\d+)?"  # of it nobody knows; nodes of functions are told
    message = re.sub(rf"\n\t \[\[{own}\}}\}}\]\]", "", found.message)
    message = re.sub(f"{own}/", "{{node ", message)
    made: Exception = RAISED["ExceptionClass"](f"{message} [Op:{name}]", found.error_code)
    return made


@export("TFE_Py_Execute")
def execute(
    context: Context,
    device: Any,
    name: str | bytes,
    inputs: Sequence[Any],
    attributes: tuple[Any, ...] | None,
    count: Any,
) -> list[Any]:
    """Run an operation on tensors."""
    text = as_text(name)
    for place, each in enumerate(inputs):
        if type(each) is not Kind.tensor:
            raise TypeError(_foreign(place, each))
    found = signature(text)
    pairs: tuple[Any, ...] = ()
    if found is not None and attributes:
        try:
            pairs = found.pairs(attributes)
        except Exception as error:
            raise _failed(error, text) from error
    return run(context, text, pairs, list(inputs))[1]


def _foreign(place: int, value: Any) -> str:
    """What is wrong with an input that isn't an eager tensor."""
    if is_tensor(value) and hasattr(value, "graph"):
        return (
            'An op outside of the function building code is being passed\na "Graph" tensor.'
            " A tf.init_scope within the function lets\nits tensors get out."
            f"\nThe graph tensor has name: {value.name}"
        )
    about = "provided list of inputs contains objects other than 'EagerTensor'."
    return f"{about} Item {place} is {kind_of(value)}"


@export("TFE_Py_ExecuteCancelable")
def _execute_cancelable(
    context: Context, device: Any, name: Any, inputs: Any, attributes: Any, cancel: Any, count: Any
) -> list[Any]:
    if cancel.is_cancelled:
        raise _failed(failure("CANCELLED", "Operation was cancelled"), str(name))
    return execute(context, device, name, inputs, attributes, count)


# From Python values -----------------------------------------------------------------------------


class _Call:
    """The Python values of a call, while they become tensors.

    Attributes:
        tensors: the inputs.
        attributes: what follows from them.
    """

    def __init__(self, found: Signature, given: Sequence[Any], attributes: dict[str, Any]) -> None:
        self._signature, self._given = found, given
        self.tensors: list[Any] = []
        self.attributes: dict[str, Any] = {}
        self._types = {
            name: attributes[name] for name, kind in found.attributes.items()
            if kind == "type" and name in attributes
        }  # fmt: skip

    def convert(self, context: Context) -> None:
        """Make tensors of all values."""
        for argument, value in zip(self._signature.inputs, self._given, strict=False):
            if argument.many == ONE:
                self._add(context, argument, value)
                continue
            if not isinstance(value, list | tuple):
                raise RAISED["FallbackExceptionClass"](f"{argument.name} must be a list or a tuple")
            first = len(self.tensors)
            for each in value:
                self._add(context, argument, each)
            if argument.many == MIXED:
                self.attributes[argument.attribute] = tuple(
                    each._number for each in self.tensors[first:]
                )
            else:
                self.attributes[argument.size] = len(value)

    def _add(self, context: Context, argument: Argument, value: Any) -> None:
        if type(value) is Kind.tensor:
            found = value
        elif is_resource_variable(value):
            found = _read(context, value)
        else:
            found = self._converted(argument, value)
        self.tensors.append(found)
        name = argument.attribute
        if name and argument.many != MIXED and name not in self._types:
            self._types[name] = self.attributes[name] = found._number

    def _converted(self, argument: Argument, value: Any) -> Any:
        if argument.many == MIXED:
            return self._made(value, None)
        wanted = argument.type or self._types.get(argument.attribute)
        if wanted is None:
            wanted = self._of_others(argument.attribute)
        if wanted is not None:
            return self._made(value, wanted)
        default = self._signature.defaults.get(argument.attribute)
        if default is not None:
            try:
                return tensor(*as_array(value, default))
            except (TypeError, ValueError):
                pass
        return self._made(value, None)

    @staticmethod
    def _made(value: Any, wanted: int | None) -> Any:
        try:
            return tensor(*as_array(value, wanted))
        except Exception as error:
            raise RAISED["FallbackExceptionClass"](str(error)) from None

    def _of_others(self, attribute: str) -> int | None:
        """The type of a tensor among the values that have the same type."""
        for argument, value in zip(self._signature.inputs, self._given, strict=False):
            if argument.attribute == attribute:
                for each in [value] if argument.many == ONE else value:
                    if type(each) is Kind.tensor:
                        found: int = each._number
                        return found
        return None


def _read(context: Context, variable: Any) -> Any:
    """The value of a variable."""
    tapes.variable_accessed(variable)
    handle = variable._handle
    pairs = ("dtype", variable.dtype._type_enum)
    _, (found,) = run(context, "ReadVariableOp", pairs, [handle])
    tapes.record_gradient("ReadVariableOp", [handle], pairs, [found], None)
    return found


@export("TFE_Py_FastPathExecute")
def fast_path(
    context: Context, device: Any, name: str, label: Any, callbacks: Any, *arguments: Any
) -> Any:
    """Run an operation on Python values: its inputs, then names of attributes, each with its value.

    Raises:
        _FallbackException: (TensorFlow's) its own Python files will do that.
    """
    if sys.is_finalizing():
        return None  # handles that are let go of when the process ends
    found = signature(name)
    if context is None or found is None:
        raise RAISED["FallbackExceptionClass"]("no context")
    count = len(found.inputs)
    raw = arguments[count:]
    given = _attributes(found, raw)
    call = _Call(found, arguments[:count], given)
    call.convert(context)
    inferred = tuple([part for pair in call.attributes.items() for part in pair])
    plain = tuple([part for pair in given.items() for part in pair]) + inferred
    kernel, results = run(context, name, plain, call.tensors)
    if tapes.is_recording():
        tapes.record_gradient(name, call.tensors, (*raw, *inferred), results, label)
    for callback in callbacks or ():
        callback(name, tuple(call.tensors), (*raw, *inferred), results, label)
    return _packed(kernel, results)


def _attributes(found: Signature, raw: Sequence[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for at in range(0, len(raw), 2):
        value = raw[at + 1]
        if value is None and found.has_default(raw[at]):
            continue
        try:
            made[raw[at]] = found.attribute(raw[at], value)
        except (TypeError, ValueError, AttributeError) as error:
            raise RAISED["FallbackExceptionClass"](str(error)) from None
    return made


def _packed(kernel: Kernel, results: list[Any]) -> Any:
    """The results as functions of TensorFlow's Python give them."""
    counts = kernel.counts
    if len(counts) == 1:
        return results[0] if counts[0] is None else results
    if not counts:
        return None
    if all(count is None for count in counts):
        return results
    rest = iter(results)
    return [next(rest) if count is None else [next(rest) for _ in range(count)] for count in counts]
