"""Choices, loops, gradients, functions and variables of programs for TensorFlow 1."""

from __future__ import annotations

from .calls import CALLS, is_fixed
from .collected import COLLECTED
from .draft import FLOATS, INTS, NUMBERS, Draft, T

CARRIED = (*NUMBERS, "bool")
OPTIMIZERS = """
GradientDescent(0.1) Momentum(0.1,0.9) Momentum(0.05,0.8,use_nesterov=True) Adam(0.05) Adagrad(0.1)
RMSProp(0.05) RMSProp(0.05,momentum=0.5,centered=True) Ftrl(0.1) Adadelta(0.5) Ftrl(0.1,
l1_regularization_strength=0.01)
""".replace(",\n", ",").split()


def statements(d: Draft, count: int) -> None:
    """Draw some statements where the draft is."""
    depth = len(d.scopes) - 1
    control = {f: w * (1.0, 0.8, 0.3, 0.0)[min(depth, 3)] for f, w in CONTROL.items()}
    table = CALLS | COLLECTED | control
    for f in d.random.choices(list(table), list(table.values()), k=count):
        f(d)


def block(d: Draft, count: int = 4) -> None:
    """Statements of a function inside; at least one makes something."""
    while not d.scopes[-1]:
        statements(d, 1)
    statements(d, d.int(0, count))


def give(d: Draft, texts: list[str], also: str = "", extra: str = "") -> None:
    """Return from a function, after all effects in it."""
    texts = [f"tf.identity({text})" for text in texts] if d.token else texts
    inside = ", ".join([*([also] if also else []), *texts])
    inside = f"({inside})" if "," in inside else inside
    d.line(f"return {d.after(inside)}{extra}")


def effects(d: Draft) -> bool:
    """Whether effects may be here, and there's something to change."""
    return not d.is_pure and bool(usable(d))


def usable(d: Draft) -> list[T]:
    """The variables that can be reached."""
    return [x for x, is_resource in d.variables if is_resource or not d.only_resources]


def condition(d: Draft) -> str:
    """A bool that feeds decide, computed after all effects so far."""
    fed = {x.name for x in d.placeholders}
    found = d.seen(lambda x: x.dtype in NUMBERS and not fed.isdisjoint(d.sources(x)))
    x = d.choice(found or d.placeholders)
    return d.after(f"tf.reduce_mean(tf.cast({x.name}, tf.float64)) > 0.0123")


def choice(d: Draft) -> None:
    """tf.cond, tf.case, tf.switch_case."""
    kinds = [d.pick(CARRIED) for _ in range(d.int(1, 2))]
    ways = d.choice([2, 2, 2, 3])
    before = condition(d) if ways == 2 else ""
    heads = [d.name("p") for _ in range(ways - 1)]
    for head in heads:
        d.line(f"{head} = {before or condition(d)}")
    number = d.pick(INTS, 0, 0)
    made = []
    for _ in range(ways):
        with d.body([]) as name:
            block(d)
            give(d, [d.alike(x) for x in kinds])
        made.append(name)
    if ways == 2:
        text = f"tf.cond({heads[0]}, {', '.join(made)})"
    elif d.flag():
        pairs = ", ".join(map("({}, {})".format, heads, made))
        text = f"tf.case([{pairs}], default={made[-1]})"
    else:
        text = f"tf.switch_case(tf.cast({number.name}, tf.int32), [{', '.join(made)}])"
        text = d.after(text)
    found = d.results(text, [x[1:] for x in kinds])
    d.token = found[0].name if d.token else d.token
    _stay(d, found)


def _stay(d: Draft, found: list[T]) -> None:
    """What changes a variable inside is before all that comes."""
    if d.variables and not d.is_pure:
        d.token = found[0].name


