"""The workloads in the textual form of ONNX: forward and backward passes, written by hand."""

from __future__ import annotations

import attention
import chain
import conv
import lstm
import mlp

WEIGHTS = {
    "mlp": ["k1", "b1", "k2", "b2", "k3", "b3"],
    "conv": ["k1", "b1", "k2", "b2", "k3", "b3", "k4", "b4"],
}

# From `logits` and `labels`: the loss, and `delta`, which is its slope times the batch.
CROSSENTROPY = """
    shares = Softmax(logits)
    column = Unsqueeze(labels, last)
    hit = Equal(column, classes)
    truth = Cast <to = 1> (hit)
    delta = Sub(shares, truth)
    kept = Mul(shares, truth)
    picked = ReduceSum <keepdims = 0> (kept, last)
    logs = Log(picked)
    mean = ReduceMean <keepdims = 0> (logs)
    loss = Neg(mean)
"""
CONSTANTS = """
    int64[1] last = {-1}, int64[1] first = {0}, float zero = {0},
    int32[10] classes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
"""

# Gemm adds the slope to the kernel that is its third operand: the update of SGD.
MLP = f"""
mlp (float[N,784] x, int32[N] labels, float[784,512] k1, float[512] b1,
     float[512,512] k2, float[512] b2, float[512,10] k3, float[10] b3)
 => (float loss, float[784,512] k1_, float[512] b1_,
     float[512,512] k2_, float[512] b2_, float[512,10] k3_, float[10] b3_)
<{CONSTANTS}, float rate = {{{mlp.RATE / mlp.BATCH}}}>
{{
    z1 = Gemm(x, k1, b1)
    h1 = Relu(z1)
    z2 = Gemm(h1, k2, b2)
    h2 = Relu(z2)
    logits = Gemm(h2, k3, b3)
    {CROSSENTROPY}
    k3_ = Gemm <transA = 1, alpha = {-mlp.RATE / mlp.BATCH}> (h2, delta, k3)
    back2 = Gemm <transB = 1> (delta, k3)
    on2 = Greater(h2, zero)
    delta2 = Where(on2, back2, zero)
    k2_ = Gemm <transA = 1, alpha = {-mlp.RATE / mlp.BATCH}> (h1, delta2, k2)
    back1 = Gemm <transB = 1> (delta2, k2)
    on1 = Greater(h1, zero)
    delta1 = Where(on1, back1, zero)
    k1_ = Gemm <transA = 1, alpha = {-mlp.RATE / mlp.BATCH}> (x, delta1, k1)
    sum3 = ReduceSum <keepdims = 0> (delta, first)
    sum2 = ReduceSum <keepdims = 0> (delta2, first)
    sum1 = ReduceSum <keepdims = 0> (delta1, first)
    step3 = Mul(sum3, rate)
    step2 = Mul(sum2, rate)
    step1 = Mul(sum1, rate)
    b3_ = Sub(b3, step3)
    b2_ = Sub(b2, step2)
    b1_ = Sub(b1, step1)
}}
"""


def taps(places: int) -> tuple[str, str]:
    """Constants and nodes of the second kernel's slope: one product for each of its 3x3 cells.

    That takes half the time of a convolution with the deltas as its kernel.
    """
    cells = [(i, j) for i in range(3) for j in range(3)]
    ends = [f"int64[2] from{i}{j} = {{{i}, {j}}}" for i, j in cells]
    ends += [f"int64[2] to{i}{j} = {{{i + places}, {j + places}}}" for i, j in cells]
    nodes = [
        f"""
        part{i}{j} = Slice(h1_turned, from{i}{j}, to{i}{j}, space)
        flat{i}{j} = Reshape(part{i}{j}, channels1)
        cell{i}{j} = com.microsoft.FusedMatMul <transB = 1> (delta2_flat, flat{i}{j})
        column{i}{j} = Unsqueeze(cell{i}{j}, last)
        """
        for i, j in cells
    ]
    columns = ", ".join(f"column{i}{j}" for i, j in cells)
    joined = f"joined = Concat <axis = 2> ({columns})"
    return ", ".join(ends), "".join([*nodes, joined])


