"""Expressions that programs for TensorFlow 1 are made of; each adds what it gives to a draft."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .draft import FLOATS, INTS, NUMBERS, Dim, Draft, T

KINDS = (*NUMBERS, "bool")
ANY = (*KINDS, "uint8", "complex64", "string")
OF_FLOATS = """
tanh sin sigmoid square abs negative exp(tf.tanh({})) log(tf.abs({})+0.5) rsqrt(tf.square({})+0.5)
sqrt(tf.abs({})+0.1) erf atan floor ceil sign nn.relu nn.elu nn.selu nn.softplus nn.softsign
nn.leaky_relu clip_by_value({},-0.7,0.8) nn.relu6 expm1(tf.sin({})) asinh lgamma(tf.abs({})+1.0)
stop_gradient identity reciprocal(tf.abs({})+0.3) check_numerics({},'m') round zeros_like ones_like
cos log1p(tf.square({})) math.rint digamma(tf.abs({})+1.0) clip_by_norm({},1.5) nn.softmax
nn.log_softmax math.l2_normalize({},-1) math.xlogy({},tf.abs({})+0.5) tan(tf.sin({}))
custom_gradient(lambda_z:(tf.sin(z)*2.0,lambda_g:g*tf.cos(z)))({})
py_func(lambda_z:np.tanh(z),[{}],{}.dtype) math.cumulative_logsumexp({},-1)
where(tf.is_nan({}),{},{}*0.5)
""".split()
OF_NUMBERS = """
add({},{}) subtract({},{}) multiply({},{}) maximum({},{}) minimum({},{}) squared_difference({},{})
""".split()
OF_TWO_FLOATS = """
div_no_nan({},tf.floor({})) divide({},tf.abs({})+0.5) atan2({},tf.abs({})+0.2)
mod({},tf.abs({})+0.7) pow(tf.abs({})+0.2,tf.tanh({})) math.xdivy({},tf.square({})+1.0)
floordiv({},tf.abs({})+0.9)
""".split()
OF_TWO_INTS = """
floordiv({},tf.abs({})%5+1) mod({},tf.abs({})%5+1) bitwise.bitwise_xor({},{}) truncatediv({},{}%3-5)
bitwise.left_shift({},tf.abs({})%3) bitwise.bitwise_and({},{}) truncatemod({},{}%3-5)
""".split()
COMPARING = "less greater less_equal greater_equal equal not_equal".split()
REDUCING = "sum mean max min prod logsumexp std variance".split()
OF_COMPLEX = """
real({}) imag({}) abs({}) angle({}*0.5) real({}*tf.conj({}+1.0)) imag(tf.fft({}))
abs(tf.exp({}*0.1))
""".split()
EINSUMS = """
ab,bc->ac ab,ab->a ab,cb->ac ab,b->ba a,b->ab ab,bc->c abc,cd->abd abc,abc->b abc,adc->abd ab,ab->ab
""".split()
# Of one tensor: of which types, with how many axes, and what more is asked of it; expressions, one
# of which is drawn; type and sizes of what they give. `{n}` is the name, `{s}` a seed, `{d}` the
# type, `{k}` the first size, `{r}` 1 or 2, `{a}` the last axis.
Rule = Callable[[Draft, T], Any]
ROWS: list[tuple[tuple[str, ...], int, int, Callable[[T], bool], str, str, Rule]] = [
    (("bool",), 0, 4, bool, "tf.logical_not({n})", "", lambda d, x: x.dims),
    (INTS, 0, 4, bool, "tf.cast(tf.abs({n}) % 200, tf.uint8)", "uint8", lambda d, x: x.dims),
    (("uint8",), 0, 4, bool, "{n} + {n}|{n} // 7|tf.bitwise.invert({n})", "", lambda d, x: x.dims),
    (INTS, 0, 2, bool, "tf.as_string({n})", "string", lambda d, x: x.dims),
    (("string",), 0, 2, bool, "tf.substr({n}, 0, 1)|tf.string_join([{n}, {n}], '+')", "",
     lambda d, x: x.dims),
    (("string",), 0, 2, bool, "tf.strings.length({n})", "int32", lambda d, x: x.dims),
    (("string",), 0, 2, bool, "tf.strings.upper({n})|tf.strings.lower({n})"
     "|tf.strings.regex_replace({n}, '[a-c]+', '<\\\\0>')|tf.strings.strip({n})"
     "|tf.decode_base64(tf.encode_base64({n}))|tf.strings.substr({n}, -1, 1)"
     "|tf.where(tf.strings.regex_full_match({n}, '[a-z]*'), {n}, {n})", "", lambda d, x: x.dims),
    (("string",), 1, 2, bool, "tf.strings.reduce_join({n}, 0, separator=' ')", "",
     lambda d, x: x.dims[1:]),
    (("string",), 1, 1, bool, "tf.string_split({n}, '').values|tf.strings.bytes_split({n}).values"
     "|tf.unique({n})[0]|tf.strings.unicode_split({n}, 'UTF-8').flat_values", "",
     lambda d, x: [d.size()]),
    (INTS, 0, 2, bool, "tf.string_to_number(tf.as_string({n}), tf.{d})", "", lambda d, x: x.dims),
    (("string",), 0, 2, bool, "tf.string_to_hash_bucket_fast({n}, 9)", "int64",
     lambda d, x: x.dims),
    (("string",), 0, 2, bool, "tf.equal({n}, '1')", "bool", lambda d, x: x.dims),
    (NUMBERS, 1, 3, bool, "tf.sort({n})|tf.sort({n}, direction='DESCENDING')|tf.reverse({n}, [{a}])"
     "|tf.roll({n}, {r}, {a})|tf.cumsum({n}, {a}, exclusive=True)|tf.cumprod({n}, 0, reverse=True)"
     "|tf.gather({n}, tf.range(tf.shape({n})[0])[::-1])|tf.broadcast_to({n}[:1], tf.shape({n}))"
     "|tf.tensor_scatter_add({n}, [[0]], {n}[:1])|tf.tensor_scatter_update({n}, [[0]], {n}[:1])",
     "", lambda d, x: x.dims),
    (NUMBERS, 2, 2, bool, "tf.batch_gather({n}, tf.argsort({n}))|tf.matrix_band_part({n}, 0, -1)"
     "|tf.matrix_set_diag({n}, tf.matrix_diag_part({n}) * 2)", "", lambda d, x: x.dims),
    (KINDS, 1, 3, lambda x: is_fixed(x.dims[0]), "tf.gather({n}, v(({r},), 'int64', {s}, {k}))"
     "|tf.gather_nd({n}, v(({r}, 1), 'int32', {s}, {k}))", "", lambda d, x: (d.rows, *x.dims[1:])),
    (NUMBERS, 1, 3, lambda x: is_fixed(x.dims[0]),
     "tf.scatter_nd(v(({k}, 1), 'int32', {s}, 3), {n}, tf.concat([[3], tf.shape({n})[1:]], 0))"
     "|tf.unsorted_segment_sum({n}, v(({k},), 'int32', {s}, 3), 3)"
     "|tf.unsorted_segment_max({n}, v(({k},), 'int32', {s}, 3), 3)", "",
     lambda d, x: (3, *x.dims[1:])),
    (NUMBERS, 1, 3, lambda x: is_fixed(x.dims[0]),
     "tf.segment_sum({n}, np.sort(v(({k},), 'int32', {s}, 3)))"
     "|tf.segment_mean({n}, np.sort(v(({k},), 'int32', {s}, 3)))"
     "|tf.segment_max({n}, np.sort(v(({k},), 'int32', {s}, 3)))", "",
     lambda d, x: (d.size(), *x.dims[1:])),
    (ANY, 1, 4, bool, "tf.reshape({n}, [-1])", "", lambda d, x: [total(d, x.dims)]),
    (ANY, 2, 4, bool, "tf.reshape({n}, tf.concat([tf.shape({n})[:1], [-1]], 0))", "",
     lambda d, x: [x.dims[0], total(d, x.dims[1:])]),
    (ANY, 0, 3, bool, "tf.expand_dims({n}, 0)|{n}[tf.newaxis]", "", lambda d, x: (1, *x.dims)),
    (ANY, 1, 4, lambda x: x.dims[0] == 1, "tf.squeeze({n}, [0])", "", lambda d, x: x.dims[1:]),
    (ANY, 1, 1, bool, "tf.tile({n}, [2])|tf.concat([{n}, {n}], 0)", "",
     lambda d, x: [2 * x.dims[0] if isinstance(x.dims[0], int) else d.size()]),
    (NUMBERS, 1, 1, bool, "tf.pad({n}, [[1, 0]])|tf.pad({n}, [[1, 0]], 'SYMMETRIC')", "",
     lambda d, x: [x.dims[0] + 1 if isinstance(x.dims[0], int) else d.size()]),
    (NUMBERS, 1, 2, bool, "tf.dynamic_stitch([tf.range(tf.shape({n})[0]) * 2, "
     "tf.range(tf.shape({n})[0]) * 2 + 1], [{n}, {n} * 2])", "",
     lambda d, x: (x.dims[0] * 2 if isinstance(x.dims[0], int) else d.size(), *x.dims[1:])),
    (INTS, 0, 2, bool, "tf.one_hot({n}, 3, 1.5, -0.5)", "float32", lambda d, x: (*x.dims, 3)),
    (INTS, 1, 1, bool, "tf.sequence_mask({n}, 4)", "bool", lambda d, x: (*x.dims, 4)),
    (NUMBERS, 1, 4, bool, "tf.argmax({n}, 0)|tf.argmin({n}, 0)", "int64",
     lambda d, x: x.dims[1:]),
    (NUMBERS, 1, 4, bool, "tf.argmax({n}, -1, output_type=tf.int32)", "int32",
     lambda d, x: x.dims[:-1]),
    (KINDS, 0, 4, bool, "tf.shape({n})", "int32", lambda d, x: [x.rank]),
    (KINDS, 0, 4, bool, "tf.size({n}, out_type=tf.int64)", "int64", lambda d, x: []),
    (KINDS, 1, 4, bool, "tf.range(tf.shape({n})[0])", "int32", lambda d, x: x.dims[:1]),
    (KINDS, 0, 4, bool, "tf.fill(tf.shape({n}), small({n}, 'float32'))", "float32",
     lambda d, x: x.dims),
    (KINDS, 1, 4, bool, "tf.boolean_mask({n}, tf.equal({n}, {n}[:1]))", "",
     lambda d, x: [d.size()]),
    (KINDS, 0, 3, bool, "tf.where(tf.equal({n}, {n}))", "int64", lambda d, x: (d.size(), x.rank)),
    (FLOATS, 2, 2, lambda x: is_fixed(x.dims[1]),
     "tf.nn.softmax_cross_entropy_with_logits_v2(tf.nn.softmax({n} * 2), {n})"
     "|tf.nn.sparse_softmax_cross_entropy_with_logits(None, tf.argmin({n}, 1), {n})", "",
     lambda d, x: x.dims[:1]),
    (FLOATS, 0, 4, bool, "tf.nn.sigmoid_cross_entropy_with_logits(None, tf.sigmoid(-{n}), {n})", "",
     lambda d, x: x.dims),
    (FLOATS, 0, 4, bool, "tf.nn.l2_loss({n})|tf.losses.huber_loss({n}, tf.sin({n}))", "",
     lambda d, x: []),
    (FLOATS, 2, 3, bool, "tf.matmul({n}, {n}, transpose_b=True)", "",
     lambda d, x: (*x.dims[:-1], x.dims[-2])),
]  # fmt: skip


def is_fixed(size: Dim) -> bool:
    """Whether a size is known, and not 0."""
    return isinstance(size, int) and size > 0


def broadcast(a: T, b: T) -> tuple[Dim, ...] | None:
    """The sizes of what two tensors give together; None where they don't fit."""
    if a.rank < b.rank:
        a, b = b, a
    found = list(a.dims)
    for at in range(1, b.rank + 1):
        if found[-at] != b.dims[-at]:
            if 1 not in (found[-at], b.dims[-at]):
                return None
            found[-at] = b.dims[-at] if found[-at] == 1 else found[-at]
    return tuple(found)