def loop(d: Draft) -> None:
    """tf.while_loop, with arrays that are read and written."""
    kinds = [d.pick(CARRIED) for _ in range(d.int(1, 2))]
    first = [x.name for x in kinds]
    counter, turns = d.name("i"), d.choice("0122334")
    taken = d.pick(FLOATS, 1, 3) if d.flag(0.3) else None
    if taken:
        turns = f"tf.shape({taken.name})[0]"
    elif d.flag(0.2):
        turns = f"tf.abs({d.pick(['int32'], 0, 0).name}) % 5"
    bound = d.name("k")
    d.line(f"{bound} = {turns}")
    writes = d.flag(0.4)
    array, out, filled = d.name("a"), d.pick(FLOATS, 0, 2), d.name("a")
    if taken:
        d.line(f"{array} = tf.TensorArray(tf.{taken.dtype}, {bound}, clear_after_read=False)"
               f".unstack({taken.name})")  # fmt: skip
    if writes:
        size = d.choice([f"{bound}", "0, dynamic_size=True"])
        more = d.choice(["", ", infer_shape=False", ", clear_after_read=False"])
        d.line(f"{filled} = tf.TensorArray(tf.{out.dtype}, {size}{more})")
    inner = [T(d.name(), *x[1:]) for x in kinds]
    own = d.name("a") if writes else ""
    with d.body([], f"{counter} {' '.join(x.name for x in inner)} {own}", counter) as name:
        d.scopes[-1] += [T(counter, "int32", ()), *inner]
        if taken:
            d.add(f"{array}.read({counter})", taken.dtype, taken.dims[1:])
        statements(d, d.int(1, 5))
        texts = [d.alike(x) for x in inner]
        extra = [f"{own}.write({counter}, {d.alike(out)})"] if writes else []
        token, d.token = d.token, d.token if d.token != counter else ""
        give(d, texts, f"{counter} + 1", f" + ({extra[0]},)" if extra else "")
        d.token = token
    names = ", ".join([counter, *(x.name for x in inner), *([own] if own else [])])
    until = d.choice(["", "", f", tf.reduce_sum(tf.cast({inner[0].name}, tf.float32)) < 9.0123"])
    test = f"tf.logical_and({counter} < {bound}{until})" if until else f"{counter} < {bound}"
    options = d.choice(["", "", ", maximum_iterations=3", ", parallel_iterations=1",
                        ", swap_memory=True", ", back_prop=False"])  # fmt: skip
    start = d.after("tf.constant(0)") if not d.token else d.after("tf.identity(0)")
    given = ", ".join([start, *first, *([filled] if writes else [])])
    ended = d.name("r") if writes else ""
    before = set(d.of)
    found = d.results(
        f"tf.while_loop(lambda {names}: {test}, {name}, ({given},){options})",
        [("int32", ()), *(x[1:] for x in kinds)], f", {ended}" if ended else "",
    )  # fmt: skip
    d.loops |= set(d.of) - before
    _stay(d, found)
    if writes:
        rows = f"gather(tf.range({ended}.size())[::-1])"
        f = d.choice(["stack()", "stack()", rows] + ["concat()"] * bool(out.rank))
        d.add(f"{ended}.{f}", out.dtype, (d.size(), *out.dims[f[0] == "c" :]))


def mapped(d: Draft) -> None:
    """tf.map_fn, tf.scan, tf.foldl and tf.foldr."""
    x = d.pick(NUMBERS, 1, 3)
    row, kind = T(d.name(), x.dtype, x.dims[1:]), d.choice(["map_fn", "scan", "foldl", "foldr"])
    before, d.is_pure = d.is_pure, True
    if kind == "map_fn":
        with d.body([row]) as name:
            block(d)
            out = d.choice([y for y in d.scopes[-1] if y.dtype in CARRIED])
            d.line(f"return {out.name}")
        d.is_pure = before
        dims = [n if isinstance(n, int) or n in x.dims else d.size() for n in out.dims]
        options = d.choice(["", "", ", parallel_iterations=1", ", infer_shape=False"])
        made = d.add(f"tf.map_fn({name}, {x.name}, tf.{out.dtype}{options})", out.dtype,
                     (x.dims[0], *dims))  # fmt: skip
        d.loops.add(made.name)
        return
    first = d.pick(NUMBERS, 0, 2)
    kept = T(d.name(), *first[1:])
    with d.body([kept, row]) as name:
        statements(d, d.int(1, 4))
        d.line(f"return {d.alike(kept)}")
    d.is_pure = before
    options = d.choice(["", "", ", reverse=True"]) if kind == "scan" else ""
    dims = (x.dims[0], *first.dims) if kind == "scan" else first.dims
    text = f"tf.{kind}({name}, {x.name}, {first.name}{options})"
    d.loops.add(d.add(text, first.dtype, dims).name)


