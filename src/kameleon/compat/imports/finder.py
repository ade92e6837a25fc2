"""The import hook that answers where a program imports a Keras."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..keras2.loading import loaded_within
from .given import given
from .original import CHILDREN, hosted
from .own import fill, own_spec, stand_for
from .specs import is_loading, made, refusal
from .tensorflow import INSTEAD, TF_KERAS, with_our_keras

# Parts of later Keras that TensorFlow reaches for when a program says `tf.keras`.
OF_TENSORFLOW = ("keras.api", "keras._tf_keras")
LEGACY = "TF_USE_LEGACY_KERAS"  # TensorFlow's own switch to the package tf_keras


class AliasFinder(MetaPathFinder):
    """Answers for `keras` and its modules, and for those of TensorFlow that stand for them.

    To refuse, the finder answers with a module that raises when it's loaded: so code that only
    looks whether there is such a module isn't stopped.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        answers = {"keras": self._keras, "tensorflow": self._tensorflow}
        answer = answers.get(fullname.partition(".")[0])
        return answer(fullname, path) if answer else None

    def _keras(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        if name == "keras" and is_loading("tensorflow"):
            # TensorFlow looks for the parts of its own Keras, and goes on without them. It may be
            # Kameleon that imports TensorFlow: Keras would then find a backend half loaded.
            return refusal(name, "TensorFlow's own Keras isn't there")
        if name.startswith(OF_TENSORFLOW):
            return refusal(name, INSTEAD)
        if not given.original:
            return own_spec(name)
        spec = self._others(name, path) if name == "keras" else None
        return spec and loaded_within(spec, hosted)

    def _tensorflow(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        if not given.aliased:
            legacy = os.environ.get(LEGACY) in ("1", "true", "True")
            return refusal(name, INSTEAD) if name == TF_KERAS and not legacy else None
        if f"{name}.".startswith(f"{TF_KERAS}."):
            return made(name, partial(stand_for, name.removeprefix("tensorflow.")))
        if name != "tensorflow":
            return None
        spec = self._others(name, path)
        return loaded_within(spec, with_our_keras) if spec else made(name, fill)

    def _others(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """The spec that the other finders give, of what isn't there for other processes."""
        if path is None and CHILDREN in sys.path:
            path = [place for place in sys.path if place != CHILDREN]
        others = (finder.find_spec(name, path) for finder in sys.meta_path if finder is not self)
        return next(filter(None, others), None)
