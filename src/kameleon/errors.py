"""The tree of errors: what went wrong, and what to do about it.

An error that Kameleon raises is a `KameleonError` and also of the built-in class that users of
the documented API catch (`ValueError` for bad arguments, `TypeError` for bad kinds). Where a
protocol of Python's or Keras's asks for a built-in class (indexing, say), that alone is raised.
"""

from __future__ import annotations


class KameleonError(Exception):
    """Base of all errors raised on purpose by Kameleon.

    >>> issubclass(ShapeError, KameleonError) and issubclass(ShapeError, ValueError)
    True
    """


class ArgumentError(KameleonError, ValueError):
    """An argument has a value that the function cannot take.

    Remedy: the message names the function, the argument, what came and what was expected.
    """


class ShapeError(ArgumentError):
    """Shapes do not fit each other or the function.

    Remedy: print `K.int_shape` of the operands; reshape, expand or transpose one of them.
    """


class UnsupportedError(ArgumentError, NotImplementedError):
    """An argument asks for something that the function is not defined for.

    Remedy: the message says what the function is defined for.
    """


class DTypeError(KameleonError, TypeError, ValueError):
    """A dtype is unknown, or not one that the function is defined for.

    Remedy: `K.cast(x, dtype)`.
    """


class GradientError(KameleonError, ValueError):
    """A gradient was asked for that does not exist or is not known.

    Remedy: `K.stop_gradient`, `K.custom_gradient`, or a differentiable formulation.
    """


class GraphError(KameleonError, ValueError):
    """A graph breaks one of the rules that `ir.verify` checks (a fault of whoever built it)."""


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

    Remedy: name another path.
    """


class UnpicklableError(KameleonError, TypeError):
    """A symbolic tensor can't be pickled: it's part of a graph.

    Remedy: pickle the function that computes it (`K.function`), or `K.get_value(variable)`.
    """


class FeedError(KameleonError, ValueError):
    """A value given for an input is missing, superfluous, or of the wrong shape or dtype."""


class EvaluationError(KameleonError, ValueError):
    """An engine failed while it ran a node; the message cites the node and the user's line."""


class EngineError(KameleonError, RuntimeError):
    """An engine cannot do what was asked of it."""


class EngineNotFoundError(EngineError, ImportError, ValueError):
    """An engine was asked for that is unknown or not installed.

    Remedy: the message holds the line that installs it.
    """


class HostingError(KameleonError, ImportError):
    """The process has a Keras already that can't be replaced by the one on Kameleon.

    Remedy: `import kameleon.as_keras` first, or `kameleon run script.py`.
    """


class ByteCodeError(KameleonError, ValueError):
    """A model file holds a function as byte code, which would run when the model is loaded.

    Cause: Keras 2 stores the functions of `Lambda` layers as byte code.
    Remedy: `custom_objects={"name of the layer": function}`; or, for a file that you trust,
    `safe_mode=False`.
    """


class MissingNameError(KameleonError, AttributeError):
    """A program asks for a name that the original had and didn't document.

    Remedy: the message says what to use.
    """


class MissingLibraryError(KameleonError, ImportError):
    """A library is needed that is not installed.

    Remedy: the message holds the line that installs it.
    """


class UncheckedFileWarning(UserWarning):
    """A file without a checksum was loaded: nothing tells whether its numbers were changed.

    Cause: the file was saved by an early version, or somebody has taken the checksum away.
    Remedy: if you trust the file, load it once and save it anew.
    """


class ConfigWarning(UserWarning):
    """A setting in `keras.json` or the environment was not usable; the default was taken."""


class RecompilationWarning(UserWarning):
    """One function was compiled again and again, for other sizes each time.

    Cause: the engine (JAX) compiles for fixed sizes, and inputs keep coming in new sizes; or an
    integer that decides a shape keeps changing. Each compilation takes much longer than a call.
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