def mapped_together(d: Draft) -> None:
    """tf.map_fn, tf.scan and tf.foldl over two tensors, with two results."""
    x = d.pick(NUMBERS, 1, 3)
    y = d.pick(NUMBERS, 1, 3, lambda y: y.dims[0] == x.dims[0])
    if y.dims[0] != x.dims[0]:
        return
    rows = [T(d.name(), z.dtype, z.dims[1:]) for z in (x, y)]
    kind, pair = d.choice(["map_fn", "scan", "foldl"]), d.name("z")
    first = [d.pick(NUMBERS, 0, 2) for _ in range(2)]
    kept = rows if kind == "map_fn" else [T(d.name(), *z[1:]) for z in first]
    before, d.is_pure = d.is_pure, True
    with d.body([], pair if kind == "map_fn" else f"{pair} {pair}r") as name:
        d.line(f"{kept[0].name}, {kept[1].name} = {pair}")
        if kind != "map_fn":
            d.line(f"{rows[0].name}, {rows[1].name} = {pair}r")
        d.scopes[-1] += rows if kind == "map_fn" else [*kept, *rows]
        statements(d, d.int(1, 4))
        d.line(f"return {', '.join(d.alike(z) for z in kept)}")
    d.is_pure = before
    given = f"({x.name}, {y.name})"
    if kind == "map_fn":
        text = f"tf.map_fn({name}, {given}, (tf.{x.dtype}, tf.{y.dtype}))"
    else:
        text = f"tf.{kind}({name}, {given}, ({first[0].name}, {first[1].name}))"
    lead = [] if kind == "foldl" else [x.dims[0]]
    found = d.results(text, [(z.dtype, (*lead, *z.dims)) for z in kept])
    d.loops |= {z.name for z in found}


# Steps of datasets over rows, which keep their shape; `{s}` is the dataset.
STEPS = """
take(2) skip(1) repeat(2) shard(2,0) concatenate({s}) batch(2).unbatch() prefetch(1) cache()
enumerate().map(lambda_i,r:r) flat_map(lambda_r:tf.data.Dataset.from_tensors(r).repeat(2))
filter(lambda_r:tf.reduce_all(r>-1)) interleave(lambda_r:tf.data.Dataset.from_tensors(r),2)
map(lambda_r:r+r,2) window(2).flat_map(lambda_w:w.batch(2)).unbatch()
""".split()


def dataset(d: Draft) -> None:
    """A tf.data.Dataset of rows; all of them together, or summed up."""
    x, name = d.pick(NUMBERS, 1, 3), d.name("s")
    row = T(d.name(), x.dtype, x.dims[1:])
    d.line(f"{name} = tf.data.Dataset.from_tensor_slices({x.name})")
    for step in d.random.sample(STEPS, d.int(0, 3)):
        d.line(f"{name} = {name}.{step.format(s=name).replace('lambda_', 'lambda ')}")
    before, d.is_pure = (d.is_pure, d.only_resources), True
    d.only_resources = True
    if d.flag():
        with d.body([row]) as function:
            statements(d, d.int(1, 4))
            row = d.choice([y for y in d.scopes[-1] if y.dtype in NUMBERS])
            d.line(f"return {row.name}")
        d.line(f"{name} = {name}.map({function})")
    dims = [n if isinstance(n, int) or n in x.dims else d.size() for n in row.dims]
    if d.flag():
        text = f"tf.data.experimental.get_single_element({name}.batch(99))"
        d.add(text, row.dtype, (d.size(), *dims))
    else:
        first = d.pick(NUMBERS, 0, 2)
        kept = T(d.name(), *first[1:])
        with d.body([kept, T(d.name(), row.dtype, tuple(dims))]) as function:
            d.line(f"return {d.alike(kept)}")
        d.add(f"{name}.reduce({first.name}, {function})", first.dtype, first.dims)
    d.is_pure, d.only_resources = before


