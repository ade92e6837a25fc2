"""From a seed to a program."""

from __future__ import annotations

import numpy as np

from kameleon import backend as K

from .calls import CALLS, WEIGHTS
from .draft import Draft, first_line
from .program import Program

SHORTEST, LONGEST = 20, 60  # lines
UPDATES = ["update", "update_add", "update_sub"]
_NAMES = list(CALLS)
_CHANCES = np.array([WEIGHTS.get(name, 1.0) for name in _NAMES])
_CHANCES /= _CHANCES.sum()


def drafted(seed: int) -> Draft:
    """The draft of the program of a seed.

    Raises:
        WrongError: a line gives what it must not; the error has the lines so far in a note.
    """
    K.clear_session()
    draft = Draft(seed)
    draft.input(draft.shape(1, 3))
    length = draft.int(SHORTEST, LONGEST)
    while len(draft.lines) < length:
        name = _NAMES[int(draft.random.choice(len(_NAMES), p=_CHANCES))]
        try:
            expression = CALLS[name](draft)
            if expression is not None:
                draft.add(expression)
        except Exception as error:
            error.add_note("\n".join((first_line(draft.dtype), *draft.lines)))
            raise
    _update(draft)
    return draft


def _update(draft: Draft) -> None:
    """Let some variables take new values; not those whose numbers must stay in a range."""
    ranged = {line.partition(" ")[0] for line in draft.lines if "'index " in line}
    for entry in [e for e in draft.entries if e.name.startswith("w")]:
        source = draft.pick(
            lambda e, w=entry: (
                e.name != w.name  # type: ignore[misc]
                and e.shape == w.shape
                and e.value.dtype == w.value.dtype
            )
        )
        if source is not None and entry.name not in ranged and draft.flag(0.4):
            kinds = ["update"] if entry.value.dtype.kind == "b" else UPDATES
            kind = draft.choice(kinds)
            draft.lines.append(f"update(K.{kind}({entry.name}, {source.name}))")


def generated(seed: int) -> Program:
    """The program of a seed."""
    return drafted(seed).program()
