"""Names of TensorFlow's inside: gradients of single operations, sizes, choices."""

NN, MATH = "inside('ops.gen_nn_ops')", "inside('ops.gen_math_ops')"
POOLS = [([1, 2, 2, 1], [1, 2, 2, 1], "VALID"), ([1, 3, 3, 1], [1, 2, 1, 1], "SAME")]
DEEP = [1, 2, 2, 2, 1]
# Sizes, kernel, padding, stride.
LENGTHS = [(n, k, s) for n in (7, 10) for k in (1, 3) for s in (1, 2, 3)]
CASES = [
    *("%s.%s(m, q)" % (NN, name) for name in (
        "elu_grad", "selu_grad", "softplus_grad", "softsign_grad")),
    # Where the second argument has no influence, TensorFlow says zeros, and here is nothing.
    *("%s.%s(m, tf.stop_gradient(q) * 2.0)" % (NN, name) for name in (
        "relu_grad", "relu6_grad", "leaky_relu_grad")),
    NN + ".leaky_relu_grad(m, tf.stop_gradient(q), alpha=0.5)", NN + ".relu6_grad(t, tf.stop_gradient(t) * 9.0)",
    NN + ".relu_grad(m, tf.zeros_like(m))", NN + ".relu_grad(x, x)",
    *("%s.%s(p, m)" % (MATH, name) for name in ("sigmoid_grad", "tanh_grad")),
    NN + ".bias_add_grad(x)", NN + ".bias_add_grad(m)", NN + ".bias_add_grad(x, 'NCHW')",
    *("%s.max_pool_grad(g, tf.nn.max_pool(g, *%r), tf.sin(tf.nn.max_pool(g, *%r)), *%r)"
      % (NN, given, given, given) for given in POOLS),
    *("%s.avg_pool_grad([2, 6, 8, 4], tf.sin(tf.nn.avg_pool(g, *%r)), *%r)" % (NN, given, given)
      for given in POOLS),
    "%s.avg_pool_grad(tf.shape(x), tf.nn.avg_pool(x, *%r), *%r)" % (NN, POOLS[1], POOLS[1]),
    "%s.max_pool3d_grad(volume, tf.nn.max_pool3d(volume, %r, %r, 'VALID'),"
    " tf.nn.avg_pool3d(volume, %r, %r, 'VALID'), %r, %r, 'VALID')" % ((NN,) + (DEEP,) * 6),
    "%s.avg_pool3d_grad([1, 4, 5, 6, 2], tf.nn.max_pool3d(volume, %r, %r, 'SAME'), %r, %r, 'SAME')"
    % ((NN,) + (DEEP,) * 4),
    "inside('ops.rnn_cell_impl')._concat(3, [4, 5])",
    "inside('ops.rnn_cell_impl')._concat(tf.shape(m)[0], 5)",
    "inside('ops.rnn_cell_impl')._concat(tf.shape(m), tf.TensorShape([2]))",
    "inside('ops.rnn_cell_impl')._concat(2, [4, 5], static=True)",
    *("inside('layers.utils').conv_output_length(%d, %d, %r, %d)" % (n, k, padding, s)
      for n, k, s in LENGTHS for padding in ("same", "valid", "full")),
    "inside('layers.utils').conv_output_length(10, 3, 'valid', 1, 2)",
    *("inside('layers.utils').%s(%d, %d, %r, %d)" % (name, n, k, padding, s)
      for name in ("conv_input_length", "deconv_output_length")
      for n, k, s in LENGTHS for padding in ("same", "valid", "full")),
    "inside('layers.utils').normalize_tuple(3, 2, 'n')",
    "inside('layers.utils').normalize_tuple([3, 4], 2, 'n')",
    "inside('framework.smart_cond').smart_cond(True, lambda: m, lambda: q)",
    "inside('framework.smart_cond').smart_cond(v[0] > 0, lambda: m, lambda: q)",
    "tf.contrib.framework.smart_cond(tf.constant(False), lambda: m, lambda: q)",
    "inside('framework.tensor_shape').unknown_shape(2).is_fully_defined()",
]  # fmt: skip
ERRORS = [
    "inside('layers.utils').normalize_tuple([3], 2, 'n')",
    "inside('layers.utils').normalize_data_format('last')",
    "inside('framework.smart_cond').smart_cond(True, 3, lambda: m)",
    "inside('framework.smart_cond').smart_constant_value('yes')",
]