def text_of(function: str, *names: str) -> str:
    """A call; of what is a name alone, too."""
    call = function if "{}" in function else f"{function}({', '.join(['{}'] * len(names))})"
    filled = (names[min(at, len(names) - 1)] for at in range(call.count("{}")))
    return "tf." + call.replace("_z:", " z:").replace("_g:", " g:").format(*filled)


def total(d: Draft, dims: tuple[Dim, ...]) -> Dim:
    """How many elements some sizes make."""
    open_ = [x for x in dims if not isinstance(x, int)]
    known = prod(x for x in dims if isinstance(x, int))
    return known if not open_ else open_[0] if known == len(open_) == 1 else d.size()


def by_row(d: Draft) -> None:
    dtypes, low, high, fits, texts, dtype, dims = d.choice(ROWS)
    x = d.pick(dtypes, low, high, fits)
    if low <= x.rank <= high and fits(x):
        d.rows = d.int(1, 2)
        text = d.choice(texts.split("|")).format(
            n=x.name, s=d.seed, d=x.dtype, r=d.rows, a=x.rank - 1, k=x.dims[0] if x.dims else 0
        )
        d.add(text, dtype or x.dtype, dims(d, x))


def of_one(d: Draft) -> None:
    f = d.choice(OF_FLOATS)
    x = d.pick(low=int(any(part in f for part in ("softmax", "normal", "cumul"))))
    d.add(text_of(f, x.name), x.dtype, x.dims)


