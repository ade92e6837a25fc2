"""Convolutions with holes, transposed and of single channels, pools, batch statistics, blocks."""

PADDINGS = "SAME VALID".split()
KERNEL = "tf.reshape(tf.tile(v, [4]), [3, 1, 4, 2])"
SQUARE = "tf.reshape(tf.tile(v, [8]), [2, 2, 4, 3])"
LINE = "tf.reshape(tf.tile(v, [3]), [3, 3, 2])"
CUBE = "tf.reshape(tf.tile(v, [8]), [2, 3, 2, 2, 2])"
DEEP = "tf.reshape(tf.tile(v, [4]), [3, 2, 4, 1])"
BACK = "tf.reshape(tf.tile(v, [8]), [3, 2, 2, 4])"
CASES = [
    *("tf.nn.conv1d(line, %s, %d, '%s')" % (LINE, s, p) for p in PADDINGS for s in (1, 2, 3)),
    "tf.nn.conv1d(value=line, filters=%s, stride=[1, 2, 1], padding='SAME', data_format='NWC')" % LINE,
    *("tf.nn.conv2d(g, %s, %s, '%s')" % (SQUARE, s, p) for p in PADDINGS for s in ("1", "[2]", "[2, 1]")),
    "tf.nn.conv2d(g, %s, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])" % SQUARE,
    "tf.nn.conv2d(g, %s, [1, 2, 2, 1], padding=[[0, 0], [1, 0], [2, 2], [0, 0]])" % KERNEL,
    *("tf.nn.conv3d(volume, %s, %s, '%s')" % (CUBE, s, p) for p in PADDINGS
      for s in ("[1] * 5", "[1, 2, 1, 2, 1]")),
    *("tf.nn.convolution(%s, padding='%s'%s)" % (a, p, o) for p in PADDINGS
      for a in ("line, " + LINE, "g, " + SQUARE, "volume, " + CUBE) for o in ("", ", strides=None")),
    *("tf.nn.convolution(g, %s, '%s', %s)" % (SQUARE, p, o) for p in PADDINGS
      for o in ("[2, 2]", "dilation_rate=[2, 1]", "dilations=2")),
    *("tf.nn.atrous_conv2d(g, %s, %d, '%s')" % (SQUARE, r, p) for p in PADDINGS for r in (1, 2, 3)),
    *("tf.nn.conv2d_transpose(g, %s, %s, %s, '%s')" % (BACK, o, s, p) for o, s, p in (
        ("[2, 6, 8, 2]", "[1, 1, 1, 1]", "SAME"), ("[2, 12, 16, 2]", "[1, 2, 2, 1]", "SAME"),
        ("[2, 11, 15, 2]", "[1, 2, 2, 1]", "SAME"), ("[2, 8, 9, 2]", "[1, 1, 1, 1]", "VALID"),
        ("[2, 13, 16, 2]", "[1, 2, 2, 1]", "VALID"), ("[2, 12, 8, 2]", "[2, 1]", "SAME"))),
    "tf.nn.conv2d_transpose(g, %s, tf.stack([tf.shape(g)[0], 12, 16, 2]), [1, 2, 2, 1])" % BACK,
    "tf.nn.conv2d_transpose(g, %s, [tf.shape(g)[0], 12, 16, 2], strides=2)" % BACK,
    "tf.nn.conv2d_transpose(g, %s, tf.shape(tf.zeros([2, 12, 16, 2])), strides=2)" % BACK,
    *("tf.nn.conv1d_transpose(line, tf.reshape(tf.tile(v, [3]), [3, 2, 3]), %s, %d, '%s')" % c for c in (
        ("[2, 9, 2]", 1, "SAME"), ("[2, 18, 2]", 2, "SAME"), ("[2, 19, 2]", 2, "VALID"))),
    *("tf.nn.conv3d_transpose(volume, tf.reshape(tf.tile(v, [8]), [2, 2, 2, 3, 2]), %s, %s, '%s')" % c for c in (
        ("[1, 8, 10, 12, 3]", "[1, 2, 2, 2, 1]", "SAME"), ("[1, 5, 6, 7, 3]", "[1] * 5", "VALID"))),
    "tf.nn.conv_transpose(g, %s, [2, 12, 16, 2], [2, 2])" % BACK,
    *("tf.nn.atrous_conv2d_transpose(g, %s, [2, %d, %d, 2], %d, '%s')" % (BACK, a, b, r, p) for a, b, r, p in (
        (6, 8, 1, "SAME"), (6, 8, 2, "SAME"), (10, 10, 2, "VALID"))),
    "tf.nn.conv2d_backprop_input([2, 12, 16, 2], %s, g, [1, 2, 2, 1], 'SAME')" % BACK,
    "tf.nn.conv2d_backprop_filter(g, [3, 2, 4, 3], tf.nn.conv2d(g, tf.ones([3, 2, 4, 3]) * 0.01, 1, 'SAME'), [1] * 4, 'SAME')",
    "tf.nn.conv2d_backprop_filter(g, [3, 2, 4, 1], tf.square(g[:, :4, :7, :1]), [1] * 4, 'VALID')",
    "tf.nn.conv3d_backprop_filter(volume, [2, 2, 2, 2, 1], volume[..., :1] * 0.1, [1] * 5, 'SAME')",
    *("tf.nn.depthwise_conv2d(g, %s, %s, '%s')" % (DEEP, s, p) for p in PADDINGS
      for s in ("[1, 1, 1, 1]", "[1, 2, 2, 1]")),
    *("tf.nn.depthwise_conv2d(g, %s, [1] * 4, '%s', %s)" % (DEEP, p, r) for p in PADDINGS
      for r in ("rate=[2, 2]", "[1, 2]", "dilations=[2, 1]")),
    *("tf.nn.depthwise_conv2d_native(g, %s, [1] * 4, '%s')" % (DEEP, p) for p in PADDINGS),
    "tf.nn.depthwise_conv2d(g, tf.reshape(tf.tile(v, [8]), [3, 2, 4, 2]), [1] * 4, 'SAME')",
    "tf.nn.depthwise_conv2d_backprop_filter(g, [3, 2, 4, 1], g * 0.1, [1] * 4, 'SAME')",
    "tf.nn.depthwise_conv2d_backprop_input([2, 6, 8, 4], %s, g, [1] * 4, 'SAME')" % DEEP,
    *("tf.nn.separable_conv2d(g, %s, tf.reshape(tf.tile(w, [2]), [1, 1, 4, 3]), %s)" % (DEEP, a) for a in (
        "[1] * 4, 'SAME'", "[1, 2, 2, 1], 'VALID'", "[1] * 4, 'SAME', [2, 2]", "strides=[1] * 4, padding='VALID', rate=[1, 2]")),
    *("tf.nn.%s_pool1d(line, %s, %s, '%s')" % (f, k, s, p) for f in ("max", "avg") for p in PADDINGS
      for k, s in ((2, 1), (3, 2), ("[1, 2, 1]", "[1, 2, 1]"))),
    *("tf.nn.%s_pool3d(volume, [1, 2, 2, 3, 1], %s, '%s')" % (f, s, p) for f in ("max", "avg") for p in PADDINGS
      for s in ("[1] * 5", "[1, 2, 2, 2, 1]")),
    "tf.nn.max_pool2d(x, 2, 2, 'SAME')", "tf.nn.max_pool2d(input=x, ksize=[2, 3], strides=[1, 2], padding='VALID')",
    "tf.nn.max_pool_v2(x, 2, 2, 'SAME')", "tf.nn.avg_pool_v2(line, 2, 2, 'VALID')",
    "tf.nn.avg_pool2d(x, 3, 2, 'SAME')", "tf.nn.max_pool(value=x, ksize=3, strides=2, padding='VALID')",
    *("tf.nn.pool(x, [2, 3], '%s', '%s'%s)" % (m, p, o) for m in ("MAX", "AVG") for p in PADDINGS
      for o in ("", ", strides=[2, 2]", ", None, [1, 2]")),
    *("tf.nn.pool(x, [2, 3], '%s', 'VALID', dilation_rate=[2, 1])" % m for m in ("MAX", "AVG")),
    "tf.nn.pool(line, [2], 'MAX', 'SAME')", "tf.nn.pool(volume, [2, 2, 2], 'AVG', 'VALID')",
    *("tf.nn.max_pool_with_argmax(x, %s, %s, '%s'%s)" % (k, s, p, b) for p in PADDINGS
      for k, s in (("[1, 2, 2, 1]", "[1, 2, 2, 1]"), ("[1, 3, 2, 1]", "[1, 1, 3, 1]"))
      for b in ("", ", include_batch_in_index=True")),
    *("tf.nn.dilation2d(x, tf.reshape(v[:6], [2, 1, 3]), %s, %s, '%s')" % (s, r, p) for p in PADDINGS
      for s, r in (("[1] * 4", "[1] * 4"), ("[1, 2, 2, 1]", "[1] * 4"), ("[1] * 4", "[1, 2, 2, 1]"))),
    *("tf.nn.erosion2d(x, tf.reshape(v[:6], [1, 2, 3]), %s, [1] * 4, '%s')" % (s, p) for p in PADDINGS
      for s in ("[1] * 4", "[1, 2, 2, 1]")),
    *("tf.nn.weighted_moments(m, %s)" % a for a in ("[0], p", "1, p", "[0, 1], p", "[0], 2.0", "0, p, keep_dims=True")),
    *("tf.nn.moments(%s)" % a for a in ("x, [0, 1, 2]", "x, [0, 1, 2], keep_dims=True", "m, [1]", "t, [-1]")),
    *("tf.nn.sufficient_statistics(%s)[:3]" % a for a in ("m, [0]", "m, [1]", "t, [1, 2], 0.5", "t, [1], keep_dims=True")),
    "tf.nn.normalize_moments(4.0, v, tf.square(w) * 9.0, None)", "tf.nn.normalize_moments(4.0, v, tf.square(w) * 9.0, 0.5)",
    *("tf.nn.fused_batch_norm(x, v[:3], w[:3]%s)" % a for a in (
        "", ", epsilon=0.1", ", epsilon=1e-8")),
    "tf.nn.fused_batch_norm(x, v[:3], w[:3], v[3:], tf.square(w[3:]), is_training=False)[0]",
    "tf.nn.batch_norm_with_global_normalization(x, v[:3], tf.square(w[:3]), w[3:], v[3:], 1e-3, True)",
    "tf.nn.batch_norm_with_global_normalization(x, v[:3], tf.square(w[:3]), w[3:], v[3:], 1e-3, False)",
    *("tf.nn.log_poisson_loss(%s)" % a for a in ("p, m", "p * 5.0, m, True", "targets=r * 3.0, log_input=v, compute_full_loss=True")),
    *("tf.nn.weighted_cross_entropy_with_logits(%s)" % a for a in ("p, m, 2.0", "targets=unit, logits=m, pos_weight=0.5", "labels=p, logits=q, pos_weight=p")),
    "tf.nn.compute_average_loss(r)", "tf.nn.compute_average_loss(v, w, 12)",
    "tf.nn.scale_regularization_loss(v)", "tf.nn.zero_fraction(whole)", "tf.nn.zero_fraction(tf.nn.relu(m))",
    *("tf.nn.crelu(%s)" % a for a in ("m", "t, axis=1", "v")), "tf.nn.relu_layer(m, n, n[0])",
    *("tf.nn.l2_normalize(%s)" % a for a in ("m", "m, 1", "t, [0, 2]", "m, axis=0, epsilon=1.0", "m, dim=1")),
    *("tf.nn.leaky_relu(%s)" % a for a in ("m", "whole", "d, 0.3")),
    *("tf.space_to_batch(g, [[0, 0], [0, 0]], %s)" % a for a in ("2", "block_size=2")),
    "tf.space_to_batch(x, [[1, 0], [0, 1]], 2)", "tf.space_to_batch_nd(x, [1, 7], [[0, 0], [0, 0]])",
    "tf.space_to_batch_nd(line, [3], [[1, 2]])", "tf.manip.space_to_batch_nd(g, [2, 4], [[0, 0], [4, 0]])",
    "tf.batch_to_space(tf.tile(x, [2, 1, 1, 1]), [[1, 0], [0, 2]], 2)",
    "tf.batch_to_space_nd(tf.tile(line, [3, 1, 1]), [3], [[1, 4]])",
    "tf.batch_to_space_nd(tf.tile(x, [3, 1, 1, 1]), block_shape=[2, 3], crops=[[0, 1], [2, 0]])",
    "tf.space_to_depth(tf.concat([g, g], 1), 4)", "tf.depth_to_space(tf.concat([g, g, g, g], 3), 2)",
    "tf.nn.embedding_lookup([m, q], [0, 1, 3, 5])", "tf.nn.embedding_lookup([m], [[0, 2]])",
    "tf.nn.embedding_lookup([m, q], [0, 1, 3, 5], 'div')", "tf.nn.embedding_lookup(m, [0, 2, 2], max_norm=0.5)",
    "tf.cast(m, tf.dtypes.float64)", "tf.cast(m, tf.dtypes.int32)",
]  # fmt: skip
ERRORS = [
    "tf.nn.conv2d(g, tf.ones([2, 2, 3, 1]), 1, 'SAME')",
    "tf.nn.conv2d(g, tf.ones([2, 2, 4, 1]), [1, 2, 3], 'SAME')",
    "tf.nn.conv2d(g, tf.ones([2, 2, 4, 1]), 1, 'WIDE')",
    "tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], 'FULL')",
    "tf.nn.pool(x, [2, 2], 'AVG', 'SAME', [2, 1])",
    "tf.nn.pool(x, [2, 2], 'SUM', 'SAME')",
    "tf.nn.pool(x, [2, 2], 'MAX', 'SAME', [2, 2], [2, 2])",
    "tf.nn.fused_batch_norm(x, v[:3], w[:3], v[:3], w[:3])",
    "tf.space_to_batch(x, [[0, 0], [0, 0]], 2)",
    "tf.nn.conv2d_transpose(g, tf.ones([2, 2, 3, 4]), [2, 12, 16, 3], 2, 'BOTH')",
]
