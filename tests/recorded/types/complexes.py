"""Complex numbers, and transforms of Fourier."""

Z = "tf.complex(m, q)"
U = "tf.complex(t, t * 0.5 - 1.0)"
CASES = [
    Z, "tf.complex(d, d * 2.0)", "tf.complex(m, q[0])", *("tf.%s(%s)" % (n, Z) for n in ("real", "imag", "abs", "angle", "conj", "square", "exp", "log", "sqrt", "negative", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "reciprocal", "rsqrt", "sign", "zeros_like", "ones_like", "identity", "expm1", "log1p", "asinh", "acosh", "atanh")),
    *("tf.abs(tf.%s(%s)) " % (n, Z) for n in ("square", "exp", "log", "sqrt", "negative", "sin", "cos", "tan", "sinh", "tanh", "reciprocal", "rsqrt", "conj")),
    *("tf.%s(%s, tf.complex(q, m))" % (n, Z) for n in ("add", "subtract", "multiply", "divide", "pow", "squared_difference", "equal", "not_equal", "div_no_nan", "math.multiply_no_nan", "math.xdivy", "math.xlogy")),
    *("tf.real(tf.%s(%s, tf.complex(q, m)))" % (n, Z) for n in ("add", "subtract", "multiply", "divide", "pow", "squared_difference")),
    *("tf.%s(%s)" % (n, Z) for n in ("reduce_sum", "reduce_mean", "reduce_prod", "transpose", "cumsum", "cumprod")), "tf.reduce_sum(%s, 1, keepdims=True)" % Z,
    "tf.matmul(%s, tf.complex(n, n * 2.0))" % Z, "tf.matmul(%s, %s, adjoint_b=True)" % (Z, Z), "tf.matmul(%s, %s, transpose_a=True)" % (Z, Z), "tf.imag(tf.matmul(%s, tf.complex(u, -u)))" % U,
    "tf.linalg.adjoint(%s)" % Z, "tf.reshape(%s, [2, 6])" % Z, "tf.concat([%s, %s], 0)" % (Z, Z), "tf.stack([%s, %s], 1)" % (Z, Z), "tf.split(%s, 2, 1)" % Z, "(%s)[1:, ::2]" % Z, "tf.tile(%s, [2, 1])" % Z, "tf.pad(%s, [[0, 1], [1, 0]])" % Z,
    "tf.gather(%s, [2, 0])" % Z, "tf.cast(m, tf.complex64)", "tf.cast(%s, tf.complex128)" % Z, "tf.cast(%s, tf.float32)" % Z, "tf.cast(whole, tf.complex64)", "tf.abs(tf.cast(m, tf.complex128)) + d", "%s * 2.0" % Z, "%s + tf.cast(q, tf.complex64)" % Z, "tf.add_n([%s, %s])" % (Z, Z),
    "tf.where(yes, %s, tf.zeros_like(%s))" % (Z, Z), "tf.expand_dims(%s, 0)" % Z, "tf.squeeze(tf.expand_dims(%s, 0))" % Z, "tf.reverse(%s, [1])" % Z, "tf.unstack(%s, axis=1)" % Z, "tf.constant([1 + 2j, 3.0])", "tf.shape(%s)" % Z, "tf.einsum('ij,ik->jk', %s, %s)" % (Z, Z), "tf.matrix_diag(%s)" % Z,
    "tf.fft(%s)" % Z, "tf.ifft(%s)" % Z, "tf.fft2d(%s)" % U, "tf.ifft2d(%s)" % U, "tf.fft3d(%s)" % U, "tf.ifft3d(%s)" % U, "tf.abs(tf.fft(%s))" % Z, "tf.real(tf.ifft2d(%s))" % U, "tf.spectral.rfft(m)", "tf.spectral.rfft(m, [6])", "tf.spectral.rfft(m, [3])", "tf.abs(tf.spectral.rfft(t))", "tf.abs(tf.spectral.rfft(m, [6]))",
    "tf.spectral.irfft(%s)" % Z, "tf.spectral.irfft(%s, [5])" % Z, "tf.spectral.irfft(%s, [8])" % Z, "tf.spectral.rfft2d(t)", "tf.spectral.rfft2d(t, [4, 6])", "tf.abs(tf.spectral.rfft2d(t))", "tf.spectral.irfft2d(%s)" % U, "tf.spectral.irfft2d(%s, [3, 5])" % U, "tf.spectral.rfft3d(volume[..., 0])", "tf.spectral.irfft3d(%s)" % U,
    "tf.fft(tf.cast(d, tf.complex128))", "tf.signal.stft(tf.tile(v, [6]), 8, 4)", "tf.abs(tf.signal.stft(tf.tile(v, [6]), 8, 4, fft_length=10))", "tf.signal.inverse_stft(tf.signal.stft(tf.tile(v, [6]), 8, 4), 8, 4)", "tf.signal.dct(m)", "tf.signal.dct(m, norm='ortho')", "tf.signal.idct(m)", "tf.signal.dct(t, type=3)",
    "tf.signal.frame(tf.tile(v, [3]), 5, 3)", "tf.signal.frame(t, 2, 1, axis=1, pad_end=True)", "tf.signal.overlap_and_add(t, 2)", "tf.signal.hann_window(6)", "tf.signal.hamming_window(5, periodic=False)", "tf.signal.linear_to_mel_weight_matrix(5, 10)", "tf.signal.mfccs_from_log_mel_spectrograms(t)", "tf.spectral.dct(t)",
]  # fmt: skip
ERRORS = [
    "tf.complex(m, d)",
    "tf.complex(whole, whole)",
    "tf.fft(m)",
    "tf.spectral.rfft(m, [3, 4])",
    "tf.fft2d(tf.complex(v, v))",
]