def of_two(d: Draft) -> None:
    a = d.pick((*NUMBERS, "bool"))
    b = d.pick([a.dtype], test=lambda b: broadcast(a, b) is not None)
    dims = broadcast(a, b)
    if dims is None:
        return
    names = (a.name, b.name) if d.flag() else (b.name, a.name)
    if a.dtype == "bool":
        d.add(f"tf.logical_{d.choice(['and', 'or', 'xor'])}({', '.join(names)})", "bool", dims)
    elif d.flag(0.3):
        d.add(text_of(d.choice(COMPARING), *names), "bool", dims)
    else:
        own = OF_TWO_FLOATS if a.dtype in FLOATS else OF_TWO_INTS
        d.add(text_of(d.choice(OF_NUMBERS + own), *names), a.dtype, dims)


def cast(d: Draft) -> None:
    x = d.pick((*KINDS, "uint8"))
    to = d.choice([k for k in KINDS if k != x.dtype])
    d.add(f"tf.cast({x.name}, tf.{to})", to, x.dims)


def complexes(d: Draft) -> None:
    x = d.pick(["float32"], 1)
    y = d.add(f"tf.complex({x.name}, tf.sin({x.name}))", "complex64", x.dims)
    d.add(text_of(d.choice(OF_COMPLEX), y.name), "float32", x.dims)


