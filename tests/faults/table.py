"""Deliberate faults: what a mistake in the sources would look like, and who must notice it.

A fault is an exact piece of text that occurs once in a file of the package, what stands there
instead, and the tests that are relevant for it. `run.py` plants them one at a time in a copy.
"""

from __future__ import annotations

from typing import NamedTuple

CASES = "tests/prims/test_cases.py"
GOLDEN = "tests/test_golden.py"
PINS = "tests/prims/test_pins.py"
CONFORMANCE = "tests/test_conformance.py"
FUNCTION = (
    "tests/test_function.py tests/test_function_errors.py tests/test_function_memory.py"
    " tests/test_function_threads.py"
)
RANDOM = "tests/test_random.py"
SIZES = "tests/backend/test_sizes_at_run_time.py"
SCANS = "tests/test_scans.py"
SWITCHING = "tests/test_switching.py"


class Fault(NamedTuple):
    """A mistake, and the tests that should find it.

    Attributes:
        name: what it's about.
        file: below `src/kameleon`.
        old, new: the text that is there once, and what the mistake makes of it.
        tests: files or folders, separated by blanks.
        words: an expression for pytest's `-k`; all tests, if it's empty.
        engines: on which those tests run, separated by commas.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    words: str = ""
    engines: str = "numpy"


# Rules of gradients: differences find them on the embedded engine.
GRADIENTS = [
    Fault("abs: slope x", "gradients/elementwise.py",
          "mul(g, sign(x))", "mul(g, x)", CASES, "gradient and abs"),
    Fault("expm1: slope y", "gradients/elementwise.py",
          "[lambda g, y, x: mul(g, exp(x))]", "[lambda g, y, x: mul(g, y)]",
          CASES, "gradient and expm1"),
    Fault("cos: wrong sign", "gradients/elementwise.py",
          "neg(mul(g, sin(x)))", "mul(g, sin(x))", CASES, "gradient and cos"),
    Fault("tanh: slope 1 - y", "gradients/elementwise.py",
          "sub(full_like(y, 1), mul(y, y))", "sub(full_like(y, 1), y)",
          CASES, "gradient and tanh"),
    Fault("div: by the divisor", "gradients/elementwise.py",
          "neg(div(mul(g, y), b))", "neg(div(mul(g, a), b))", CASES, "gradient and div"),
    Fault("mod: not floored", "gradients/elementwise.py",
          "neg(mul(g, floor_div(a, b)))", "neg(mul(g, div(a, b)))", CASES, "gradient and mod"),
    Fault("pow: exponent not lowered", "gradients/elementwise.py",
          "pow(x, sub(a, full_like(a, 1)))", "pow(x, a)", CASES, "gradient and pow"),
    Fault("maximum: ties to the second", "gradients/elementwise.py",
          "_first_wins(ge)", "_first_wins(gt)", PINS),
    Fault("sqrt: masked infinity", "gradients/elementwise.py",
          "_zero_if_zero(g, div(scaled(g, 0.5), y))", "div(scaled(g, 0.5), y)", PINS),
    Fault("log: flat where the cotangent is 0", "gradients/elementwise.py",
          "return with_gradient(masked, product, rule=_whole)", "return masked", PINS),
    Fault("select: branches swapped", "gradients/elementwise.py",
          "lambda g, y, c, a, b: select(c, full_like(g, 0), g),",
          "lambda g, y, c, a, b: select(c, g, full_like(g, 0)),", CASES, "gradient and select"),
    Fault("extremum: ties aren't shared", "gradients/reductions.py",
          "spread(div(g, reduce_sum(ones, axes)), x, axes)", "spread(g, x, axes)", PINS),
    Fault("prod: suffixes not turned", "prims/reduce.py",
          "behind = reverse(_product_before(reverse(x, axes=axes), axis), axes=axes)",
          "behind = _product_before(reverse(x, axes=axes), axis)",
          CASES, "expansion and product_of_others"),
    Fault("cumsum: in the same direction", "gradients/reductions.py",
          "reverse(cumsum(reverse(g, axes=(axis,)), axis=axis), axes=(axis,))",
          "cumsum(g, axis=axis)", CASES, "gradient and cumsum"),
    Fault("cumprod: products before, from 0", "prims/reduce.py",
          "return cumprod(before(x, axis, 1), axis=axis)",
          "return cumprod(before(x, axis, 0), axis=axis)",
          CASES, "expansion and cumprod_slope"),
    Fault("product of others: always divided", "kernels/arrays.py",
          "    if _divides(product):\n", "    if True:\n", "tests/test_products.py", "slopes"),
    Fault("linear_scan: not shifted", "gradients/reductions.py",
          "mul(_linear_scan_sums(g, a, axis), before(y, axis))",
          "mul(_linear_scan_sums(g, a, axis), y)", CASES, "gradient and linear_scan"),
    Fault("transpose: not undone", "gradients/movement.py",
          "[lambda g, y, x, perm: transpose(g, inverse(perm))]",
          "[lambda g, y, x, perm: transpose(g, perm)]", CASES, "gradient and transpose"),
    Fault("concatenate: all parts from the start", "gradients/movement.py",
          "index = add(index, broadcast_to(offset, [size]))", "index = add(index, index)",
          CASES, "gradient and concatenate"),
    Fault("contract: a's axes out of order", "gradients/reductions.py",
          "inverse((*batch[0], *free_a, *paired))", "(*batch[0], *free_a, *paired)",
          CASES, "gradient and contract"),
    Fault("contract: b's axes unsorted", "gradients/reductions.py",
          "[over[1][over[0].index(i)] for i in sorted(over[0])]", "list(over[1])",
          CASES, "gradient and contract"),
    Fault("softmax: sum left out", "gradients/rows.py",
          "return sub(weighted, mul(y, spread(reduce_sum(weighted, (axis,)), y, (axis,))))",
          "return sub(weighted, mul(y, weighted))", CASES, "gradient and softmax"),
    Fault("elu: slope y", "gradients/elementwise.py",
          "mul(g, add(y, full_like(y, 1)))", "mul(g, y)", CASES, "gradient and elu"),
    Fault("crossentropy: targets count once", "gradients/rows.py",
          "weighted = mul(p, spread(reduce_sum(t, axes), p, axes))", "weighted = p",
          CASES, "gradient and softmax_crossentropy"),
    Fault("conv_kernel: second order", "gradients/windows.py",
          "lambda g, y, x, up, window: conv(x, g, window=window),",
          "lambda g, y, x, up, window: up,", CASES, "gradient and conv_kernel"),
    Fault("scan: in the same direction", "gradients/scan.py",
          'not reverse.node.attrs["backwards"],', 'reverse.node.attrs["backwards"],',
          CASES, "gradient and scan"),
    Fault("scan: sign of a sum over steps", "gradients/scan.py",
          '"neg": lambda s, node, rest: neg(s),', '"neg": lambda s, node, rest: s,',
          f"{CASES} {SCANS} tests/test_properties.py", "scan or loops"),
    Fault("scan: constants' shares of the last step alone", "gradients/scan.py",
          "new_totals = [add(t, s) for t, s in zip(totals, sums.carried, strict=True)]",
          "new_totals = list(sums.carried)", CASES, "gradient and scan"),
]  # fmt: skip

# Types, shapes and expansions.
SHAPES = [
    Fault("one_hot: narrow indices stay narrow", "prims/indexing.py",
          "    if index.dtype.itemsize < INT32.itemsize:\n        index = cast(index, INT32)\n"
          "    (known,)", "    (known,)",
          CASES, "one_hot"),
    Fault("gather: axes of the index forgotten", "prims/indexing.py",
          "return TensorType((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)",
          "return TensorType((*x.shape[:axis], *index.shape[:1], *x.shape[axis + 1 :]), x.dtype)",
          CASES, "value and gather"),
    Fault("slice: a size too few", "prims/movement.py",
          "return None if dim is None else len(range(*slice(*window).indices(dim)))",
          "return None if dim is None else max(0, len(range(*slice(*window).indices(dim))) - 1)",
          CASES, "value and slice"),
    Fault("pad: one margin forgotten", "prims/movement.py",
          "None if d is None else d + low + high", "None if d is None else d + low",
          CASES, "value and pad"),
    Fault("reshape: anything fits", "prims/movement.py",
          "(product != known if not open_dims", "(product < known if not open_dims", PINS),
    Fault("broadcast: sizes that differ are taken", "prims/movement.py",
          "want is not None and dim != want)", "want is not None and dim > want)", PINS),
    Fault("argmax: index of the wrong dtype", "prims/reduce.py",
          "return TensorType(x.shape[:axis] + x.shape[axis + 1 :], INT64)",
          "return TensorType(x.shape[:axis] + x.shape[axis + 1 :], x.dtype)",
          CASES, "value and argmax"),
    Fault("count of unknown sizes", "prims/reduce.py",
          "count = mul(count, factor)", "count = factor",
          f"{SIZES} {GOLDEN}", "mean or var or std"),
    Fault("flat index: factor off", "prims/indexing.py",
          "flat = add(mul(flat, broadcast_to(scale, dims)), here)",
          "flat = add(mul(here, broadcast_to(scale, dims)), flat)", CASES, "expansion and along"),
    Fault("sigmoid expanded without care", "prims/special.py",
          "e = exp(neg(abs(x)))", "e = exp(neg(x))", CASES, "expansion and sigmoid"),
    Fault("log_softmax expanded without care", "prims/special.py",
          "off = sub(x, spread(_largest(x, axis), x, (axis,)))\n    return sub(off,",
          "off = x\n    return sub(off,", CASES, "expansion and log_softmax"),
    Fault("max_pool: padding may be chosen", "prims/pool.py",
          "logical_and(hit, y) for hit, y in", "logical_or(hit, y) for hit, y in",
          CASES, "expansion and max_pool"),
    Fault("max_pool: the last of equals", "prims/pool.py",
          "for number in reversed(range(looked_at)):", "for number in range(looked_at):",
          CASES, "expansion and max_pool"),
    Fault("depthwise kernel: axes in another order", "prims/conv.py",
          "reshape(stack(sums, 0), [*window.sizes", "reshape(stack(sums, 1), [*window.sizes",
          CASES, "expansion and depthwise_kernel"),
    Fault("put_back: one cell alone", "prims/windows.py",
          "total = placed if total is None else add(total, placed)", "total = placed",
          CASES, "expansion and (fold or unpool)"),
    Fault("average of padded windows", "prims/pool.py",
          "counts = np.multiply.outer(counts, ((seen >= 0) & (seen < dim)).sum(1))",
          "counts = np.multiply.outer(counts, ((seen >= 0) & (seen <= dim)).sum(1))",
          GOLDEN, "pool2d"),
    Fault("broadcast: stretched axes aren't summed", "gradients/movement.py",
          "axes = (*range(offset), *stretched)", "axes = (*range(offset),)",
          CASES, "gradient and broadcast_to"),
]  # fmt: skip

# Random numbers.
DRAWS = [
    Fault("cipher: a rotation", "prims/random.py", "(13, 15, 26, 6)", "(13, 15, 26, 7)", RANDOM),
    Fault("cipher: the key's parity", "prims/random.py", "0x1BD11BDA", "0x1BD11BDB", RANDOM),
    Fault("centered: half a step off", "prims/random.py",
          "return sub(mul(full_like(u, 2), u), full_like(u, 1 - step))",
          "return sub(mul(full_like(u, 2), u), full_like(u, 1))", RANDOM),
    Fault("events: probability squared", "prims/random.py",
          "threshold = round(probability * 2.0**32)",
          "threshold = round(probability**2 * 2.0**32)", f"{RANDOM} tests/test_dropout.py"),
    Fault("a stream stands still", "runtime/state.py",
          "(count + 1, embedded(), {}) for", "(count, embedded(), {}) for", RANDOM),
]  # fmt: skip

# Rewrites of graphs.
REWRITES = [
    Fault("x ** 2 -> x", "transform/simplify.py",
          "return mul(x, x) if exponent == 2 and fills(node, x) else None",
          "return x if exponent == 2 and fills(node, x) else None", f"{GOLDEN} {CASES}", "pow"),
    Fault("a + -b -> b - a", "transform/simplify.py",
          'return sub(a, b.operands[0]) if b.primitive.name == "neg" else None',
          'return sub(b.operands[0], a) if b.primitive.name == "neg" else None',
          "tests/test_properties.py", "thrown"),
    Fault("transposes joined the wrong way", "transform/simplify.py",
          'transpose(x.operands[0], [inner[i] for i in node.attrs["perm"]])',
          'transpose(x.operands[0], [node.attrs["perm"][i] for i in inner])',
          "tests/test_properties.py", "thrown"),
    Fault("float zeros are neutral", "transform/simplify.py",
          "    if node.dtype.is_integer:\n        found = _neutral(1, 0)(node)",
          "    if True:\n        found = _neutral(1, 0)(node)",
          f"tests/test_rewrites.py {CASES} tests/test_stages.py"),
    Fault("the wrong branch", "transform/simplify.py",
          '"then" if known else "otherwise"', '"otherwise" if known else "then"',
          f"{GOLDEN} {FUNCTION} {CASES}", "phase or switch or cond"),
    Fault("slices of a scan from the wrong end", "transform/scans.py",
          "found[n] = slice_axis(made, axis, a - start, b - start)",
          "found[n] = slice_axis(made, axis, 0, b - a)", SCANS),
]  # fmt: skip

# Kernels of the embedded engine.
KERNELS = [
    Fault("gather clamps", "kernels/arrays.py",
          '    check_index(index, x.shape[axis])\n    return np.take(x, index, axis)',
          '    return np.take(x, index, axis, mode="clip")', f"{PINS} {CASES}",
          "fault or indices or gather or contract"),
    Fault("scatter: repeated indices once", "kernels/arrays.py",
          "    where: Any = (slice(None),) * axis + (index,)\n    np.add.at(out, where, g)",
          "    where: Any = (slice(None),) * axis + (index,)\n    out[where] += g",
          CASES, "scatter_add"),
    Fault("softplus overflows", "kernels/arrays.py",
          "    np.log1p(np.exp(t, t), t)\n    return np.add(t, np.maximum(x, 0), t)",
          "    return np.log1p(np.exp(x))", CASES, "value and softplus"),
    Fault("patches: dilation ignored", "kernels/windows.py",
          "*(step * d for step, d, _ in zip(steps, dilation, offsets, strict=False)),",
          "*(step for step, d, _ in zip(steps, dilation, offsets, strict=False)),",
          f"{CASES} tests/engines/test_windows.py", "patches or conv or windows"),
    Fault("fold: strides forgotten", "kernels/windows.py",
          "        x[cells] += split[windows][..., number, :]",
          "        x[cells] = split[windows][..., number, :]",
          f"{CASES} tests/engines/test_windows.py", "fold or conv or windows"),
    Fault("linear_scan starts with the factor", "kernels/arrays.py",
          "y[i] = b[i] if i == 0 else a[i] * y[i - 1] + b[i]",
          "y[i] = a[i] + b[i] if i == 0 else a[i] * y[i - 1] + b[i]", CASES, "linear_scan"),
    Fault("crossentropy: underflow", "kernels/arrays.py",
          "    if lost.any():\n        exact", "    if False:\n        exact",
          CASES, "value and sparse_softmax"),
]  # fmt: skip

# State, and calls from several threads.
STATE = [
    Fault("no lock is taken", "runtime/state.py",
          "    with a:\n        return call(*given)", "    return call(*given)",
          "tests/test_threads.py", "locks"),
    Fault("values aren't copied in", "runtime/function.py",
          'return np.array(array, order="C")', "return array", f"{FUNCTION} {SWITCHING}"),
    Fault("values of any shape go in", "runtime/function.py",
          "    if not want.accepts(array.shape):\n        raise FeedError(",
          "    if False:\n        raise FeedError(", f"{FUNCTION} {SWITCHING}"),
    Fault("another engine's copy is read", "runtime/state.py",
          "copy = copies.get(engine)", "copy = next(iter(copies.values()), None)",
          SWITCHING, engines="numpy,torch,jax"),
    Fault("the learning phase is forgotten", "runtime/function.py",
          "return None if self._phase is None else bool(arguments[self._phase])",
          "return None if self._phase is None else True", f"{FUNCTION} {GOLDEN}", "phase"),
    Fault("constants are read once", "runtime/function.py",
          "any(a is not b for a, b in zip(held, values, strict=True))", "False",
          f"{FUNCTION} tests/test_calls.py"),
]  # fmt: skip

# Each engine's own rules.
ENGINES = [
    Fault("jax: remainder of the dividend's sign", "engines/jax/elementwise.py",
          "return lax.select(_sign_differs(r, y), lax.add(r, y), r)", "return r",
          CASES, "value and mod", "jax"),
    Fault("jax: arithmetic shift of unsigned", "engines/jax/elementwise.py",
          "lax.shift_right_arithmetic if signed else lax.shift_right_logical",
          "lax.shift_right_arithmetic", CASES, "value and shift_right", "jax"),
    Fault("jax: scans forwards only", "engines/jax/control.py",
          'reverse=node.attrs["backwards"],', "reverse=False,",
          CASES, "scan", "jax"),
    Fault("jax: gaps of a slice's adjoint", "engines/jax/movement.py",
          "margins = [(r.start, d - r[-1] - 1, r.step - 1)", "margins = [(r.start, d - r.stop, 0)",
          CASES, "slice", "jax"),
    Fault("jax: kernel not mirrored", "engines/jax/windows.py",
          "mirrored = lax.rev(k, range(window.rank))", "mirrored = k",
          CASES, "value and conv_input", "jax"),
    Fault("torch: sign bits not turned", "transform/storage.py",
          "return node.primitive(*map(_turned, operands), **node.attrs)",
          "return node.primitive(*operands, **node.attrs)",
          CASES, "value and (lt or gt or maximum)", "torch"),
    Fault("shifts bring in signs", "transform/storage.py",
          "return ew.bit_and(ew.shift_right(x, full_like(x, count)), mask)",
          "return ew.shift_right(x, full_like(x, count))",
          CASES, "value and shift_right", "torch"),
    Fault("windows without places", "transform/populated.py",
          'found += [(places, i) for i in range(1, last) if "places" in needs]', "pass",
          "tests/test_passes.py tests/test_fuzz.py", "windows or larger", "tensorflow,onnxruntime"),
    Fault("a transposed kernel isn't mirrored", "transform/window_kernels.py",
          "transpose(reverse(k, axes=axes), ", "transpose(k, ",
          "tests/test_passes.py", "windows", "tensorflow"),
    Fault("contracted axes in another order", "transform/contraction.py",
          "pairs = sorted(zip(over_a, over_b, strict=True), key=itemgetter(key))",
          "pairs = list(zip(sorted(over_a), sorted(over_b), strict=True))",
          "tests/test_passes.py", "contractions", "tensorflow,onnxruntime"),
    Fault("divisions by zero unguarded", "transform/arithmetic.py",
          "return ew.mod(a, ew.select(harmful(b), full_like(b, 1), b))", "return None",
          CASES, "value and mod", "tensorflow"),
    Fault("torch: unstable order", "engines/torch/rules.py",
          '"argsort": _position("argsort", ", stable=True"),', '"argsort": _position("argsort"),',
          f"{CASES} {GOLDEN} tests/engines/test_torch.py", "sort or top_k", "torch"),
    Fault("torch: softplus cut off", "engines/torch/rules.py",
          '"softplus({0}, 1.0, 80.0)"', '"softplus({0}, 1.0, 20.0)"', CASES, "softplus", "torch"),
    Fault("torch: kernel's gradient not turned back", "engines/torch/windows.py",
          "return k.permute(*range(2, k.dim()), 1, 0).reshape(shape)",
          "return k.permute(*range(2, k.dim()), 0, 1).reshape(shape)",
          CASES, "gradient and conv", "torch"),
    Fault("torch: the last NaN of a window gets the gradient", "engines/torch/windows.py",
          "index = torch.where(torch.isnan(y), first_nan, index)", "pass",
          f"{CASES} tests/engines/test_torch.py", "pool or maxima", "torch"),
    Fault("torch: places in space for numbers of cells", "engines/torch/together.py",
          "if pool.results[1] not in graph.outputs and all(", "if all(",
          f"{CASES} tests/engines/test_torch.py", "pool or maxima", "torch"),
    Fault("torch: memory given away while in use", "engines/torch/pool.py",
          "return storage.resizable() and users == 2",
          "return storage.resizable()", f"tests/engines/test_torch.py {SWITCHING}",
          engines="torch"),
    Fault("tensorflow: modulo of C", "engines/tensorflow/elementwise.py",
          '"mod": "FloorMod",', '"mod": "TruncateMod",',
          CASES, "value and mod", "tensorflow"),
    Fault("tensorflow: argmax skips NaN", "engines/tensorflow/movement.py",
          "return not node.operands[0].dtype.is_float", "return True",
          CASES, "value and argmax", "tensorflow"),
    Fault("tensorflow: scans backwards from the wrong end", "engines/tensorflow/control.py",
          "at = raw.Sub(x=length - 1, y=i)", "at = raw.Sub(x=length, y=i + 1) * 0",
          CASES, "scan", "tensorflow"),
    Fault("tensorflow: mean instead of sum", "engines/tensorflow/windows.py",
          "    g = _mul(g, constant(window.cells, g.dtype))\n", "",
          CASES, "gradient and sum_pool", "tensorflow"),
    Fault("tensorflow: columns of any sum", "engines/tensorflow/movement.py",
          "if axes == (0,) and len(x.shape) == 2", "if len(axes) == 1 and len(x.shape) == 2",
          CASES, "reduce_sum", "tensorflow"),
    Fault("onnx: division truncates", "engines/onnxruntime/elementwise.py",
          'return lo.op("Sub", quotient, lo.cast(lower, dtype))', "return quotient",
          CASES, "value and floor_div", "onnxruntime"),
    Fault("onnx: NaN lost by extrema", "engines/onnxruntime/movement.py",
          'return lo.op("Where", spoilt, lo.scalar(np.nan, node.dtype), found)', "return found",
          CASES, "value and reduce_max", "onnxruntime"),
    Fault("onnx: scatter keeps the last", "engines/onnxruntime/indexing.py",
          'total = lo.op("ScatterND", zeros, where, g, reduction="add")',
          'total = lo.op("ScatterND", zeros, where, g)', CASES, "scatter_add", "onnxruntime"),
    Fault("onnx: scans in one direction", "engines/onnxruntime/control.py",
          'way = int(node.attrs["backwards"])', "way = 0", CASES, "scan", "onnxruntime"),
    Fault("onnx: log1p without its correction", "engines/onnxruntime/elementwise.py",
          'return lo.op("Where", exact, log, lo.op("Add", log, correction))', "return log",
          CASES, "log1p", "onnxruntime"),
    Fault("bools are added", "transform/simplify.py",
          "_of_bools(logical_or))", "_of_bools(ne))", f"{CASES} tests/test_rewrites.py",
          "value and add or bools", "theano"),
    Fault("theano: select the other way", "engines/theano/rules.py",
          '"select": pt.switch,', '"select": lambda c, a, b: pt.switch(c, b, a),',
          CASES, "select", "theano"),
    Fault("theano: outputs share memory", "engines/theano/machine.py",
          "[Out(y, borrow=False) for y in outputs]", "[Out(y, borrow=True) for y in outputs]",
          f"{CASES} tests/engines/test_theano.py", "fresh or memory", "theano"),
]  # fmt: skip

# Functions of K.
SURFACE = [
    Fault("hard_sigmoid: slope", "backend/activations.py",
          "scaled(x, 0.2)", "scaled(x, 0.25)", GOLDEN, "hard_sigmoid"),
    Fault("binary crossentropy from logits", "backend/losses.py",
          "return ew.sub(special.softplus(logits), ew.mul(target, logits))",
          "return ew.sub(special.softplus(logits), logits)", GOLDEN, "binary_crossentropy"),
    Fault("in_top_k: ties count as larger", "backend/losses.py",
          "better = ew.gt(x, broadcast_to(own, dims_of(x)))",
          "better = ew.ge(x, broadcast_to(own, dims_of(x)))", GOLDEN, "in_top_k"),
    Fault("l2_normalize: over everything", "backend/normalization.py",
          'axes = axes_of(x, axis, "l2_normalize")', 'axes = axes_of(x, None, "l2_normalize")',
          GOLDEN, "l2_normalize"),
    Fault("rnn: masked steps go on", "backend/recurrence.py",
          "kept = [keep(mark, n, s) for n, s in zip(new, states, strict=True)]", "kept = new",
          GOLDEN, "rnn"),
    Fault("rnn: order backwards", "backend/recurrence.py",
          "frames = reverse(frames, axes=(0,))", "pass", GOLDEN, "rnn"),
    Fault("batch normalization: beta forgotten", "backend/normalization.py",
          "shift = ew.add(*broadcast_together((shift, offset), what))", "pass",
          GOLDEN, "batch_normalization", "numpy,jax"),
    Fault("in_top_k: wrong class of error", "backend/losses.py",
          'raise DTypeError(f"{what}: targets must be integers',
          'raise RuntimeError(f"{what}: targets must be integers',
          "tests/backend/test_numeric.py", "top-k"),
]  # fmt: skip

FAULTS: list[Fault] = [
    *GRADIENTS, *SHAPES, *DRAWS, *REWRITES, *KERNELS, *STATE, *ENGINES, *SURFACE,
]  # fmt: skip