def queue(d: Draft) -> None:
    """A queue that takes a tensor, and gives it back, perhaps in parts."""
    if len(d.scopes) > 1 or d.is_pure:
        return
    x, name, put = d.pick(NUMBERS, 1, 3), d.name("q"), d.name("e")
    if not all(map(is_fixed, x.dims)):
        return
    d.line(f"{name} = tf.FIFOQueue(99, [tf.{x.dtype}], [{list(x.dims[1:])}])")
    several, count = d.flag(0.7), d.int(1, int(x.dims[0]))
    given = f"enqueue_many([{x.name}])" if several else f"enqueue([{x.name}[0]])"
    d.line(f"{put} = {d.after(f'{name}.{given}')}")
    d.token = put
    if several and d.flag(0.7):
        made = d.add(d.after(f"{name}.dequeue_many({count})"), x.dtype, (count, *x.dims[1:]))
    else:
        made = d.add(d.after(f"{name}.dequeue()"), x.dtype, x.dims[1:])
    d.token = made.name
    if d.flag():
        d.token = d.add(d.after(f"{name}.size()"), "int32", ()).name


def own_gradient(d: Draft) -> None:
    """A function of one or two tensors that tells its own gradient."""
    x = d.pick(FLOATS)
    y = d.pick([x.dtype], test=lambda y: y.dims == x.dims)
    y = y if y.dims == x.dims else x
    before, d.is_pure, only = d.is_pure, True, d.only_resources
    d.only_resources = True
    parameters = [T(d.name(), *x[1:]), T(d.name(), *x[1:])]
    with d.body(parameters) as name:
        statements(d, d.int(1, 3))
        result = d.alike(parameters[0])
        slope = T(d.name(), *x[1:])
        with d.body([slope]) as grad:
            d.line(f"return {d.alike(slope)}, {slope.name} * {parameters[1].name}")
        d.line(f"return {result}, {grad}")
    d.is_pure, d.only_resources = before, only
    d.add(f"tf.custom_gradient({name})({x.name}, {y.name})", x.dtype, x.dims)


def recurrent(d: Draft) -> None:
    """tf.nn.dynamic_rnn, with lengths or without."""
    if d.only_resources or d.is_pure or len(d.scopes) > 1:
        return
    x = d.pick(["float32"], 3, 3, lambda x: is_fixed(x.dims[2]))
    if not is_fixed(x.dims[2]):
        return
    cell, units = d.choice(["GRU", "BasicLSTM", "BasicRNN", "LSTM"]), d.int(1, 3)
    lengths = f", tf.range(tf.shape({x.name})[0]) % (tf.shape({x.name})[1] + 1)"
    call = f"tf.nn.dynamic_rnn(tf.nn.rnn_cell.{cell}Cell({units}), {x.name}"
    call += f"{d.choice(['', lengths])}, dtype=tf.float32)[0]"
    around = f"tf.variable_scope('{d.name('v')}', initializer=tf.constant_initializer(0.25))"
    d.loops.add(d.add(f"within({around}, lambda: {call})", "float32", (*x.dims[:2], units)).name)


def arrays(d: Draft) -> None:
    """A tf.TensorArray outside of loops."""
    x = d.pick(NUMBERS, 1, 3)
    if not is_fixed(x.dims[0]):
        return
    size, name, rows = x.dims[0], d.name("a"), x.dims[1:]
    filled = d.choice(["unstack(", f"scatter({list(range(size))[::-1]}, "])
    options = f"{size}, clear_after_read=False, dynamic_size=True"
    d.line(f"{name} = tf.TensorArray(tf.{x.dtype}, {options}).{filled}{x.name})")
    if d.flag():
        d.line(f"{name} = {name}.write({size}, {name}.read({d.int(0, size - 1)}) * 2)")
        size += 1
    if d.flag() or not rows:
        d.add(f"{name}.stack()", x.dtype, (size, *rows))
    else:
        first = rows[0] * size if isinstance(rows[0], int) else d.size()
        d.add(f"{name}.concat()", x.dtype, (first, *rows[1:]))


