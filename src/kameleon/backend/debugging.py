"""What helps to find out why numbers are wrong: checks, and statistics of tensors over steps."""

from __future__ import annotations

from ..graph.ir.node import Watch
from ..runtime.inspection import checking, watching
from ..runtime.inspection.watching import Watched
from ._effects import shown
from ._tensors import Tensor, TensorLike, as_tensor

__all__ = ["set_check", "watch", "watched"]


def set_check(check: str | None) -> None:
    """Let all functions check what they make, those that are made already, too.

    A call that makes NaN or Inf fails then, with the first node that makes it, what the node was
    given, and the line that made it; no variable has changed. Each call waits for its results, and
    looks at them; one that fails is made again node by node.

    Args:
        check: 'nan'; or None, which is how a program begins: nothing is checked, at no cost.

    Raises:
        ArgumentError: another check is named.

    >>> from kameleon import backend as K
    >>> x = K.placeholder((2,))
    >>> f = K.function([x], [K.log(x)])
    >>> K.set_check('nan')
    >>> f([[1., -1.]])
    Traceback (most recent call last):
        ...
    kameleon.errors.NonFiniteError: K.function: output 0 has NaN
      it begins in log(float32[2])
      which was made at ...
      and gives float32[2]: 1 of 2 elements NaN, the others from 0 to 0, mean 0
      operand 0 is float32[2]: from -1 to 1, mean 0
    >>> K.set_check(None)
    >>> f([[1., -1.]])
    [array([ 0., nan], dtype=float32)]
    """
    checking.set_setting(checking.mode_of(check, "set_check"))


def watch(x: TensorLike, name: str) -> Tensor:
    """A tensor equal to `x` whose statistics are kept whenever it's computed; `K.watched` has them.

    Args:
        x: a tensor. (To watch a gradient, watch what `K.gradients` gives.)
        name: under which they're kept, for all sessions, until `K.clear_session`.

    Returns:
        The tensor to use instead of `x`; where that isn't computed, nothing is kept. In the
        functions of loops, each step is kept.

    >>> from kameleon import backend as K
    >>> x = K.placeholder((2,))
    >>> f = K.function([x], [2. * K.watch(x, 'x')])
    >>> _ = f([[0., 1.]]), f([[3., 5.]])
    >>> print(K.watched())
    tensor  steps  mean  deviation  smallest  largest  zeros  NaN   Inf
    x       2      4     1          3         5        0.0%   0.0%  0.0%
    """
    return shown(as_tensor(x, "watch"), Watch, str(name))


def watched() -> Watched:
    """The statistics of all tensors that `K.watch` names, step by step.

    Returns:
        An object that prints as a table of what came last. `data` has arrays over the steps: of
        mean, deviation, smallest and largest of the finite elements, and which part of all
        elements is zero, NaN, infinite. `write(folder)` writes them for TensorBoard.

    >>> from kameleon import backend as K
    >>> _ = K.eval(K.watch(K.constant([1., 3.]), 'h'))
    >>> K.watched().data['h']['mean']
    array([2.])
    """
    return watching.watched()
