"""The tree of errors: what went wrong, and what to do about it.

An error that Kameleon raises is a `KameleonError` and also of the built-in class that users of
the documented API catch (`ValueError` for bad arguments, `TypeError` for bad kinds). Where a
protocol of Python's or Keras's asks for a built-in class (indexing, say), that alone is raised.
"""

from __future__ import annotations

import sys
import warnings


class KameleonError(Exception):
    """Base of all errors raised on purpose by Kameleon.

    Remedy: catch it where you'd go on after any of them; a fault of Kameleon's isn't one of them.

    >>> issubclass(ShapeError, KameleonError) and issubclass(ShapeError, ValueError)
    True
    """


class ArgumentError(KameleonError, ValueError):
    """An argument has a value that the function cannot take.

    Cause: a word that isn't among those that are allowed, say, or a number out of range.
    Remedy: the message names the function, the argument, what came and what was expected.
    """


class ShapeError(ArgumentError):
    """Shapes do not fit each other or the function.

    Cause: two sizes differ that must be equal, or there's no such axis.
    Remedy: print `K.int_shape` of the operands; reshape, expand or transpose one of them.
    """


class KindError(ArgumentError, TypeError):
    """An argument is of another kind than the function takes.

    Cause: a string, say, where a number is needed, or one tensor in place of a list of them.
    Remedy: the message names the function, the argument, and what it may be.
    """


class UnsupportedError(ArgumentError, NotImplementedError):
    """An argument asks for something that the function is not defined for.

    Cause: the argument makes sense, and neither the documentation nor Kameleon has it.
    Remedy: the message says what the function is defined for.
    """


class DTypeError(KameleonError, TypeError, ValueError):
    """A dtype is unknown, or not one that the function is defined for.

    Cause: a misspelt dtype; or a tensor of bools, say, where numbers are needed.
    Remedy: `K.cast(x, dtype)`.
    """


class GradientError(KameleonError, ValueError):
    """A gradient was asked for that does not exist or is not known.

    Cause: the loss isn't a tensor of floats, or comes of an operation that has no gradient.
    Remedy: `K.stop_gradient`, `K.custom_gradient`, or a differentiable formulation.
    """


class GraphError(KameleonError, ValueError):
    """A graph breaks one of the rules that `graph.ir.verify` checks.

    Cause: a node was built by hand, by a new primitive or a pass of an engine, with operands or
    attributes that it can't have. Programs that use K alone don't see this.
    Remedy: correct what built the node; the message says which rule it breaks.
    """


class FileFormatError(GraphError):
    """A file that should hold a saved function doesn't, or is damaged.

    Cause: the file is of another kind, of a newer version, cut off, or changed on its way; the
    message names the file and the place in it.
    Remedy: save the function anew, or get the file again from where it comes from.
    """

    place = ""  # in the file

    def at(self, place: str) -> FileFormatError:
        """The error with `place` in front; an error that has a place already is given back."""
        if self.place:
            return self
        found = FileFormatError(f"{place}: {self}")
        found.place = place
        return found


class TargetError(KameleonError, OSError):
    """A file can't be written because something else has its name: a folder, a device, a pipe.

    Cause: the path is one of a folder, say; what isn't a file is never replaced.
    Remedy: name another path.
    """


class UnpicklableError(KameleonError, TypeError):
    """A symbolic tensor can't be pickled: it's part of a graph.

    Cause: a tensor was given to another process, or is kept by an object that is.
    Remedy: pickle the function that computes it (`K.function`), or `K.get_value(variable)`.
    """


class FeedError(KameleonError, ValueError):
    """A value given for an input is missing, superfluous, or of the wrong shape or dtype.

    Cause: a function is called with values that don't fit its placeholders; or a tensor depends on
    a placeholder that isn't among the inputs.
    Remedy: the message names the input, its shape and the value's, or what to add to the inputs.
    """


class EvaluationError(KameleonError, ValueError):
    """An engine failed while it ran a node.

    Cause: mostly values that the operation isn't defined for, such as an index out of range; or
    sizes that turn out not to fit when the graph runs.
    Remedy: the message cites the node and the line that made it. State is as before the call.
    """


