"""Expressions that programs for TensorFlow 1 are made of; each adds what it gives to a draft."""

from __future__ import annotations

from math import prod

from .draft import FLOATS, INTS, NUMBERS, Dim, Draft, T

ANY = (*NUMBERS, "bool", "uint8", "complex64", "string")
OF_FLOATS = """
tanh sin sigmoid square abs negative exp(tf.tanh({})) log(tf.abs({})+0.5) rsqrt(tf.square({})+0.5)
sqrt(tf.abs({})+0.1) erf atan floor ceil sign nn.relu nn.elu nn.selu nn.softplus nn.softsign
nn.leaky_relu clip_by_value({},-0.7,0.8) nn.relu6 expm1(tf.sin({})) asinh lgamma(tf.abs({})+1.0)
stop_gradient identity reciprocal(tf.abs({})+0.3) check_numerics({},'m') round zeros_like ones_like
cos log1p(tf.square({})) math.rint digamma(tf.abs({})+1.0) clip_by_norm({},1.5) nn.softmax
nn.log_softmax math.l2_normalize({},-1) math.xlogy({},tf.abs({})+0.5) tan(tf.sin({}))
custom_gradient(lambda_z:(tf.sin(z)*2.0,lambda_g:g*tf.cos(z)))({})
py_func(lambda_z:np.tanh(z),[{}],{}.dtype) math.cumulative_logsumexp({},-1) where(tf.is_nan({}),{},{}*0.5)
""".split()
OF_NUMBERS = """
add({},{}) subtract({},{}) multiply({},{}) maximum({},{}) minimum({},{}) squared_difference({},{})
""".split()
OF_TWO_FLOATS = """
div_no_nan({},tf.floor({})) divide({},tf.abs({})+0.5) atan2({},tf.abs({})+0.2) mod({},tf.abs({})+0.7)
pow(tf.abs({})+0.2,tf.tanh({})) math.xdivy({},tf.square({})+1.0) floordiv({},tf.abs({})+0.9)
""".split()
OF_TWO_INTS = """
floordiv({},tf.abs({})%5+1) mod({},tf.abs({})%5+1) bitwise.bitwise_xor({},{}) truncatediv({},{}%3-5)
bitwise.left_shift({},tf.abs({})%3) bitwise.bitwise_and({},{}) truncatemod({},{}%3-5)
""".split()
COMPARING = "less greater less_equal greater_equal equal not_equal".split()
REDUCING = "sum mean max min prod logsumexp std variance".split()
LAST_AXIS = "nn.softmax log_softmax l2_normalize".split()
EINSUMS = ("ab,bc->ac", "ab,ab->a", "ab,cb->ac", "ab,b->ba", "a,b->ab", "ab,bc->c", "abc,cd->abd",
           "abc,abc->b", "abc,adc->abd", "ab,ab->ab")  # fmt: skip


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
    count = call.count("{}")
    return "tf." + call.replace("_z:", " z:").replace("_g:", " g:").format(
        *(names[min(at, len(names) - 1)] for at in range(count))
    )


def total(d: Draft, dims: tuple[Dim, ...]) -> Dim:
    """How many elements some sizes make."""
    open_ = [x for x in dims if not isinstance(x, int)]
    known = prod(x for x in dims if isinstance(x, int))
    return known if not open_ else open_[0] if known == len(open_) == 1 else d.size()


def of_one(d: Draft) -> None:
    x, f = d.pick(), d.choice(OF_FLOATS)
    if "softmax" in f or "normal" in f or "cumul" in f:
        x = d.pick(low=1)
    d.add(text_of(f, x.name), x.dtype, x.dims)


def of_two(d: Draft) -> None:
    a = d.pick(NUMBERS)
    b = d.pick([a.dtype], test=lambda b: broadcast(a, b) is not None)
    dims = broadcast(a, b)
    if dims is None:
        return
    own = OF_TWO_FLOATS if a.dtype in FLOATS else OF_TWO_INTS
    names = (a.name, b.name) if d.flag() else (b.name, a.name)
    if d.flag(0.3):
        d.add(text_of(d.choice(COMPARING), *names), "bool", dims)
    else:
        d.add(text_of(d.choice(OF_NUMBERS + own), *names), a.dtype, dims)


