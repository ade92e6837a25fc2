"""Quantized numbers: pretended ones with gradients, and those of eight bits."""

R = "tf.raw_ops."
Q = "tf.quantization.quantize(m, -2.0, 3.0, tf.%s%s)"
CASES = [
    *("tf.fake_quant_with_min_max_args(m%s)" % a for a in ("", ", -1.0, 1.5", ", 0.2, 2.0", ", -2.0, -0.5", ", -1.0, 1.0, num_bits=4", ", -1.0, 1.0, narrow_range=True", ", -0.1, 5.3, num_bits=2, narrow_range=True")),
    *("tf.fake_quant_with_min_max_vars(m, %s)" % a for a in ("-1.0, 1.5", "v[0] * 0.0 - 0.4, 1.2", "-1.0, 1.0, num_bits=3", "0.3, 1.0", "0.0, 0.0", "-1.0, 1.0, narrow_range=True")),
    *("tf.fake_quant_with_min_max_vars_per_channel(%s)" % a for a in ("m, -tf.abs(v[:4]), tf.abs(w[:4])", "v, -tf.abs(w), tf.abs(w) + 0.1", "x, [-1.0, -0.5, -2.0], [1.0, 0.7, 0.1], num_bits=5", "g, -tf.abs(v[:4]), tf.abs(w[:4]), narrow_range=True")),
    "tf.quantization.fake_quant_with_min_max_args_gradient(m, q, -0.5, 0.8)", "tf.quantization.fake_quant_with_min_max_vars_gradient(m, q, -0.5, 0.8)", "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(m, q, -tf.abs(v[:4]), tf.abs(w[:4]))",
    *(R + "QuantizeAndDequantizeV2(input=m, input_min=-1.0, input_max=1.5%s)" % a for a in ("", ", range_given=True", ", signed_input=False, range_given=True", ", num_bits=4", ", num_bits=4, range_given=True, narrow_range=True", ", round_mode='HALF_UP', range_given=True", ", signed_input=False")),
    *(R + "QuantizeAndDequantizeV3(input=m, input_min=-1.0, input_max=1.5, num_bits=%s)" % a for a in ("8", "4, signed_input=False", "6, range_given=False", "3, narrow_range=True")), R + "QuantizeAndDequantizeV2(input=d, input_min=np.float64(-1.0), input_max=np.float64(1.5), range_given=True)",
    *("tf.cast(%s[0], tf.int32)" % (Q % (k, o)) for k in ("quint8", "qint8", "qint32") for o in ("", ", mode='MIN_FIRST'", ", mode='SCALED'", ", mode='SCALED', round_mode='HALF_TO_EVEN'") if not (k == "qint32" and o)),
    *("tf.quantization.dequantize(%s[0], -2.0, 3.0%s)" % (Q % (k, o), o) for k in ("quint8", "qint8", "qint16") for o in ("", ", mode='MIN_FIRST'", ", mode='SCALED'")), "(%s)[1:]" % (Q % ("quint8", "")), "(%s)[1:]" % (Q % ("qint8", ", mode='SCALED'")), "tf.quantization.quantize(m, 0.0, 0.0, tf.quint8)[1:]",
    "tf.bitcast(%s[0], tf.uint8)" % (Q % ("quint8", "")),
]  # fmt: skip
ERRORS = [
    "tf.fake_quant_with_min_max_vars_per_channel(m, v, v)",
    "tf.fake_quant_with_min_max_vars(m, v, 1.0)",
    "tf.fake_quant_with_min_max_args(m, 1.0, -1.0)",
    "tf.fake_quant_with_min_max_args(m, num_bits=1)",
    "tf.quantization.quantize(m, 0.0, 1.0, tf.float32)",
    "tf.quantization.quantize(m, 0.0, 1.0, tf.quint8, mode='NO')",
    "tf.quantization.quantize(m, [0.0], 1.0, tf.quint8)",
]
