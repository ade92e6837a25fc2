"""Activations, convolutions, pools, losses."""

ACTIVATIONS = "relu relu6 elu selu softplus softsign sigmoid tanh swish leaky_relu softmax log_softmax".split()
PADDINGS = "SAME VALID".split()
CASES = [
    *("tf.nn.%s(%s)" % (f, a) for f in ACTIVATIONS for a in ("m", "t", "m * 5.0", "d")),
    *("tf.nn.%s(m, axis=0)" % f for f in ("softmax", "log_softmax")),
    *("tf.nn.leaky_relu(m, %s)" % a for a in ("0.1", "alpha=0.5")),
    *("tf.nn.softmax(t, %s)" % a for a in ("dim=1", "axis=-2", "1")),
    *("tf.nn.conv2d(g, %s, %s, '%s')" % (k, s, p) for p in PADDINGS
      for s in ("[1, 1, 1, 1]", "[1, 2, 2, 1]", "(1, 2, 1, 1)")
      for k in ("tf.reshape(tf.tile(r, [8]), [2, 2, 4, 3])", "tf.reshape(tf.tile(v, [4]), [3, 1, 4, 2])")),
    *("tf.nn.conv2d(g, tf.reshape(tf.tile(v, [4]), [3, 1, 4, 2]), strides=[1] * 4, padding='%s',"
      " dilations=%s)" % (p, d) for p in PADDINGS for d in ("[1, 2, 1, 1]", "[1, 2, 2, 1]")),
    *("tf.nn.%s_pool(x, %s, %s, '%s')" % (f, k, s, p) for f in ("max", "avg") for p in PADDINGS
      for k in ("[1, 2, 2, 1]", "[1, 3, 2, 1]") for s in ("[1, 1, 1, 1]", "[1, 2, 2, 1]", "[1, 1, 3, 1]")),
    *("tf.nn.sigmoid_cross_entropy_with_logits(labels=%s)" % a for a in ("p, logits=m", "unit, logits=q")),
    *("tf.nn.softmax_cross_entropy_with_logits%s(labels=tf.nn.softmax(q), logits=m)" % v for v in ("", "_v2")),
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=m)",
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 1, 3], [2, 2, 0]], logits=t)",
    *("tf.nn.bias_add(%s)" % a for a in ("m, v[:4]", "x, v[:3]", "value=g, bias=w[:4]")),
    *("tf.nn.dropout(m, %s)" % a for a in ("1.0", "keep_prob=1.0", "rate=0.0")),
    *("tf.nn.embedding_lookup(m, %s)" % a for a in ("[0, 2]", "ids", "[[0], [1]]")),
    *("tf.nn.lrn(%s)" % a for a in ("g", "x, 2, 1.5, 0.3, 0.75", "g, depth_radius=1")),
    *("tf.nn.batch_normalization(m, m[0], tf.square(m[1]), %s, 1e-3)" % a
      for a in ("m[2], m[0]", "None, None", "m[2], None", "None, m[0]")),
    *("tf.nn.xw_plus_b(m, n, n[%d])" % i for i in range(3)),
    *("tf.nn.in_top_k(m, ids, %d)" % k for k in (1, 2, 3)),
    *("tf.space_to_depth(g, 2)", "tf.depth_to_space(g, 2)", "tf.nn.space_to_depth(g, block_size=2)"),
    *("tf.image.resize_%s(x, %s%s)" % (f, s, a) for f in ("bilinear", "nearest_neighbor")
      for s in ("[9, 4]", "[10, 14]", "[3, 3]") for a in ("", ", align_corners=True")),
    *("tf.image.%s(%s)" % (f, a) for f in ("flip_left_right", "flip_up_down", "transpose_image",
                                           "per_image_standardization") for a in ("image",)),
    *("tf.image.flip_left_right(x)", "tf.image.flip_up_down(x)", "tf.image.rgb_to_grayscale(x)"),
    *("tf.image.adjust_brightness(image, %s)" % a for a in ("0.25", "-0.1")),
    *("tf.image.adjust_contrast(image, %s)" % a for a in ("1.5", "0.5")),
    *("tf.image.crop_and_resize(x, boxes, of_box, %s)" % a for a in ("[4, 3]", "[1, 2]", "[2, 2]")),
    *("tf.image.non_max_suppression(many, of_many, %s)" % a
      for a in ("5", "30", "30, 0.2", "10, 0.5, 0.4", "max_output_size=3")),
    *("tf.extract_image_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], '%s')" % p for p in PADDINGS),
]  # fmt: skip
ERRORS = ["tf.nn.conv2d(m, n, [1, 1, 1, 1], 'SAME')", "tf.nn.relu()", "tf.nn.bias_add(m, n)"]