def reduce(d: Draft) -> None:
    x = d.pick(KINDS, 1)
    axes = sorted(d.random.sample(range(x.rank), d.int(0, x.rank))) if d.flag(0.8) else None
    kinds = ["any", "all"] if x.dtype == "bool" else REDUCING[: 8 if x.dtype in FLOATS else 5]
    kind, keep = d.choice(kinds), d.flag(0.3)
    gone = range(x.rank) if axes is None else axes
    dims = [1 if at in gone else n for at, n in enumerate(x.dims) if keep or at not in gone]
    module = "math." if kind in ("std", "variance") else ""
    d.add(f"tf.{module}reduce_{kind}({x.name}, {axes}, keepdims={keep})", x.dtype, dims)


def product(d: Draft) -> None:
    a = d.pick(FLOATS, 2, 3, lambda a: is_fixed(a.dims[-1]))
    size = a.dims[-1]
    b = d.pick([a.dtype], 2, 2, lambda b: b.dims[0] == size)
    b = b if b.dims[0] == size else d.made(a.dtype, (size, d.int(1, 3)))
    call = f"matmul({a.name}, {b.name})" if a.rank == 2 else f"tensordot({a.name}, {b.name}, 1)"
    if is_fixed(size):
        d.add(f"tf.{call}", a.dtype, (*a.dims[:-1], b.dims[1]))


