"""Which of TensorFlow 1's names are the installed TensorFlow's own, where there are none over K.

The rule: a function qualifies that makes tensors of tensors, numbers and words and does nothing
else: it makes and reads no variable, session, queue, graph or random generator, and takes no
function that builds a graph. It's called in a node (`kameleon.call`), so that it works on every
engine, with TensorFlow's own gradients. Names with other dtypes than Kameleon's (complex numbers,
strings) qualify, too: `pending` says how.

And things qualify that have nothing to do with graphs: they're given as they are.

What is over K goes before; so an entry here that has since been written there does no harm.
"""

from __future__ import annotations

# Functions of tensors, by subject; after `SPACE:` names in that namespace.
CALLED = {
    "Fourier transforms and windows": """
        fft fft2d fft3d ifft ifft2d ifft3d
        signal: dct fftshift frame hamming_window hann_window idct ifftshift inverse_stft irfft
        irfft2d irfft3d linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add
        rfft rfft2d rfft3d stft
    """,
    "complex numbers": "complex to_complex64 to_complex128",
    "matrices": """
        cholesky_solve matrix_solve_ls matrix_square_root matrix_triangular_solve qr
        self_adjoint_eig self_adjoint_eigvals svd sparse_matmul
        linalg: expm logm lu matrix_rank normalize pinv slogdet tridiagonal_matmul tridiagonal_solve
    """,
    "arrays": """
        arg_max arg_min batch_to_space batch_to_space_nd space_to_batch space_to_batch_nd
        dynamic_stitch extract_volume_patches searchsorted tensor_scatter_add tensor_scatter_nd_sub
        tensor_scatter_nd_update unravel_index unsorted_segment_mean unsorted_segment_sqrt_n
        where_v2 histogram_fixed_width histogram_fixed_width_bins is_non_decreasing
        is_strictly_increasing edit_distance fingerprint
        math: cumulative_logsumexp reduce_euclidean_norm zero_fraction
    """,
    "images": """
        image: adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation central_crop
        combined_non_max_suppression convert_image_dtype crop_to_bounding_box
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png
        draw_bounding_boxes encode_jpeg encode_png extract_jpeg_shape extract_patches hsv_to_rgb
        image_gradients is_jpeg non_max_suppression_overlaps non_max_suppression_padded
        non_max_suppression_with_scores pad_to_bounding_box psnr resize_area resize_bicubic
        resize_image_with_crop_or_pad resize_image_with_pad rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90
        sobel_edges ssim ssim_multiscale total_variation yiq_to_rgb yuv_to_rgb
    """,
    "networks": """
        nn: atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d avg_pool_v2
        batch_norm_with_global_normalization collapse_repeated conv1d_transpose
        conv2d_backprop_filter conv2d_backprop_input conv2d_transpose conv3d conv3d_backprop_filter
        conv3d_transpose conv_transpose crelu ctc_beam_search_decoder ctc_beam_search_decoder_v2
        ctc_greedy_decoder ctc_loss ctc_loss_v2 ctc_unique_labels depthwise_conv2d
        depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input depthwise_conv2d_native
        dilation2d embedding_lookup_sparse erosion2d fused_batch_norm log_poisson_loss max_pool1d
        max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax normalize_moments pool relu_layer
        safe_embedding_lookup_sparse separable_conv2d sufficient_statistics
        weighted_cross_entropy_with_logits weighted_moments
    """,
    "quantized numbers": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        quantize quantize_v2 quantized_concat
        nn: quantized_avg_pool quantized_conv2d quantized_max_pool quantized_relu_x
        quantization: quantize_and_dequantize
    """,
    "random numbers of a given seed": """
        random: stateless_categorical stateless_multinomial stateless_normal
        stateless_truncated_normal stateless_uniform
    """,
    "sparse tensors": """
        sparse_add sparse_concat sparse_fill_empty_rows sparse_mask sparse_maximum sparse_merge
        sparse_minimum sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum
        sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape sparse_reshape sparse_retain
        sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum sparse_slice sparse_softmax
        sparse_split sparse_tensor_dense_matmul sparse_to_dense sparse_to_indicator
        sparse_transpose serialize_sparse serialize_many_sparse deserialize_many_sparse
        sparse: cross cross_hashed expand_dims eye from_dense
    """,
    "rows of several lengths": """
        ragged: boolean_mask constant range row_splits_to_segment_ids segment_ids_to_row_splits
        stack stack_dynamic_partitions
    """,
    "strings and coded bytes": """
        as_string decode_base64 decode_compressed decode_csv decode_json_example decode_raw
        encode_base64 parse_example parse_single_example parse_single_sequence_example parse_tensor
        reduce_join regex_replace serialize_tensor string_join string_split string_strip
        string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong
        string_to_number substr
        strings: bytes_split format length lower ngrams regex_full_match split substr
        unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split
        unicode_split_with_offsets unicode_transcode unsorted_segment_join upper
        io: parse_sequence_example
        audio: decode_wav encode_wav
    """,
}

# What has nothing to do with graphs, by subject.
GIVEN = {
    "records and protocol buffers": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature make_ndarray
        make_tensor_proto
        io: FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordCompressionType
        TFRecordOptions TFRecordWriter VarLenFeature tf_record_iterator
        python_io: TFRecordCompressionType TFRecordOptions TFRecordWriter
        train: BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List
        SequenceExample summary_iterator
    """,
    "functions that make windows": "signal: inverse_stft_window_fn",
    "models of TensorFlow Lite": "lite: Interpreter",
    "where TensorFlow lies": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD
        sysconfig: get_compile_flags get_include get_lib get_link_flags CXX11_ABI_FLAG
        MONOLITHIC_BUILD
    """,
}


def _listed(table: dict[str, str]) -> frozenset[str]:
    """All names of a table, with their namespaces."""
    found = set()
    for names in table.values():
        space = ""
        for word in names.split():
            if word.endswith(":"):
                space = word.replace(":", ".")
            else:
                found.add(space + word)
    return frozenset(found)


FUNCTIONS = _listed(CALLED)
THINGS = _listed(GIVEN)