def gradient(d: Draft) -> None:
    """tf.gradients; of gradients, too."""
    y = d.pick(FLOATS)
    around = d.seen() if d.is_pure else [*d.seen(), *usable(d)]
    sources = [x for x in around if x.dtype in FLOATS and x != y and x.name in d.sources(y)]
    if sources:
        xs = d.random.sample(sources, min(len(sources), d.int(1, 2)))
        names = ", ".join(x.name for x in xs)
        d.results(f"slopes({y.name}, [{names}])", [x[1:] for x in xs], "," * (len(xs) == 1))


def function(d: Draft) -> None:
    """tf.function or Defun."""
    arguments = [d.pick(NUMBERS) for _ in range(d.int(1, 2))]
    parameters = [T(d.name(), *x[1:]) for x in arguments]
    only, d.only_resources = d.only_resources, True
    with d.body(parameters) as name:
        statements(d, d.int(1, 5))
        kinds = parameters[: d.int(1, 2)]
        give(d, [d.alike(x) for x in kinds])
    d.only_resources = only
    types = ", ".join(f"tf.{x.dtype}" for x in arguments)
    made = d.choice([f"tf.function({name}, autograph=False)",
                     f"tf.contrib.eager.defun({name}, autograph=False)",
                     f"function.Defun({types})({name})"])  # fmt: skip
    call = f"{made}({', '.join(x.name for x in arguments)})"
    found = d.results(d.after(call), [x[1:] for x in kinds])
    _stay(d, found)


def read(d: Draft) -> None:
    """A variable's value, as it is here."""
    if usable(d) and not d.is_pure:
        x = d.choice(usable(d))
        factor = "1.5" if x.dtype in FLOATS else "3"
        found = d.add(d.after(f"{x.name} * {factor}"), x.dtype, x.dims)
        d.token = found.name


def change(d: Draft) -> None:
    """An effect on a variable."""
    if not effects(d):
        return
    x, name = d.choice(usable(d)), d.name("e")
    value = d.alike(T(x.name + " * 1", *x[1:]))
    found = d.seen(lambda y: y[1:] == x[1:])
    value = d.choice(found).name if found else value.replace("tf.identity", "")
    row = d.int(0, x.dims[0] - 1) if x.dims and is_fixed(x.dims[0]) else 0
    value = f"tf.clip_by_value({value}, -2, 2)"
    options = [f"tf.assign({x.name}, {value})"] + [f"tf.assign_add({x.name}, {value})"] * 2
    options += [f"tf.assign_sub({x.name}, {value})"]
    if x.dims:
        f = d.choice(["update", "add", "sub", "mul", "max", "min"])
        g = d.choice(["update", "add", "sub"])
        options += [f"tf.scatter_{f}({x.name}, [{row}], {value}[:1])",
                    f"{x.name}[{row}].assign({value}[-1])",
                    f"tf.scatter_nd_{g}({x.name}, [[{row}]], {value}[:1])"]  # fmt: skip
    d.line(f"{name} = {d.after(f'{d.choice(options)}.op')}")
    d.token = name


def train(d: Draft) -> None:
    """A step of an optimizer."""
    if not effects(d):
        return
    weights = [x for x in usable(d) if x.dtype in FLOATS]
    # What comes of a loop is left out: its gradient would have to come after the loop itself.
    losses = d.seen(lambda y: y.dtype in FLOATS and not d.sources(y) & d.loops)
    losses = [y for y in losses if any(x.name in d.sources(y) for x in weights)]
    if losses:
        y = d.choice(losses[-8:])
        names = ", ".join(x.name for x in weights if x.name in d.sources(y))
        name = d.name("e")
        kind, _, rest = d.choice(OPTIMIZERS).partition("(")
        made = f"tf.train.{kind}Optimizer({rest}"
        loss = f"tf.reduce_mean(tf.square({y.name}))"
        d.line(f"{name} = {d.after(f'{made}.minimize({loss}, var_list=[{names}])')}")
        d.token = name