def einsum(d: Draft) -> None:
    rule = d.choice(EINSUMS)
    one, two, result = rule.replace("->", ",").split(",")
    a = d.pick(FLOATS, len(one), len(one))
    sizes: dict[str, Dim] = dict(zip(one, a.dims, strict=True))

    def fits(b: T) -> bool:
        return all(sizes.get(k, n) == n for k, n in zip(two, b.dims, strict=True))

    b = d.pick([a.dtype], len(two), len(two), fits)
    if fits(b):
        sizes |= dict(zip(two, b.dims, strict=True))
        d.add(f"tf.einsum('{rule}', {a.name}, {b.name})", a.dtype, [sizes[k] for k in result])


def strided(d: Draft) -> None:
    x = d.pick(ANY, 1)
    parts, dims = list[str](), list[Dim]()
    for at, size in enumerate(x.dims):
        low, high, step = (d.choice(["", "", *map(str, range(-2, 3))]) for _ in range(3))
        part = slice(*(int(p) if p not in ("", "0") else None for p in (low, high, step)))
        kind = d.int(0, 9)
        if kind == 0:
            parts += ["None", ":"]
            dims += [1, size]
        elif kind == 1 and "..." not in parts:
            parts.append("...")
            dims += x.dims[at:]
            break
        elif kind < 4 and is_fixed(size):
            parts.append(str(d.int(-size, size - 1)))  # type: ignore[operator]
        else:
            parts.append(":".join("" if p is None else str(p) for p in
                                  (part.start, part.stop, part.step)))  # fmt: skip
            fixed = isinstance(size, int)
            dims.append(len(range(*part.indices(size))) if fixed else d.size())  # type: ignore
    if 0 not in dims or d.flag(0.1):
        d.add(f"{x.name}[{', '.join(parts)}]", x.dtype, dims)


def join(d: Draft) -> None:
    x = d.pick((*KINDS, "string"))
    y = d.pick([x.dtype], x.rank, x.rank, lambda y: y.dims == x.dims)
    pair, axis = f"[{x.name}, {y.name if y.dims == x.dims else x.name}]", d.int(0, x.rank)
    if axis == x.rank or d.flag(0.3):
        d.add(f"tf.stack({pair}, {axis})", x.dtype, (*x.dims[:axis], 2, *x.dims[axis:]))
        return
    size = x.dims[axis]
    size = 2 * size if isinstance(size, int) else d.size()
    d.add(f"tf.concat({pair}, {axis})", x.dtype, (*x.dims[:axis], size, *x.dims[axis + 1 :]))