def adam(names: list[str]) -> str:
    """Nodes that make new weights and moments from slopes `d_`; `size` holds the step's length."""
    return "".join(
        f"""
        old_m_{n} = Mul(m_{n}, beta1)
        add_m_{n} = Mul(d_{n}, rest1)
        m_{n}_ = Add(old_m_{n}, add_m_{n})
        old_v_{n} = Mul(v_{n}, beta2)
        square_{n} = Mul(d_{n}, d_{n})
        add_v_{n} = Mul(square_{n}, rest2)
        v_{n}_ = Add(old_v_{n}, add_v_{n})
        root_{n} = Sqrt(v_{n}_)
        safe_{n} = Add(root_{n}, tiny)
        share_{n} = Div(m_{n}_, safe_{n})
        change_{n} = Mul(share_{n}, size)
        {n}_ = Sub({n}, change_{n})
        """
        for n in names
    )


def convolutional() -> str:
    """The model: channels lie before rows and columns, as ONNX has them."""
    names = WEIGHTS["conv"]
    shapes = {n: conv.SHAPES[i] for i, n in enumerate(names)}
    shapes["k1"], shapes["k2"] = (32, 1, 3, 3), (64, 32, 3, 3)
    state = {f"{kind}{n}": shapes[n] for kind in ("", "m_", "v_") for n in names}
    types = {n: f"float[{','.join(map(str, shape))}]" for n, shape in state.items()}
    inputs = ", ".join(f"{t} {n}" for n, t in types.items())
    outputs = ", ".join(f"{t} {n}_" for n, t in types.items())
    ends, nodes = taps(24)
    return f"""
    conv (float[{conv.BATCH},28,28,1] images, int32[{conv.BATCH}] labels, float size, {inputs})
      => (float loss, {outputs})
    <{CONSTANTS}, {ends}, int64[2] space = {{2, 3}}, int64[3] not_channels = {{0, 2, 3}},
     int64[4] planes = {{-1, 1, 28, 28}}, int64[2] rows = {{-1, {conv.SHAPES[4][0]}}},
     int64[4] pooled_shape = {{-1, 64, 12, 12}}, float[4] twice = {{1, 1, 2, 2}},
     int64[2] channels1 = {{32, -1}}, int64[2] channels2 = {{64, -1}},
     int64[4] k2_shape = {{64, 32, 3, 3}}, float share = {{{1 / conv.BATCH}}},
     float beta1 = {{{conv.BETA1}}}, float rest1 = {{{1 - conv.BETA1}}},
     float beta2 = {{{conv.BETA2}}}, float rest2 = {{{1 - conv.BETA2}}},
     float tiny = {{{conv.TINY:.10f}}}>
    {{
        x = Reshape(images, planes)
        z1 = Conv(x, k1, b1)
        h1 = Relu(z1)
        z2 = Conv(h1, k2, b2)
        h2 = Relu(z2)
        pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (h2)
        flat = Reshape(pooled, rows)
        z3 = Gemm(flat, k3, b3)
        h3 = Relu(z3)
        logits = Gemm(h3, k4, b4)
        {CROSSENTROPY}
        delta4 = Mul(delta, share)
        d_k4 = Gemm <transA = 1> (h3, delta4)
        d_b4 = ReduceSum <keepdims = 0> (delta4, first)
        back3 = Gemm <transB = 1> (delta4, k4)
        on3 = Greater(h3, zero)
        delta3 = Where(on3, back3, zero)
        d_k3 = Gemm <transA = 1> (flat, delta3)
        d_b3 = ReduceSum <keepdims = 0> (delta3, first)
        back2 = Gemm <transB = 1> (delta3, k3)
        on2 = Greater(flat, zero)
        small = Where(on2, back2, zero)
        small_planes = Reshape(small, pooled_shape)
        wide = Resize <mode = "nearest"> (small_planes, , twice)
        largest = Resize <mode = "nearest"> (pooled, , twice)
        chosen = Equal(h2, largest)
        delta2 = Where(chosen, wide, zero)
        d_b2 = ReduceSum <keepdims = 0> (delta2, not_channels)
        delta2_turned = Transpose <perm = [1, 0, 2, 3]> (delta2)
        delta2_flat = Reshape(delta2_turned, channels2)
        h1_turned = Transpose <perm = [1, 0, 2, 3]> (h1)
        {nodes}
        d_k2 = Reshape(joined, k2_shape)
        back1 = ConvTranspose(delta2, k2)
        on1 = Greater(h1, zero)
        mask1 = Cast <to = 1> (on1)
        delta1 = Mul(back1, mask1)
        d_b1 = ReduceSum <keepdims = 0> (delta1, not_channels)
        x_turned = Transpose <perm = [1, 0, 2, 3]> (x)
        delta1_turned = Transpose <perm = [1, 0, 2, 3]> (delta1)
        d_k1_turned = Conv(x_turned, delta1_turned)
        d_k1 = Transpose <perm = [1, 0, 2, 3]> (d_k1_turned)
        {adam(names)}
    }}"""


