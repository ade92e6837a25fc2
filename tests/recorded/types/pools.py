"""Pools, dilations, convolutions and their gradients, normalization, cells of recurrent networks."""

R = "tf.raw_ops."
MOVES = (
    "ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'",
    "ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding='SAME'",
    "ksize=[1, 2, 3, 1], strides=[1, 3, 1, 1], padding='SAME'",
)
CUBES = (
    "ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID'",
    "ksize=[1, 2, 3, 2, 1], strides=[1, 1, 2, 1, 1], padding='SAME'",
)
KERNEL = "tf.reshape(v, [2, 1, 3])"
SLIDES = (
    "strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='%s'",
    "strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding='%s'",
)
CELL = "x=t[0], cs_prev=m, h_prev=q, w=tf.tile(tf.concat([s, s, s], 0), [1, 6])[:8, :16], wci=v[:4], wcf=w[:4], wco=m[0], b=tf.tile(v[:4], [4])"
BLOCK = "seq_len_max=tf.constant(%d, tf.int64), x=tf.stack([t[0], t[1]]), cs_prev=m, h_prev=q, w=tf.tile(tf.concat([s, s, s], 0), [1, 6])[:8, :16], wci=v[:4], wcf=w[:4], wco=m[0], b=tf.tile(v[:4], [4])"
GRU = "x=t[0], h_prev=q, w_ru=tf.tile(tf.concat([s, s, s], 0), [1, 3])[:8, :8], w_c=tf.tile(tf.concat([s, s, s], 0), [1, 2])[:8, :4], b_ru=tf.tile(v[:4], [2]), b_c=w[:4]"
NORM = "tf.nn.batch_normalization"
CASES = [
    *(R + "MaxPoolWithArgmax(input=%s, %s%s)" % (a, k, o) for a in ("x", "tf.round(x)") for k in MOVES for o in ("", ", include_batch_in_index=True")),
    *(R + "MaxPool%s(input=tf.round(x), %s)" % (n, k) for n in ("", "V2") for k in MOVES), *(R + "AvgPool(value=x, %s)" % k for k in MOVES), *(R + "MaxPool(input=-x, %s)" % k for k in MOVES),
    *(R + "MaxPoolGrad%s(orig_input=x, orig_output=tf.nn.max_pool(x, %s), grad=tf.sin(tf.nn.max_pool(x, %s)), %s)" % (v, k, k, k) for v in ("", "V2") for k in MOVES),
    *(R + "MaxPoolGradGrad%s(orig_input=x, orig_output=tf.nn.max_pool(x, %s), grad=tf.sin(x), %s)" % (v, k, k) for v in ("", "V2") for k in MOVES),
    *(R + "MaxPool3D(input=volume, %s)" % k for k in CUBES), *(R + "AvgPool3D(input=volume, %s)" % k for k in CUBES),
    *(R + "MaxPool3DGrad(orig_input=volume, orig_output=tf.nn.max_pool3d(volume, %s), grad=tf.nn.max_pool3d(volume, %s), %s)" % (k, k, k) for k in CUBES),
    *(R + "MaxPool3DGradGrad(orig_input=volume, orig_output=tf.nn.max_pool3d(volume, %s), grad=tf.cos(volume), %s)" % (k, k) for k in CUBES),
    *(R + "MaxPoolGradWithArgmax(input=x, grad=tf.nn.max_pool(x, %s), argmax=%sMaxPoolWithArgmax(input=x, %s).argmax, %s)" % (k, R, k, k) for k in MOVES),
    *(R + "Dilation2D(input=%s, filter=%s, %s)" % (a, KERNEL, s % p) for a in ("x", "tf.round(x)") for s in SLIDES for p in ("SAME", "VALID")),
    *(R + "Dilation2DBackpropInput(input=x, filter=%s, out_backprop=tf.nn.dilation2d(x, %s, %s), %s)" % (KERNEL, KERNEL, s % p, s % p) for s in SLIDES for p in ("SAME", "VALID")),
    *(R + "Dilation2DBackpropFilter(input=x, filter=%s, out_backprop=tf.nn.dilation2d(x, %s, %s), %s)" % (KERNEL, KERNEL, s % p, s % p) for s in SLIDES for p in ("SAME", "VALID")),
    *(R + "LRN(input=%s)" % a for a in ("g", "g, depth_radius=1, bias=2.0, alpha=0.3, beta=0.8", "x, depth_radius=2, alpha=0.5, beta=1.5", "tf.cast(tf.stop_gradient(g), tf.float16), depth_radius=1")),
    R + "LRNGrad(input_grads=g, input_image=tf.sin(g), output_image=tf.nn.lrn(tf.sin(g), 1, 1.0, 0.4, 0.6), depth_radius=1, alpha=0.4, beta=0.6)",
    *(R + "FractionalMaxPool(value=%s, pooling_ratio=[1.0, %s, 1.0], %s)[0]" % (a, r, o) for a in ("x",) for r, o in (("1.0, 1.0", "overlapping=True"), ("1.25, 1.4", "deterministic=True, seed=3, seed2=5"), ("1.25, 1.4", "pseudo_random=True, overlapping=True, deterministic=True, seed=3, seed2=5"))),
    *(R + "FractionalAvgPool(value=%s, pooling_ratio=[1.0, %s, 1.0], %s)[0]" % (a, r, o) for a in ("x",) for r, o in (("1.0, 1.0", "overlapping=True"), ("1.25, 1.4", "deterministic=True, seed=3, seed2=5"), ("1.25, 1.4", "pseudo_random=True, overlapping=True, deterministic=True, seed=3, seed2=5"))),
    *(R + "FractionalMaxPoolGrad(orig_input=x, orig_output=x[:, :3, :4], out_backprop=tf.cos(x[:, :3, :4]), row_pooling_sequence=[0, 2, 3, 5], col_pooling_sequence=[0, 1, 3, 5, 7], overlapping=%s)" % o for o in (True, False)),
    *(R + "FractionalAvgPoolGrad(orig_input_tensor_shape=[2, 5, 7, 3], out_backprop=tf.cos(x[:, :3, :4]), row_pooling_sequence=[0, 2, 3, 5], col_pooling_sequence=[0, 1, 3, 5, 7], overlapping=%s)" % o for o in (True, False)),
    R + "FusedPadConv2D(input=image[tf.newaxis], paddings=[[0, 0], [1, 2], [0, 1], [0, 0]], filter=k, mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID')", R + "FusedPadConv2D(input=image[tf.newaxis], paddings=[[0, 0], [1, 2], [0, 1], [0, 0]], filter=k, mode='SYMMETRIC', strides=[1, 2, 2, 1], padding='SAME')",
    R + "FusedResizeAndPadConv2D(input=image[tf.newaxis], size=[8, 9], paddings=[[0, 0], [1, 1], [0, 1], [0, 0]], filter=k, mode='REFLECT', strides=[1, 1, 1, 1], padding='SAME')",
    *(R + "FusedBatchNorm%s(x=%s, scale=s[0], offset=s[1], mean=%s, epsilon=0.01, is_training=%s)%s" % (v, a, m, o, "" if o else "[0]") for v in ("", "V2", "V3") for a in ("x",) for m, o in (("[], variance=[]", True), ("s[2], variance=tf.abs(s[0])", False))),
    *(R + "LSTMBlockCell(%s%s)" % (CELL, o) for o in ("", ", forget_bias=0.5, cell_clip=0.7", ", use_peephole=True", ", use_peephole=True, cell_clip=-1.0")),
    *("[y[:%d] for y in " % n + R + "BlockLSTM(%s%s)]" % (BLOCK % n, o) for n in (2, 1) for o in ("", ", use_peephole=True, cell_clip=0.8")),
    R + "GRUBlockCell(%s)" % GRU, R + "BiasAdd(value=t, bias=v[:4])", R + "BiasAdd(value=g, bias=v, data_format='NCHW')", R + "L2Loss(t=m)", R + "SoftmaxCrossEntropyWithLogits(features=m, labels=tf.nn.softmax(q))", R + "SparseSoftmaxCrossEntropyWithLogits(features=m, labels=ids)",
    R + "Softmax(logits=t)", R + "LogSoftmax(logits=t)", R + "Softmax(logits=half)", R + "DepthwiseConv2dNative(input=x, filter=k, strides=[1, 2, 2, 1], padding='SAME')", R + "Conv2D(input=x, filter=k, strides=[1, 1, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])",
    R + "DataFormatDimMap(x=[0, 1, 2, 3])", "tf.nn.conv2d_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [2, 10, 14, 4], [1, 2, 2, 1])", "tf.nn.conv1d(line, k[0], 2, 'SAME')", "tf.nn.separable_conv2d(x, k, tf.ones([1, 1, 12, 2]) * v[0], [1, 1, 1, 1], 'VALID')", "tf.nn.pool(x, [2, 2], 'AVG', 'SAME')",
    "tf.nn.moments(x, [0, 1, 2])", NORM + "(x, s[0], tf.abs(s[1]), s[2], None, 0.01)", "tf.nn.l2_normalize(m, 1)", "tf.nn.weighted_moments(m, 0, p)", "tf.nn.crelu(m)", "tf.nn.log_poisson_loss(m, p)", "tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=m)", "tf.nn.weighted_cross_entropy_with_logits(p, m, 2.0)",
]  # fmt: skip
ERRORS = [
    "tf.nn.max_pool(m, [1, 2, 2, 1], [1, 1, 1, 1], 'SAME')", "tf.nn.max_pool(x, [1, 9, 9, 1], [1, 1, 1, 1], 'VALID')", "tf.nn.max_pool(x, [1, 2, 2], [1, 1, 1, 1], 'SAME')", "tf.nn.max_pool(x, [1, 2, 2, 1], [1, 0, 1, 1], 'SAME')", "tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], 'HALF')", "tf.nn.conv2d(x, g, [1, 1, 1, 1], 'SAME')", "tf.nn.conv2d(x, k[..., 0], [1, 1, 1, 1], 'SAME')", "tf.nn.conv2d(image, k, [1, 1, 1, 1], 'SAME')", "tf.nn.conv2d(g, k, [1, 1, 1, 1], 'SAME')",
    "tf.nn.dilation2d(x, k, [1] * 4, [1] * 4, 'SAME')", "tf.nn.dilation2d(x, s[tf.newaxis, :, :2], [1] * 4, [1] * 4, 'SAME')", "tf.nn.lrn(m)", "tf.nn.bias_add(m, v)", "tf.nn.bias_add(m, m)", "tf.nn.bias_add(v, v)", "tf.nn.fractional_max_pool(m, [1.0, 1.4, 1.4, 1.0])", "tf.nn.max_pool_with_argmax(m, [1, 2, 2, 1], [1, 1, 1, 1], 'SAME')", "tf.nn.softmax_cross_entropy_with_logits(logits=m, labels=n)", "tf.nn.sparse_softmax_cross_entropy_with_logits(logits=m, labels=whole)",
    "tf.nn.conv3d(volume, k, [1] * 5, 'SAME')", "tf.nn.depthwise_conv2d(g, k, [1] * 4, 'SAME')", "tf.nn.fused_batch_norm(m, v, v)", "tf.nn.l2_loss('a')", "tf.nn.softmax(1.0)", R + "FusedPadConv2D(input=image[tf.newaxis], paddings=[[0, 0]], filter=k, mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID')",
]  # fmt: skip
