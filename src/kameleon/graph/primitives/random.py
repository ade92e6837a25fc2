"""Random numbers: Threefry-2x32 with 20 rounds, written in integer primitives.

A stream is opened by a `random_source` leaf; its key (two uint32 words: seed, call number) is
an operand that the runtime feeds. What a draw is, exactly:

- key: (seed mod 2**32, number of the calls before this one that succeeded); in step t of a
  loop the two words of the cipher for the counter (t, 2**32 - 1) under the outer key.
- words: a draw of `count` words encrypts the counters (0, 0), (1, 0) … (n - 1, 0) with
  n = ceil(count / 2); it is all first words, then all second words, cut to `count`, laid out in
  row-major order.
- uniform: the upper 24 bits of a word times 2**-24 (float16: 11 bits). float64 takes the words
  (high, low) from a draw of shape (2, *shape) and makes ((high >> 5) * 2**26 + (low >> 6)) *
  2**-53 of them.
- normal: `normal_quantile(2 u - 1 + step)`, with u the uniform and step 2**-24, or 2**-53 for
  float64: the midpoints of the uniform's cells.
- truncated normal: `normal_quantile(erf(sqrt(2)) * (2 u - 1 + step))`, in [-2, 2].
- integers below `span`: ((high >> 1) * 2**32 + low) mod span, of the same pairs of words.
- an event of probability p: word < round(p * 2**32).

Integers, events and uniforms have the same bits on every engine; normals differ as far as the
engines' logarithms do. Source of the cipher: Salmon, Moraes, Dror, Shaw, "Parallel random numbers:
as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DTypeError
from ..ir.leaves import SOURCE
from ..ir.node import Node, Primitive
from ..ir.types import FLOAT32, FLOAT64, INT64, UINT32, DType, Shape, TensorType
from .elementwise import (
    add,
    bit_or,
    bit_xor,
    cast,
    constant,
    lt,
    mod,
    mul,
    shift_left,
    shift_right,
    sub,
)
from .filling import full_like, scaled
from .indexing import gather
from .movement import broadcast_to, concatenate, iota, reshape, slice_axis
from .quantile import normal_quantile
from .sizes import Size, dims_of, merged, sizes_product, split

KEY = TensorType((2,), UINT32)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
ROUNDS = 20

# By dtype: how many bits of a word a uniform float holds (float64 takes two words).
SIGNIFICANT = {"float32": 24, "float16": 11, "bfloat16": 8}

ERF_ROOT_TWO = 0.9544997361036416  # erf(sqrt(2)): the probability of [-2, 2]


def open_source(seed: int) -> Node:
    """A new stream; every call of a program that uses it draws new numbers."""
    return Node(SOURCE, (), {"seed": int(seed) & 0xFFFFFFFF}, KEY)


def _rotate(x: Node, bits: int) -> Node:
    return bit_or(shift_left(x, full_like(x, bits)), shift_right(x, full_like(x, 32 - bits)))


def threefry(key: Node, x0: Node, x1: Node) -> tuple[Node, Node]:
    """The two words that the block cipher makes of the counter words x0, x1 under `key`."""
    k0, k1 = (reshape(slice_axis(key, 0, i, i + 1), ()) for i in (0, 1))
    k2 = bit_xor(bit_xor(k0, k1), constant(PARITY, UINT32))
    keys = [broadcast_to(k, dims_of(x0)) for k in (k0, k1, k2)]
    x0, x1 = add(x0, keys[0]), add(x1, keys[1])
    for block in range(ROUNDS // 4):
        for bits in ROTATIONS[block % 2]:
            x0 = add(x0, x1)
            x1 = bit_xor(_rotate(x1, bits), x0)
        x0 = add(x0, keys[(block + 1) % 3])
        x1 = add(add(x1, keys[(block + 2) % 3]), full_like(x1, block + 1))
    return x0, x1


def _expand_bits(key: Node, *sizes: Node, shape: Shape) -> Node:
    """Blocks 0, 1, … with counter words (block, 0): first words, then second words."""
    dims = merged(shape, sizes)
    count = sizes_product(dims)
    if isinstance(count, Node):
        half: Size = shift_right(add(count, full_like(count, 1)), full_like(count, 1))
    else:
        half = (count + 1) // 2
    counter = iota([half], 0, UINT32)
    words = concatenate(threefry(key, counter, full_like(counter, 0)), 0)
    if isinstance(count, Node):
        words = gather(words, iota([count]), 0)
    else:
        words = slice_axis(words, 0, 0, count)
    return reshape(words, dims)


def _check_key(key: Node) -> None:
    if key.dtype != KEY.dtype or key.shape not in (KEY.shape, (None,)):
        raise DTypeError(f"a key of random numbers is {KEY}, not {key.type}")


def _infer_bits(key: Node, *sizes: Node, shape: Shape) -> TensorType:
    _check_key(key)
    return TensorType(shape, UINT32)


def _infer_fold(key: Node, t: Node) -> TensorType:
    _check_key(key)
    if t.shape != () or not t.dtype.is_integer:
        raise DTypeError(f"the step of a loop is an integer scalar, not {t.type}")
    return KEY


_random_bits = Primitive(
    "random_bits",
    _infer_bits,
    "uint32 words of the stream under `key`",
    expand=_expand_bits,
)


def _expand_fold(key: Node, t: Node) -> Node:
    """The block of the counter (t, 2**32 - 1), which no draw uses."""
    word = reshape(cast(t, UINT32), (1,))
    return concatenate(threefry(key, word, full_like(word, 0xFFFFFFFF)), 0)


random_fold = Primitive(
    "random_fold",
    _infer_fold,
    "another key, for step t of a loop",
    expand=_expand_fold,
)


def random_bits(key: Node, dims: Sequence[Size]) -> Node:
    """Random uint32 words in the shape `dims`."""
    shape, sizes = split(dims)
    return _random_bits(key, *sizes, shape=shape)


def uniform(key: Node, dims: Sequence[Size], dtype: DType) -> Node:
    """Floats in [0, 1): 24 random bits, or 53 for float64 (so 0 occurs, 1 never)."""
    if not dtype.is_float:
        raise DTypeError(f"random floats were asked for with dtype {dtype}; K.cast them")
    if dtype == FLOAT64:
        high, low = _two_words(key, dims)
        high = cast(shift_right(high, full_like(high, 5)), FLOAT64)
        low = cast(shift_right(low, full_like(low, 6)), FLOAT64)
        bits = add(mul(high, full_like(high, 2.0**26)), low)
        return mul(bits, full_like(bits, 2.0**-53))
    kept = SIGNIFICANT[dtype]
    words = random_bits(key, dims)
    words = cast(shift_right(words, full_like(words, 32 - kept)), dtype)
    return mul(words, full_like(words, 2.0**-kept))


def _two_words(key: Node, dims: Sequence[Size]) -> tuple[Node, Node]:
    pairs = random_bits(key, [2, *dims])
    rest = dims_of(pairs)[1:]
    high, low = (reshape(slice_axis(pairs, 0, i, i + 1), rest) for i in (0, 1))
    return high, low


def centered(key: Node, dims: Sequence[Size], dtype: DType) -> Node:
    """Floats in the open interval (-1, 1), symmetric about 0: odd multiples of one step.

    For float32 and float64; float16 is too coarse for the tails of the normals made of these.
    """
    u = uniform(key, dims, dtype)
    step = 2.0**-53 if dtype == FLOAT64 else 2.0**-24
    return sub(mul(full_like(u, 2), u), full_like(u, 1 - step))


def wide(dtype: DType) -> DType:
    """The dtype in which floats of `dtype` are made: float16 is too coarse."""
    return FLOAT32 if dtype.is_float and dtype.itemsize < 4 else dtype


def normal(key: Node, dims: Sequence[Size], dtype: DType) -> Node:
    """Standard normal floats, in `wide(dtype)`."""
    return normal_quantile(centered(key, dims, wide(dtype)))


def truncated_normal(key: Node, dims: Sequence[Size], dtype: DType) -> Node:
    """Standard normal floats given that they lie in [-2, 2], in `wide(dtype)`."""
    return normal_quantile(scaled(centered(key, dims, wide(dtype)), ERF_ROOT_TWO))


def integers(key: Node, dims: Sequence[Size], span: int) -> Node:
    """int64 numbers in [0, span), for 0 < span < 2**63: 63 random bits modulo `span`.

    A number's probability is 1 / span but for an error below span / 2**63 of it.
    """
    high, low = _two_words(key, dims)
    high = cast(shift_right(high, full_like(high, 1)), INT64)
    bits = bit_or(shift_left(high, full_like(high, 32)), cast(low, INT64))
    return mod(bits, full_like(bits, span))


def below(key: Node, dims: Sequence[Size], probability: float | Node) -> Node:
    """Bools that hold with `probability`: words below a threshold (exact where it's 0 or 1).

    A tensor (a float scalar) is compared with uniform floats instead.
    """
    if isinstance(probability, Node):
        u = uniform(key, dims, probability.dtype)
        return lt(u, broadcast_to(probability, dims_of(u)))
    words = random_bits(key, dims)
    threshold = round(probability * 2.0**32)
    if threshold >= 2**32:
        return lt(full_like(words, 0), full_like(words, 1))
    return lt(words, full_like(words, threshold))