# Before the loop backwards everything that needs no slope is computed for all steps at once;
# after it come the slopes of the weights.
LSTM = f"""
lstm (float[B,T,I] x, float[I,G] kernel, float[U,G] recurrent, float[G] bias)
  => (float loss, float[I,G] d_kernel, float[U,G] d_recurrent, float[G] d_bias)
<int64[2] state = {{{lstm.BATCH}, {lstm.UNITS}}}, float one = {{1}}, int64[1] first = {{0}},
 float scale = {{{2 / (lstm.BATCH * lstm.STEPS * lstm.UNITS)}}},
 int64[2] rows_in = {{-1, {lstm.INPUTS}}}, int64[2] rows_z = {{-1, {4 * lstm.UNITS}}},
 int64[2] rows = {{-1, {lstm.UNITS}}},
 int64[3] steps_z = {{{lstm.STEPS}, {lstm.BATCH}, {4 * lstm.UNITS}}},
 int64[2] parts = {{{3 * lstm.UNITS}, {lstm.UNITS}}},
 int64[1] before_last = {{-1}}>
{{
    start = ConstantOfShape(state)
    steps = Transpose <perm = [1, 0, 2]> (x)
    flat = Reshape(steps, rows_in)
    z_flat = Gemm(flat, kernel, bias)
    z = Reshape(z_flat, steps_z)
    h_end, c_end, hidden, cells, gates, candidates, squashed = Scan <
        num_scan_inputs = 1,
        body = forward (float[B,U] h, float[B,U] c, float[B,G] z_in)
            => (float[B,U] h_new, float[B,U] c_new, float[B,U] h_out, float[B,U] c_out,
                float[B,S] gates_out, float[B,U] g, float[B,U] tanh_c) {{
            again = MatMul(h, recurrent)
            z_sum = Add(z_in, again)
            z_gates, z_candidate = Split <axis = 1> (z_sum, parts)
            gates_out = Sigmoid(z_gates)
            g = Tanh(z_candidate)
            i, f, o = Split <axis = 1, num_outputs = 3> (gates_out)
            kept = Mul(f, c)
            added = Mul(i, g)
            c_new = Add(kept, added)
            tanh_c = Tanh(c_new)
            h_new = Mul(o, tanh_c)
            h_out = Identity(h_new)
            c_out = Identity(c_new)
        }}
    > (start, start, z)

    squares = Mul(hidden, hidden)
    loss = ReduceMean <keepdims = 0> (squares)
    d_out = Mul(hidden, scale)
    start_row = Unsqueeze(start, first)
    c_early = Slice(cells, first, before_last, first)
    h_early = Slice(hidden, first, before_last, first)
    c_before = Concat <axis = 0> (start_row, c_early)
    h_before = Concat <axis = 0> (start_row, h_early)
    i_all, f_all, o_all = Split <axis = 2, num_outputs = 3> (gates)
    off = Sub(one, gates)
    slopes = Mul(gates, off)
    factors = Concat <axis = 2> (candidates, c_before, squashed)
    sigmoids = Mul(slopes, factors)
    g_squared = Mul(candidates, candidates)
    g_slope = Sub(one, g_squared)
    tanhs = Mul(i_all, g_slope)
    all = Concat <axis = 2> (sigmoids, tanhs)
    c_squared = Mul(squashed, squashed)
    c_slope = Sub(one, c_squared)
    through = Mul(o_all, c_slope)
    dh_end, dc_end, deltas = Scan <
        num_scan_inputs = 4,
        scan_input_directions = [1, 1, 1, 1],
        scan_output_directions = [1],
        body = backward (float[B,U] dh, float[B,U] dc, float[B,U] d_step, float[B,U] to_cell,
                         float[B,U] keep, float[B,G] to_z)
            => (float[B,U] dh_new, float[B,U] dc_new, float[B,G] dz) {{
            d_hidden = Add(dh, d_step)
            more = Mul(d_hidden, to_cell)
            d_cell = Add(dc, more)
            spread = Concat <axis = 1> (d_cell, d_cell, d_hidden, d_cell)
            dz = Mul(spread, to_z)
            dh_new = Gemm <transB = 1> (dz, recurrent)
            dc_new = Mul(d_cell, keep)
        }}
    > (start, start, d_out, through, f_all, all)
    deltas_flat = Reshape(deltas, rows_z)
    h_flat = Reshape(h_before, rows)
    d_kernel = Gemm <transA = 1> (flat, deltas_flat)
    d_recurrent = Gemm <transA = 1> (h_flat, deltas_flat)
    d_bias = ReduceSum <keepdims = 0> (deltas_flat, first)
}}
"""