class NonFiniteError(EvaluationError):
    """A call has made NaN or Inf, and `check='nan'` asks for an error then.

    Cause: a logarithm or a root of a negative number, a division by 0, a learning rate that's too
    large: the message names the first node that makes it, what it was given, and your line.
    Remedy: `K.clip`, `K.maximum(x, K.epsilon())`, a loss `from_logits`, smaller steps; no variable
    has changed.
    """


class EngineError(KameleonError, RuntimeError):
    """An engine cannot do what was asked of it.

    Cause: its library refuses a graph or can't be loaded, its process has ended, or it was asked
    for something that only other engines have.
    Remedy: the message names it; another engine computes the same.
    """


class EngineNotFoundError(EngineError, ImportError, ValueError):
    """An engine was asked for that is unknown or not installed.

    Cause: a misspelt name, or a library that isn't there.
    Remedy: the message lists the engines, or holds the line that installs the library.
    """


class HostingError(KameleonError, ImportError):
    """The process has a Keras already that can't be replaced by the one on Kameleon.

    Cause: Keras, or a library that brings one, was imported before Kameleon.
    Remedy: `import kameleon.as_keras` first, or `kameleon run script.py`.
    """


class ByteCodeError(KameleonError, ValueError):
    """A model file holds a function as byte code, which would run when the model is loaded.

    Cause: Keras 2 stores the functions of `Lambda` layers as byte code.
    Remedy: `custom_objects={"name of the layer": function}`; or, for a file that you trust,
    `safe_mode=False`.
    """


class MissingNameError(KameleonError, AttributeError):
    """A program asks for a name that the original had and Kameleon hasn't.

    Cause: the name belongs to the inside of TensorFlow or Theano, or is one of their many others.
    Remedy: the message says what to use.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.obj = self  # so Python suggests no names that look alike


class MissingLibraryError(KameleonError, ImportError):
    """A library is needed that is not installed.

    Cause: what was asked for is done by a library that Kameleon doesn't need otherwise.
    Remedy: the message holds the line that installs it.
    """


class UncheckedFileWarning(UserWarning):
    """A file without a checksum was loaded: nothing tells whether its numbers were changed.

    Cause: the file was saved by an early version, or somebody has taken the checksum away.
    Remedy: if you trust the file, load it once and save it anew.
    """


class ConfigWarning(UserWarning):
    """A setting in `keras.json` or the environment was not usable; the default was taken.

    Cause: a value that isn't allowed, a file that isn't JSON, or an engine that isn't installed.
    Remedy: correct the setting; the message names the file, the key and what is allowed.
    """


class RecompilationWarning(UserWarning):
    """One function was compiled again and again, for other sizes each time.

    Cause: the engine (JAX) compiles for fixed sizes, and inputs keep coming in new sizes; or an
    integer that decides a shape keeps changing. Each compilation takes much longer than a call.
    On one device, the embedded engine makes the calls of sizes that don't come again, unless they
    would take it longer than compiling.
    Remedy: pad inputs to a few sizes; or choose an engine that compiles once for all sizes
    (`tensorflow`, `torch`, `onnxruntime`, `theano`, `numpy`).
    """


class OldNameWarning(FutureWarning):
    """A program uses a name that Python or a library had in its days, and Kameleon gives it.

    Cause: the program was written for Python 3.7, NumPy 1 or SciPy 1.1, say.
    Remedy: the message says what is written today; `KAMELEON_OLD_NAMES=0` in the environment, or
    `kameleon run --no-old-names`, gives no such names.
    """


# Errors that may be raised at any moment and say nothing about the operation that they end: memory
# or stack is exhausted, a signal's handler ends what takes too long (by a TimeoutError, say, which
# some code in C turns into a SystemError), or a filter makes a warning an error. They're passed on
# unchanged.
FOREIGN = (MemoryError, RecursionError, OSError, SystemError, Warning)

_INSIDE = (__name__.partition(".")[0], "jax", "importlib")


def warn(message: str, category: type[Warning], *also: str) -> None:
    """Warn at the line that led here from outside of Kameleon, and of other packages on the way."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in (*_INSIDE, *also):
            break
        level += not name.startswith("importlib._bootstrap")  # `warnings` doesn't count these
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