def split(d: Draft) -> None:
    x = d.pick(KINDS, 1)
    axis = next((at for at, n in enumerate(x.dims) if isinstance(n, int) and n > 1), None)
    if axis is None:
        return
    size = x.dims[axis]
    assert isinstance(size, int)
    first, lead, rest = d.int(1, size - 1), x.dims[:axis], x.dims[axis + 1 :]
    if size == 2 and d.flag():
        d.results(f"tf.unstack({x.name}, axis={axis})", [(x.dtype, (*lead, *rest))] * 2)
    else:
        sizes = [first, size - first]
        kinds = [(x.dtype, (*lead, n, *rest)) for n in sizes]
        d.results(f"tf.split({x.name}, {sizes}, {axis})", kinds)


def transpose(d: Draft) -> None:
    x = d.pick(ANY, 1)
    perm = d.random.sample(range(x.rank), x.rank)
    d.add(f"tf.transpose({x.name}, {perm})", x.dtype, [x.dims[at] for at in perm])


def choose(d: Draft) -> None:
    x = d.pick(KINDS)
    y = d.pick([x.dtype], test=lambda y: y.dims == x.dims)
    y = y if y.dims == x.dims else x
    p = d.pick(["bool"], test=lambda p: p.dims == x.dims)
    p = p if p.dims == x.dims else d.add(f"tf.equal({x.name}, {y.name})", "bool", x.dims)
    if x.rank and d.flag(0.2):
        d.results(f"tf.dynamic_partition({x.name}, tf.cast({p.name}, tf.int32), 2)",
                  [(x.dtype, [d.size()])] * 2)  # fmt: skip
    else:
        f = d.choice(["tf.where", "tf.where_v2"])
        d.add(f"{f}({p.name}, {x.name}, {y.name})", x.dtype, x.dims)


def several(d: Draft) -> None:
    """What gives several tensors."""
    x = d.pick(NUMBERS, 1, 3)
    if is_fixed(x.dims[-1]) and d.flag(0.7):
        k = d.int(1, int(x.dims[-1]))
        dims = (*x.dims[:-1], k)
        d.results(f"tf.nn.top_k({x.name}, {k})", [(x.dtype, dims), ("int32", dims)])
    elif x.rank == 1:
        d.results(f"tf.unique({x.name})", [(x.dtype, [d.size()]), ("int32", x.dims)])


def networks(d: Draft) -> None:
    x = d.pick(FLOATS, 4, 4)
    n, h, w, c = x.dims
    if not all(map(is_fixed, (h, w, c))) or min(h, w) < 2:  # type: ignore[type-var]
        return
    kind, s, k, o, padding = d.int(0, 4), d.int(1, 2), d.int(1, 2), 2, d.choice(["VALID", "SAME"])
    assert isinstance(h, int) and isinstance(w, int) and isinstance(c, int)
    out = [(a - k) // s + 1 if padding == "VALID" else -(-a // s) for a in (h, w)]
    weights = d.made(x.dtype, (k, k, c, o)).name if kind < 2 else ""
    if kind == 0:
        text, last = f"conv2d({x.name}, {weights}, {s}, '{padding}')", o
    elif kind == 1:
        text = f"depthwise_conv2d({x.name}, {weights}, [1, {s}, {s}, 1], '{padding}')"
        last = c * o
    elif kind == 2 and x.dtype == "float32":
        a, b = d.made(x.dtype, (c,)), d.made(x.dtype, (c,))
        d.results(f"tf.nn.fused_batch_norm({x.name}, {a.name}, {b.name}, epsilon=0.1)",
                  [(x.dtype, x.dims), (x.dtype, (c,)), (x.dtype, (c,))])  # fmt: skip
        return
    else:
        text = f"{d.choice(['avg_pool', 'max_pool'])}({x.name}, {k}, {s}, '{padding}')"
        last = c
    d.add(f"tf.nn.{text}", x.dtype, (n, *out, last))


CALLS = {
    by_row: 14, of_one: 6, of_two: 7, cast: 1.5, complexes: 0.4, reduce: 4, product: 1.5, einsum: 1,
    strided: 2, join: 2, split: 1, transpose: 1, choose: 1.5, several: 0.7, networks: 1,
}  # fmt: skip