def logic(d: Draft) -> None:
    a = d.pick(["bool"])
    b = d.pick(["bool"], test=lambda b: broadcast(a, b) is not None)
    dims = broadcast(a, b)
    if dims is None or d.flag(0.2):
        d.add(f"tf.logical_not({a.name})", "bool", a.dims)
    else:
        d.add(f"tf.logical_{d.choice(['and', 'or', 'xor'])}({a.name}, {b.name})", "bool", dims)


def cast(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool", "uint8"))
    to = d.choice([k for k in (*NUMBERS, "bool") if k != x.dtype])
    d.add(f"tf.cast({x.name}, tf.{to})", to, x.dims)


def of_bytes(d: Draft) -> None:
    x = d.pick(INTS)
    y = d.add(f"tf.cast(tf.abs({x.name}) % 200, tf.uint8)", "uint8", x.dims)
    d.add(d.choice(["{0} + {0}", "{0} // 7", "tf.bitwise.invert({0})"])
          .format(y.name), "uint8", x.dims)  # fmt: skip


def complexes(d: Draft) -> None:
    x = d.pick(["float32"], 1)
    y = d.add(f"tf.complex({x.name}, tf.sin({x.name}))", "complex64", x.dims)
    f = d.choice("real({0}) imag({0}) abs({0}) angle({0}*0.5) real({0}*tf.conj({0}+1.0)) "
                 "imag(tf.fft({0})) abs(tf.exp({0}*0.1))".split())  # fmt: skip
    d.add("tf." + f.format(y.name), "float32", x.dims)


def texts(d: Draft) -> None:
    x = d.pick(INTS, 0, 2)
    y = d.add(f"tf.as_string({x.name})", "string", x.dims)
    z = d.pick(["string"], test=lambda z: z.dims == y.dims or not z.dims)
    if broadcast(y, z) is not None and 0 in (y.rank, z.rank):
        y = d.add(f"tf.string_join([{y.name}, {z.name}], '+')", "string", broadcast(y, z))
    f, dtype = d.choice([("strings.length({})", "int32"), ("equal({}, '1')", "bool"),
                         ("string_to_hash_bucket_fast({}, 9)", "int64"),
                         ("substr({}, 0, 1)", "string")])  # fmt: skip
    d.add("tf." + f.format(y.name), dtype, y.dims)


def axis_of(d: Draft, x: T) -> int:
    """An axis, counted from either end."""
    return d.int(-x.rank, x.rank - 1)


def reduce(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool"), 1)
    axes = sorted(d.random.sample(range(x.rank), d.int(0, x.rank))) if d.flag(0.8) else None
    kinds = ["any", "all"] if x.dtype == "bool" else REDUCING[: 8 if x.dtype in FLOATS else 5]
    kind, keep = d.choice(kinds), d.flag(0.3)
    gone = range(x.rank) if axes is None else axes
    dims = [1 if at in gone else size for at, size in enumerate(x.dims) if keep or at not in gone]
    module = "math." if kind in ("std", "variance") else ""
    d.add(f"tf.{module}reduce_{kind}({x.name}, {axes}, keepdims={keep})", x.dtype, dims)


def cumulate(d: Draft) -> None:
    x = d.pick(NUMBERS, 1)
    text = f"({x.name}, {axis_of(d, x)}, exclusive={d.flag()}, reverse={d.flag()})"
    d.add(f"tf.{d.choice(['cumsum', 'cumprod'])}{text}", x.dtype, x.dims)


def products(d: Draft) -> None:
    a = d.pick(FLOATS, 2, 3)
    other = d.choice([1, 2, 3])
    b = d.pick([a.dtype], 2, 2, lambda b: b.dims[0] == a.dims[-1])
    if b.dims[0] != a.dims[-1]:
        if not isinstance(a.dims[-1], int):
            d.add(f"tf.matmul({a.name}, {a.name}, transpose_b=True)", a.dtype,
                  (*a.dims[:-1], a.dims[-2]))  # fmt: skip
            return
        b = d.made(a.dtype, (a.dims[-1], other))
    call = "tf.matmul" if a.rank == 2 else "tf.tensordot"
    d.add(f"{call}({a.name}, {b.name}{'' if a.rank == 2 else ', 1'})", a.dtype,
          (*a.dims[:-1], b.dims[1]))  # fmt: skip


def einsum(d: Draft) -> None:
    rule = d.choice(EINSUMS)
    (one, two), result = (left := rule.partition("->"))[0].split(","), left[2]
    a = d.pick(FLOATS, len(one), len(one))
    sizes: dict[str, Dim] = dict(zip(one, a.dims, strict=True))
    b = d.pick([a.dtype], len(two), len(two),
               lambda b: all(sizes.get(k, s) == s for k, s in zip(two, b.dims, strict=True)))  # fmt: skip
    if any(sizes.get(k, s) != s for k, s in zip(two, b.dims, strict=True)):
        return
    sizes |= dict(zip(two, b.dims, strict=True))
    d.add(f"tf.einsum('{rule}', {a.name}, {b.name})", a.dtype, [sizes[k] for k in result])


def index(d: Draft) -> None:
    """gather and its like, by numbers that fit."""
    x = d.pick((*NUMBERS, "bool"), 1, 3)
    size, kind = x.dims[0], d.int(0, 4)
    rows = d.int(1, 4)
    if kind == 4 and x.rank == 2:
        d.add(f"tf.batch_gather({x.name}, tf.argsort({x.name}))" if x.dtype in NUMBERS else
              f"tf.reverse({x.name}, [0])", x.dtype, x.dims)  # fmt: skip
    elif not is_fixed(size):
        d.add(f"tf.gather({x.name}, tf.range(tf.shape({x.name})[0])[::-1])", x.dtype, x.dims)
    elif kind == 0:
        d.add(f"tf.gather({x.name}, v(({rows},), 'int64', {d.seed}, {size}))", x.dtype,
              (rows, *x.dims[1:]))  # fmt: skip
    elif kind == 1:
        d.add(f"tf.gather_nd({x.name}, v(({rows}, 1), 'int32', {d.seed}, {size}))", x.dtype,
              (rows, *x.dims[1:]))  # fmt: skip
    elif kind == 2:
        y = d.pick(INTS, 0, 2)
        d.add(f"tf.gather({x.name}, tf.abs({y.name}) % {size})", x.dtype, (*y.dims, *x.dims[1:]))
    elif x.dtype != "bool":
        f = d.choice(["tensor_scatter_add", "tensor_scatter_update", "tensor_scatter_sub"])
        d.add(f"tf.{f}({x.name}, [[{d.int(0, size - 1)}]], {x.name}[:1])", x.dtype, x.dims)


def scatter(d: Draft) -> None:
    x, size = d.pick(NUMBERS, 1, 3), d.int(2, 4)
    if is_fixed(x.dims[0]):
        place = f"v(({x.dims[0]}, 1), 'int32', {d.seed}, {size})"
        dims = (size, *x.dims[1:])
        if all(isinstance(n, int) for n in dims):
            d.add(f"tf.scatter_nd({place}, {x.name}, {list(dims)})", x.dtype, dims)
        ids = place.replace(", 1)", ",)", 1)
        kind = d.choice(["sum", "mean", "max", "min", "prod"])
        if d.flag():
            ids = f"np.sort({ids})"
            d.add(f"tf.segment_{kind}({x.name}, {ids})", x.dtype, (d.size(), *x.dims[1:]))
        else:
            kind = "sum" if x.dtype in INTS else kind
            d.add(f"tf.unsorted_segment_{kind}({x.name}, {ids}, {size})", x.dtype, dims)


def strided(d: Draft) -> None:
    x = d.pick(ANY, 1)
    parts, dims = list[str](), list[Dim]()
    for at, size in enumerate(x.dims):
        if d.flag(0.15):
            parts.append(d.choice(["None", "tf.newaxis"]))
            dims.append(1)
        if "..." not in parts and d.flag(0.15):
            parts.append("...")
            dims += x.dims[at:]
            break
        low, high, step = (d.choice(["", "", *map(str, range(-2, 3))]) for _ in range(3))
        step = "-1" if step == "0" else step
        if is_fixed(size) and d.flag(0.25):
            parts.append(str(d.int(-size, size - 1)))
        elif d.flag(0.3):
            parts.append(":")
            dims.append(size)
        else:
            parts.append(f"{low}:{high}:{step}")
            part = slice(*(int(p) if p else None for p in (low, high, step)))
            left = len(range(*part.indices(size))) if isinstance(size, int) else d.size()
            dims.append(left)
    if 0 not in dims or d.flag(0.1):
        d.add(f"{x.name}[{', '.join(parts)}]", x.dtype, dims)


def join(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool", "string"))
    y = d.pick([x.dtype], x.rank, x.rank, lambda y: y.dims == x.dims)
    if y.dims != x.dims:
        y = x
    if not x.rank or d.flag(0.4):
        axis = d.int(0, x.rank)
        d.add(f"tf.stack([{x.name}, {y.name}], {axis})", x.dtype,
              (*x.dims[:axis], 2, *x.dims[axis:]))  # fmt: skip
        return
    axis = axis_of(d, x)
    dims = list(x.dims)
    dims[axis] = 2 * dims[axis] if isinstance(dims[axis], int) else d.size()
    d.add(f"tf.concat([{x.name}, {y.name}], {axis})", x.dtype, dims)


def split(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool"), 1)
    axis = next((at for at, n in enumerate(x.dims) if isinstance(n, int) and n > 1), None)
    if axis is None:
        return
    size = x.dims[axis]
    assert isinstance(size, int)
    first = d.int(1, size - 1)
    how = d.int(0, 2)
    sizes = (first, size - first)
    dims = [(*x.dims[:axis], n, *x.dims[axis + 1 :]) for n in sizes]
    if how == 0 and size == 2:
        d.results(f"tf.unstack({x.name}, axis={axis})",
                  [(x.dtype, (*x.dims[:axis], *x.dims[axis + 1 :]))] * 2)  # fmt: skip
    elif how == 1 and size % 2 == 0:
        half = (*x.dims[:axis], size // 2, *x.dims[axis + 1 :])
        d.results(f"tf.split({x.name}, 2, {axis})", [(x.dtype, half)] * 2)
    else:
        d.results(f"tf.split({x.name}, {list(sizes)}, {axis})", [(x.dtype, n) for n in dims])


def move(d: Draft) -> None:
    """What changes the shape alone."""
    x = d.pick(ANY, 1)
    kind, axis = d.int(0, 8), d.int(0, x.rank - 1)
    lead, rest = x.dims[:axis], x.dims[axis + 1 :]
    if kind == 0:
        perm = d.random.sample(range(x.rank), x.rank)
        d.add(f"tf.transpose({x.name}, {perm})", x.dtype, [x.dims[at] for at in perm])
    elif kind == 1:
        d.add(f"tf.reshape({x.name}, [-1])", x.dtype, [total(d, x.dims)])
    elif kind == 2 and x.rank > 1:
        tail = f"tf.concat([tf.shape({x.name})[:1], [-1]], 0)"
        d.add(f"tf.reshape({x.name}, {tail})", x.dtype, [x.dims[0], total(d, x.dims[1:])])
    elif kind == 3:
        d.add(f"tf.expand_dims({x.name}, {axis})", x.dtype, (*lead, 1, *x.dims[axis:]))
    elif kind == 4 and x.dims[axis] == 1:
        d.add(f"tf.squeeze({x.name}, [{axis}])", x.dtype, (*lead, *rest))
    elif kind == 5:
        many = [2 if at == axis else 1 for at in range(x.rank)]
        size = x.dims[axis] * 2 if isinstance(x.dims[axis], int) else d.size()
        d.add(f"tf.tile({x.name}, {many})", x.dtype, (*lead, size, *rest))
    elif kind == 6 and x.dtype in NUMBERS:
        margins = [[d.int(0, 1) if n in (1, 2) or not isinstance(n, int) else 1, 0] for n in x.dims]
        mode = d.choice(["CONSTANT", "CONSTANT", "SYMMETRIC"])
        dims = [n if not a else n + a if isinstance(n, int) else d.size()
                for n, (a, _) in zip(x.dims, margins, strict=True)]  # fmt: skip
        d.add(f"tf.pad({x.name}, {margins}, '{mode}')", x.dtype, dims)
    elif kind == 7:
        f = d.choice([f"reverse({x.name}, [{axis}])", f"roll({x.name}, {d.int(-2, 3)}, {axis})"])
        d.add(f"tf.{f}", x.dtype, x.dims)
    elif x.rank == 2 and x.dtype in NUMBERS:
        f = d.choice(["matrix_band_part({}, 0, -1)", "linalg.adjoint(tf.transpose({}))",
                      "matrix_set_diag({0}, tf.matrix_diag_part({0}) * 2)"])  # fmt: skip
        d.add("tf." + f.format(x.name, x.name), x.dtype, x.dims)


def choose(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool"))
    y = d.pick([x.dtype], test=lambda y: y.dims == x.dims)
    y = y if y.dims == x.dims else x
    p = d.pick(["bool"], test=lambda p: p.dims == x.dims)
    p = p if p.dims == x.dims else d.add(f"tf.equal({x.name}, {y.name})", "bool", x.dims)
    kind = d.int(0, 3)
    if kind == 0:
        d.add(f"tf.where({p.name})", "int64", (d.size(), x.rank))
    elif kind == 1 and x.rank:
        d.add(f"tf.boolean_mask({x.name}, {p.name})", x.dtype, [d.size()])
    elif kind == 2 and x.rank and x.dtype != "bool":
        d.results(f"tf.dynamic_partition({x.name}, tf.cast({p.name}, tf.int32), 2)",
                  [(x.dtype, [d.size()])] * 2)  # fmt: skip
    else:
        f = d.choice(["tf.where", "tf.where_v2"])
        d.add(f"{f}({p.name}, {x.name}, {y.name})", x.dtype, x.dims)


def stitch(d: Draft) -> None:
    x = d.pick(NUMBERS, 1, 2)
    low = f"tf.range(tf.shape({x.name})[0])"
    dims = (x.dims[0] * 2 if isinstance(x.dims[0], int) else d.size(), *x.dims[1:])
    d.add(f"tf.dynamic_stitch([{low} * 2, {low} * 2 + 1], [{x.name}, {x.name} * 2])", x.dtype, dims)


def order(d: Draft) -> None:
    x = d.pick(NUMBERS, 1, 3)
    last, kind = x.dims[-1], d.int(0, 5)
    if kind == 0 and is_fixed(last):
        k = d.int(1, last)
        dims = (*x.dims[:-1], k)
        d.results(f"tf.nn.top_k({x.name}, {k})", [(x.dtype, dims), ("int32", dims)])
    elif kind == 1 and x.rank == 1:
        count = d.size()
        d.results(f"tf.unique({x.name})", [(x.dtype, [count]), ("int32", x.dims)])
    elif kind == 2:
        d.add(f"tf.sort({x.name}, direction='{d.choice(['ASCENDING', 'DESCENDING'])}')", x.dtype, x.dims)
    elif kind == 3 and x.dtype in INTS:
        depth = d.int(1, 4)
        axis = d.choice([-1, 0])
        dims = (*x.dims, depth) if axis else (depth, *x.dims)
        d.add(f"tf.one_hot({x.name}, {depth}, 1.5, -0.5, axis={axis})", "float32", dims)
    elif kind == 4 and x.rank == 1 and x.dtype in INTS:
        d.add(f"tf.sequence_mask({x.name}, 4)", "bool", (*x.dims, 4))
    else:
        axis, to = d.int(0, x.rank - 1), d.choice(INTS)
        f = d.choice(["argmax", "argmin"])
        d.add(f"tf.{f}({x.name}, {axis}, output_type=tf.{to})", to, (*x.dims[:axis], *x.dims[axis + 1 :]))


def sizes(d: Draft) -> None:
    x = d.pick((*NUMBERS, "bool"))
    kind, to = d.int(0, 4), d.choice(INTS)
    if kind == 0:
        d.add(f"tf.shape({x.name}, out_type=tf.{to})", to, [x.rank])
    elif kind == 1:
        d.add(f"tf.size({x.name}, out_type=tf.{to})", to, [])
    elif kind == 2 and x.rank:
        d.add(f"tf.range(tf.shape({x.name})[0])", "int32", x.dims[:1])
    elif kind == 3:
        d.add(f"tf.fill(tf.shape({x.name}), {d.scalar(x, 'float32')})", "float32", x.dims)
    elif x.rank and x.dtype in NUMBERS:
        d.add(f"tf.broadcast_to({x.name}[:1], tf.shape({x.name}))", x.dtype, x.dims)


def networks(d: Draft) -> None:
    x = d.pick(FLOATS, 4, 4)
    n, h, w, c = x.dims
    kind, valid = d.int(0, 5), d.flag()
    padding = "VALID" if valid else "SAME"
    if not all(map(is_fixed, (h, w, c))) or min(h, w) < 2:  # type: ignore[type-var]
        return
    s, k, o = d.int(1, 2), d.int(1, 2), d.int(1, 2)
    out = [(a - k) // s + 1 if valid else -(-a // s) for a in (h, w)]  # type: ignore[operator]
    if kind < 3:
        f = d.choice(["avg_pool", "max_pool"])
        d.add(f"tf.nn.{f}({x.name}, {k}, {s}, '{padding}')", x.dtype, (n, *out, c))
    elif kind == 3:
        w_ = d.made(x.dtype, (k, k, c, o))
        d.add(f"tf.nn.conv2d({x.name}, {w_.name}, {s}, '{padding}')", x.dtype, (n, *out, o))
    elif kind == 4:
        w_ = d.made(x.dtype, (k, k, c, o))
        d.add(f"tf.nn.depthwise_conv2d({x.name}, {w_.name}, [1, {s}, {s}, 1], '{padding}')", x.dtype,
              (n, *out, c * o))  # type: ignore[operator]  # fmt: skip
    elif x.dtype == "float32":
        a, b = d.made(x.dtype, (c,)), d.made(x.dtype, (c,))
        d.results(f"tf.nn.fused_batch_norm({x.name}, {a.name}, {b.name}, epsilon=0.1)",
                  [(x.dtype, x.dims), (x.dtype, (c,)), (x.dtype, (c,))])  # fmt: skip


def losses(d: Draft) -> None:
    x = d.pick(FLOATS, 2, 2)
    if not isinstance(x.dims[1], int):
        return
    name, kind = x.name, d.int(0, 5)
    if kind == 0:
        f, dims = f"nn.softmax_cross_entropy_with_logits_v2(tf.nn.softmax({name} * 2), {name})", x.dims[:1]
    elif kind == 1:
        f, dims = f"nn.sparse_softmax_cross_entropy_with_logits(None, tf.argmin({name}, 1), {name})", x.dims[:1]
    elif kind == 2:
        f, dims = f"nn.sigmoid_cross_entropy_with_logits(None, tf.sigmoid(-{name}), {name})", x.dims
    elif kind == 3:
        f, dims = f"nn.l2_loss({name})", ()
    elif kind == 4:
        f = f"nn.bias_add({name}, v(({x.dims[1]},), '{x.dtype}', {d.seed}))"
        dims = x.dims
    else:
        f, dims = f"losses.huber_loss({name}, tf.sin({name}))", ()
    d.add(f"tf.{f}", x.dtype, dims)


CALLS = {
    of_one: 6, of_two: 6, logic: 1, cast: 1.5, of_bytes: 0.4, complexes: 0.4, texts: 0.4, reduce: 4,
    cumulate: 0.7, products: 2, einsum: 1, index: 2, scatter: 1, strided: 2, join: 2, split: 1, move: 3,
    choose: 2, stitch: 0.5, order: 1.5, sizes: 1.5, networks: 1, losses: 1,
}  # fmt: skip