def aside(d: Draft) -> None:
    """What is asserted, printed or grouped; a Python function with several results."""
    if d.is_pure:
        return
    x, name = d.pick(NUMBERS), d.name("e")
    text = d.choice([
        f"tf.Assert(tf.reduce_all(tf.equal({x.name}, {x.name})), [{x.name}])",
        f"tf.Print({x.name}, [{x.name}], 'm').op", f"tf.group({x.name}, tf.no_op())",
        f"tf.assert_equal(tf.shape({x.name}), tf.shape({x.name}))",
        f"tf.tuple([{x.name}, {x.name} * 2])[1].op", "tf.no_op()",
        f"tf.debugging.assert_less({x.name}, tf.cast(900, tf.{x.dtype}))",
    ])  # fmt: skip
    d.line(f"{name} = {d.after(text)}")
    d.token = name


CONTROL = {
    choice: 4, loop: 4, mapped: 2, arrays: 1, gradient: 4, function: 1.5, read: 3, change: 3,
    train: 1, aside: 1, mapped_together: 1, dataset: 1, queue: 0.7, own_gradient: 0.7,
    recurrent: 0.4,
}  # fmt: skip


def drawn(seed: int) -> str:
    """The program of a seed."""
    d = Draft(seed)
    if d.flag(0.2):
        d.line("tf.compat.v1.enable_control_flow_v2()")
        d.only_resources = True
    for _ in range(d.int(1, 4)):
        _placeholder(d)
    for _ in range(d.int(0, 3)):
        dtype, is_resource = d.choice((*FLOATS, *FLOATS, "int32")), d.flag() or d.only_resources
        x = T(d.name("w"), dtype, d.dims(d.int(0, 2)))
        made = f"initializer=v({x.dims}, '{dtype}', {d.seed}), use_resource={is_resource}"
        d.line(f"{x.name} = tf.get_variable('{x.name}', {made})")
        d.variables.append((x, is_resource))
        d.of[x.name] = set()
        read(d)
    statements(d, d.int(3, 15))
    for _ in range(d.int(1, 4)):
        _run(d)
    return "\n".join(d.lines) + "\n"


def _placeholder(d: Draft) -> None:
    dtype = d.choice(("float32",) * 6 + ("float64", "int32", "int64", "bool"))
    dims = tuple(d.choice("nnm") if d.flag(0.4) else n for n in d.dims(d.int(0, 4)))
    told = [n if isinstance(n, int) else None for n in dims]
    text = "None" if d.flag(0.05) else str(told)
    d.placeholders.append(d.add(f"tf.placeholder(tf.{dtype}, {text})", dtype, dims))


def _run(d: Draft) -> None:
    """A call of the session, with sizes of its own."""
    sizes = {key: d.choice((1, 2, 2, 3, 3, 4, 5, 0)[: 8 if d.flag(0.2) else 7]) for key in "nm"}

    def fed(x: T) -> str:
        dims = tuple(sizes.get(n, n) if isinstance(n, str) else n for n in x.dims)
        return f"'{x.name}': v({dims}, '{x.dtype}', {d.seed})"

    seen = d.scopes[0]
    taken = d.random.sample(seen, min(len(seen), d.int(1, 8)))
    feeds = list(d.placeholders)
    if d.flag(0.15):
        floats = [x for x in seen if x.is_known and x.dtype in FLOATS and x not in feeds]
        feeds += [x for x in floats if d.flag(0.1)]
    names = dict.fromkeys([x.name for x in taken] + ([d.token] if d.token and d.flag(0.7) else []))
    d.line(f"run('{' '.join(names)}', {{{', '.join(map(fed, feeds))}}})")