ATTENTION = f"""
attention (float[B,T,W] x, float[W,J] into, float[W,W] out)
       => (float loss, float[B,T,W] d_x, float[W,W] d_query, float[W,W] d_key, float[W,W] d_value,
           float[W,W] d_out)
<int64[2] rows = {{-1, {attention.WIDTH}}}, int64[2] joint_rows = {{-1, {3 * attention.WIDTH}}},
 int64[5] split = {{-1, {attention.STEPS}, 3, {attention.HEADS}, {attention.DEPTH}}},
 int64[4] heads = {{-1, {attention.STEPS}, {attention.HEADS}, {attention.DEPTH}}},
 int64[3] whole = {{-1, {attention.STEPS}, {attention.WIDTH}}},
 int64[1] first = {{0}}, int64[1] last = {{-1}},
 float scale = {{{2 / (attention.BATCH * attention.STEPS * attention.WIDTH)}}}>
{{
    flat = Reshape(x, rows)
    joint = MatMul(flat, into)
    parts = Reshape(joint, split)
    kinds = Transpose <perm = [2, 0, 3, 1, 4]> (parts)
    q_, k_, v_ = Split <axis = 0, num_outputs = 3> (kinds)
    q = Squeeze(q_, first)
    k = Squeeze(k_, first)
    v = Squeeze(v_, first)
    scores = com.microsoft.FusedMatMul <transB = 1, alpha = {attention.SCALE}> (q, k)
    shares = Softmax(scores)
    mixed = MatMul(shares, v)
    turned = Transpose <perm = [0, 2, 1, 3]> (mixed)
    joined = Reshape(turned, rows)
    output = MatMul(joined, out)
    squares = Mul(output, output)
    loss = ReduceMean <keepdims = 0> (squares)

    d_output = Mul(output, scale)
    d_out = Gemm <transA = 1> (joined, d_output)
    d_joined = Gemm <transB = 1> (d_output, out)
    d_turned = Reshape(d_joined, heads)
    d_mixed = Transpose <perm = [0, 2, 1, 3]> (d_turned)
    dv = com.microsoft.FusedMatMul <transA = 1> (shares, d_mixed)
    d_shares = com.microsoft.FusedMatMul <transB = 1> (d_mixed, v)
    products = Mul(d_mixed, mixed)
    totals = ReduceSum(products, last)
    rest = Sub(d_shares, totals)
    d_scores = Mul(rest, shares)
    dq = com.microsoft.FusedMatMul <alpha = {attention.SCALE}> (d_scores, k)
    dk = com.microsoft.FusedMatMul <transA = 1, alpha = {attention.SCALE}> (d_scores, q)
    dq_ = Unsqueeze(dq, first)
    dk_ = Unsqueeze(dk, first)
    dv_ = Unsqueeze(dv, first)
    d_kinds = Concat <axis = 0> (dq_, dk_, dv_)
    d_parts = Transpose <perm = [1, 3, 0, 2, 4]> (d_kinds)
    d_joint = Reshape(d_parts, joint_rows)
    d_into = Gemm <transA = 1> (flat, d_joint)
    d_query, d_key, d_value = Split <axis = 1, num_outputs = 3> (d_into)
    d_flat = Gemm <transB = 1> (d_joint, into)
    d_x = Reshape(d_flat, whole)
}}
"""

CHAIN = f"""
chain (float[N] x) => (float[N] y)
<float squared = {{{chain.SQUARED}}}, float linear = {{{chain.LINEAR}}},
 float constant = {{{chain.CONSTANT}}}, float zero = {{0}}>
{{
    a = Mul(x, squared)
    b = Add(a, linear)
    c = Mul(b, x)
    curve = Add(c, constant)
    square = Mul(x, x)
    down = Neg(square)
    bell = Exp(down)
    bent = Tanh(curve)
    right = Mul(bent, bell)
    left = Sub(curve, bell)
    positive = Greater(x, zero)
    y = Where(positive, right, left)
}}
"""

ADD = "add (float[N] x, float[N] y) => (float[N] z) { z = Add(x, y) }"

COUNT = """
count (float n) => (float loss, float n_) <float one = {1}>
{
    n_ = Add(n, one)
    loss = Identity(n)
}
"""
