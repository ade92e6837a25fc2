"""Strings: letters, numbers, patterns, words, hashes; values, static shapes, errors."""

from functools import partial

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, raised, run, started, told

WORDS = [b"Hello World", b"", b" two\t spaces ", b"\xc3\xa9t\xc3\xa9", b"a,b;;c"]


def fed(words=tuple(WORDS)):
    """A vector of strings whose size isn't known, and what is fed."""
    x = tf.placeholder(tf.string, [None])
    return x, {x: list(words)}


def check(function, words=tuple(WORDS)):
    """What a function tells of strings."""
    x, feeds = fed(words)
    return told(function(x), feeds)


@case
def letters():
    return [
        check(tf.strings.lower), check(tf.strings.upper), check(tf.strings.strip),
        check(lambda x: tf.strings.upper(x, encoding="utf-8")),
        check(tf.strings.length), check(lambda x: tf.strings.length(x, unit="UTF8_CHAR")),
        check(lambda x: tf.strings.substr(x, 1, 3), WORDS[:1] + WORDS[2:]),
        check(lambda x: tf.strings.substr(x, -2, 5), WORDS[:1] + WORDS[2:]),
        check(lambda x: tf.strings.substr(x, 1, 2, unit="UTF8_CHAR"), WORDS[3:]),
        told(tf.strings.substr([["abc", "defg"]], [[0, 1]], [[2, 9]])),
        told(tf.strings.substr(["abcde"], [0, 1, 2], [1, 2, 3])),
        error_of(lambda: tf.strings.substr(["abc"], 4, 1)),
        error_of(lambda: tf.strings.substr(["abc"], -4, 1)),
        check(lambda x: tf.reshape(tf.stack([x, x])[:, 1:], [-1])),
        check(lambda x: tf.where(tf.equal(x, ""), tf.fill(tf.shape(x), "-"), x)),
        check(lambda x: [tf.gather(x, [0, 4]), tf.concat([x, ["z"]], 0), tf.unique(x)[1]]),
        check(lambda x: [tf.transpose([x, x]), tf.reverse(x, [0]), tf.tile(x[:1], [2])]),
        check(lambda x: [tf.not_equal(x, "x"), tf.expand_dims(x, 1), tf.size(x)]),
    ]  # fmt: skip


@case
def numbers():
    given = ["1", " -2 ", "3.5e2", ".5", "inf", "-nan", "0x10", "1e400"]
    ten = [0.1, -2.0, 1234567.0, 1e-9, np.inf]
    return [
        told(tf.string_to_number(given)), told(tf.string_to_number(given[:6], tf.float64)),
        told(tf.string_to_number(["12", "-7"], tf.int32)),
        told(tf.string_to_number(["9000000000"], tf.int64)),
        [error_of(lambda x=x: tf.string_to_number([x])) for x in ("", "1x", "1 2", "e5", "+1")],
        [error_of(lambda x=x: tf.string_to_number([x], tf.int32))
         for x in ("1.0", "3000000000", "", "+1", " 1 ")],
        told(tf.as_string(ten)), told(tf.as_string(np.array(ten))),
        told(tf.as_string(ten[:4], precision=2, width=12, fill="0")),
        told(tf.as_string(ten, scientific=True)), told(tf.as_string(ten, shortest=True)),
        told(tf.as_string([1, -20], width=5, fill="0")), told(tf.as_string([True, False])),
        told(tf.as_string(np.array([300, 2], "int64"), width=6, fill="-")),
        told(tf.as_string([1 + 2j])), told(tf.as_string(ten[:3], width=10, fill=" ")),
    ]  # fmt: skip


@case
def hashes():
    long = [b"x" * n for n in (3, 8, 16, 17, 33, 64, 65, 200)]
    return [
        check(lambda x: tf.string_to_hash_bucket_fast(x, 1000)),
        check(lambda x: tf.string_to_hash_bucket(x, 1000)),
        check(lambda x: tf.strings.to_hash_bucket_strong(x, 1000, [1, -2])),
        check(lambda x: tf.string_to_hash_bucket_fast(x, 2**62), long),
        check(lambda x: tf.string_to_hash_bucket(x, 2**62), long),
        check(lambda x: tf.strings.to_hash_bucket_strong(x, 2**62, [3, 4]), long),
        told(tf.raw_ops.Fingerprint(data=["a", "bc"], method="farmhash64")),
        told(tf.raw_ops.Fingerprint(data=[[1, 2], [3, 4]], method="farmhash64")),
    ]


@case
def patterns():
    return [
        check(lambda x: tf.regex_replace(x, "[aeo]", "_")),
        check(lambda x: tf.regex_replace(x, r"(\w)(\w)", r"\2\1\0", replace_global=False)),
        check(lambda x: tf.strings.regex_replace(x, tf.constant("l+"), "L")),
        check(lambda x: tf.strings.regex_replace(x, "[[:space:]]+", "")),
        check(lambda x: tf.strings.regex_replace(x, "\u00e9", "e")),
        check(lambda x: tf.strings.regex_replace(x, ".", "*")),
        check(lambda x: tf.strings.regex_full_match(x, ".*o.*")),
        check(lambda x: tf.strings.regex_full_match(x, tf.constant("(?i)hello.*"))),
        error_of(lambda: tf.strings.regex_full_match(["a"], "(")),
        error_of(lambda: tf.strings.regex_replace(["a"], tf.constant("["), "")),
    ]


@case
def joined():
    cube = np.array([[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]], object)
    return [
        check(lambda x: tf.string_join([x, "-", x], "+")), told(tf.string_join(["a", "b"], ",")),
        error_of(lambda: tf.string_join([["a"], ["b", "c"]])),
        told(tf.reduce_join(cube, 0)), told(tf.reduce_join(cube, [2, 0], separator="-")),
        told(tf.reduce_join(cube, [0, 2], keep_dims=True)), told(tf.reduce_join(cube)),
        told(tf.reduce_join(cube, -1)), told(tf.reduce_join(cube[0][:0], 0, separator="x")),
        error_of(lambda: tf.reduce_join(cube, 3)),
        check(lambda x: tf.reduce_join(x, separator="|")),
        told(tf.strings.unsorted_segment_join(["a", "b", "c", "d"], [2, 0, 2, 0], 3, "/")),
        told(tf.strings.unsorted_segment_join(cube[0], [1, 1], 2)),
        told(tf.encode_base64(["hello", "\xff", ""])),
        told(tf.encode_base64(["hello", "a", "ab"], pad=True)),
        told(tf.decode_base64(["aGVsbG8", "YQ==", ""])), error_of(lambda: tf.decode_base64("@@@")),
    ]  # fmt: skip


@case
def words():
    return [
        check(tf.string_split), check(lambda x: tf.string_split(x, ",;")),
        check(lambda x: tf.string_split(x, ",;", skip_empty=False)),
        check(lambda x: tf.string_split(x, "")),
        check(lambda x: tf.compat.v1.strings.split(x, result_type="SparseTensor")),
        check(lambda x: tf.compat.v1.strings.split(x, sep=";", result_type="SparseTensor")),
        check(lambda x: tf.strings.split(x, sep=" ", maxsplit=1)),
        check(lambda x: tf.strings.split(x, result_type="RaggedTensor").to_tensor("-")),
        told(tf.strings.split(["a b", "c"], result_type="RaggedTensor")[0]),
        told(tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2).to_sparse()),
        told(tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), (1, 3), "-",
                               ("<", ">")).flat_values),
        told(tf.strings.ngrams(tf.ragged.constant([["a", "b"], ["d"]]), 4, pad_values="p",
                               padding_width=1, preserve_short_sequences=True).flat_values),
    ]  # fmt: skip


@case
def unicode():
    broken = [b"a\xff\xc3\xa9", b"\xe2\x82\xac!"]
    tall = ["a\u00e9".encode("utf-16-be"), "\U0001f600".encode("utf-16-be")]
    found = [
        told(tf.strings.unicode_decode(broken, "UTF-8").to_tensor(-1)),
        told(tf.strings.unicode_decode(broken, "UTF-8", "ignore").flat_values),
        told(tf.strings.unicode_decode(broken, "UTF-8", replacement_char=63).flat_values),
        error_of(lambda: tf.strings.unicode_decode(broken, "UTF-8", "strict").flat_values),
        told(tf.strings.unicode_decode(tall, "UTF-16-BE").flat_values),
        told([x.flat_values for x in tf.strings.unicode_decode_with_offsets(WORDS, "UTF-8")]),
        told(tf.strings.unicode_split(WORDS[3:], "UTF-8").to_sparse()),
        told(tf.strings.unicode_encode([[97, 233], [8364, 128512]], "UTF-8")),
        told(tf.strings.unicode_encode([97, 233], "UTF-32-BE")),
        told(tf.strings.unicode_encode([97, -5, 0xD800], "UTF-8")),
        error_of(lambda: tf.strings.unicode_encode([97, -5], "UTF-8", "strict")),
        told(tf.strings.unicode_transcode(["caf\xe9".encode("latin-1")], "latin-1", "UTF-8")),
        told(tf.strings.unicode_transcode(["a\x01b"], "UTF-8", "UTF-8", "replace", 32, True)),
    ]
    return found


@case
def formats():
    many = np.arange(24).reshape(4, 6)
    return [
        told(tf.strings.format("a {} b {}", (tf.constant([1, 2]), tf.constant("x")))),
        told(tf.strings.format("{}", [many])), told(tf.strings.format("{}", [many], summarize=2)),
        told(tf.strings.format("{}", [many.reshape(2, 3, 4)], summarize=-1)),
        told(tf.strings.format("<>", [np.array([0.1, 2.0], "f")], placeholder="<>")),
        told(tf.strings.format("{}", [np.array([0.1, 1e20, 3.0])])),
        told(tf.strings.format("{}{}", (True, [True, False]))),
        told(tf.strings.format("{}", [np.array(["q", "r"], object)])),
        told(tf.strings.format("{}", [np.zeros([0, 2], "f")])),
    ]  # fmt: skip


@case
def patterns_of_re2():
    told_ones = (
        "a|", "x*|b", "x(?i)a|B", "(?i)a(?-i)B", "(?U)a+", "a{,2}", "(|a)+", "[[:^alpha:]]", "[]a]",
        r"\pN", r"\p{Lu}", r"\p{^Lu}", r"[\pL\pN]", r"[^\pL]", r"\x{e9}", r"\101", r"\Qa.b\E",
        r"\s", r"\b", r"(?m)$", "$", r"[\d-z]", "[[a]", "(?i)\u00e9", r"\w+",
    )  # fmt: skip
    refused = (
        "a**", "a*+", r"(a)\1", r"\Z", r"\u0041", "(?=a)", "(?<=a)b", "(?>a)", "(?#c)a", "a{1001}",
        "[z-a]", r"\p{Foo}", r"\8", ")", "\\",
    )  # fmt: skip
    x, malformed = "aAbB \u00e9\u00c9 1\nab.b xxzB", [b"\xff\xfea\x80"]
    return [
        [told(tf.strings.regex_replace([x], each, r"<\0>")) for each in told_ones],
        [error_of(lambda y=each: tf.strings.regex_replace([x], y, "")) for each in refused],
        [told(tf.strings.regex_replace("abcabc", "(b)c", each, replace_global=everywhere))
         for each in (r"\1", r"\2", r"x\2y", "\\\\", "\\", r"\n", r"\0\0")
         for everywhere in (True, False)],
        told(tf.strings.regex_replace(malformed, ".", "x")),
        told(tf.strings.regex_full_match(["abc\n", "ABC"], "(?i)abc$")),
    ]  # fmt: skip


@case
def malformed_letters():
    words = [b"a\x01b\xffc", b"\xf0\x9f\x98", b"x\xef\xbf\xbdy", b"\xc3\xa9\xed\xa0\x80z"]
    ways = (
        {}, {"errors": "ignore"}, {"replacement_char": 65}, {"replace_control_characters": True},
        {"replace_control_characters": True, "errors": "ignore"},
    )  # fmt: skip
    decode = tf.strings.unicode_decode_with_offsets
    halves = ([0xD83D, 0xDE00], [0xD800], [0xDC00, 65], [0x110000])
    return [
        [[told([letters.flat_values, letters.row_splits, places.flat_values])
          for letters, places in [decode(words, "UTF-8", **how)]] for how in ways],
        [told([letters.flat_values, places.flat_values])
         for name in ("ISO-8859-1", "UTF-16-BE", "US-ASCII", "KOI8-R", "UTF-16")
         for letters, places in [decode([b"a\xe9\x00b"], name)]],
        [[told(tf.strings.unicode_encode(each, name, errors=how)) for each in halves]
         for name in ("UTF-8", "UTF-16-BE", "UTF-32-BE") for how in ("replace", "ignore")],
    ]  # fmt: skip


@case
def numbers_that_do_not_fit():
    return [
        [error_of(lambda x=x: tf.string_to_number([x])) for x in ("infinity", "0x1.8p3", "nan ")],
        [error_of(lambda how=how, x=x: tf.as_string([x], **how))
         for how in ({"fill": "x"}, {"fill": "ab"}, {"precision": 2}) for x in (1, True, 1.5)],
        told(tf.as_string([True, False], width=8)),
        [told(tf.strings.format("{}", tf.zeros(shape))) for shape in ([0, 3], [2, 0], [2, 0, 3])],
        told(tf.strings.format("{}", tf.constant([1j]))),
    ]  # fmt: skip


@case
def texts_that_are_moved():
    x = tf.constant([["a", "bb", ""], ["d", "e", "ff"]])
    blocks = tf.reshape(x[:, :2], [1, 2, 2, 1])
    found = [
        tf.pad(x, [[1, 1], [0, 0]], "SYMMETRIC"),
        tf.pad(x, [[1, 0], [0, 2]], "REFLECT"),
        tf.roll(x, [1, 1], [0, 1]),
        tf.gather(x, [[1], [0]], axis=1, batch_dims=1),
        tf.scatter_nd([[3], [1]], ["x", "y"], [4]),
        tf.scatter_nd([[1], [1], [0]], [["x", "y"], ["z", "q"], ["r", "s"]], [3, 2]),
        tf.tensor_scatter_update(x, [[1, 2], [0, 0]], ["x", "y"]),
        tf.space_to_depth(blocks, 2),
        tf.depth_to_space(tf.reshape(blocks, [1, 1, 1, 4]), 2),
        tf.one_hot([0, 2], 3, "on", "off"),
        tf.raw_ops.InplaceUpdate(x=tf.strings.join([x, ""]), i=[1], v=[["x", "y", "z"]]),
    ]
    numbers = tf.placeholder_with_default(tf.ones([2]), None)
    casts = [tf.cast(x, kind) for kind in (tf.float32, tf.int64, tf.bool)]
    casts = [error_of(partial(run, each)) for each in (*casts, tf.cast(numbers, tf.string))]
    norm = tf.math.reduce_euclidean_norm(np.array([3 + 4j, 12j], "complex64"))
    return told(found), casts, float(run(norm).real)


@case
def variables_that_hold_texts_or_complex_numbers():
    found = []
    for resource in (False, True):
        names = tf.Variable(["a", "b", "c"], use_resource=resource)
        z = tf.Variable(np.array([1 + 2j, 3 - 1j, 4j], "complex64"), use_resource=resource)
        session, new = started(), np.array([2j, 1 + 1j], "complex64")
        changes = [
            tf.scatter_update(names, [2, 0], ["x", "y"]),
            names[1:].assign(["r", "s"]),
            tf.assign_add(z, z),
            tf.assign_sub(z, np.full(3, 1j, "complex64")),
            tf.scatter_add(z, [0, 0], new),
            tf.scatter_update(z, [2, 1], new),
            tf.scatter_nd_sub(z, [[1], [2]], new),
            z[:2].assign(new),
        ]
        for change in changes:
            session.run(change)
            texts, numbers = session.run([names, z])
            found += [
                [each.decode() for each in texts],
                numbers.real.tolist(),
                numbers.imag.tolist(),
            ]
    return found


@case
def signs_that_are_escaped():
    x = tf.constant(["a'b\"c\\d\ne\tf\r\x01\x7f\u00e9"])
    halves = tf.constant([1.1, 65504.0, 6e-8], tf.float16)
    try:
        run(tf.Assert(False, [x, x[0]]))
    except tf.errors.InvalidArgumentError as error:
        told = error.message.splitlines()[0]
    return [told, run([tf.strings.format("{} {}", (x, x[0])), tf.strings.format("{}", halves)])]


@case
def what_is_left_behind_the_last_split():
    words, rows = ["a  b ", " c", "", "x y z", "  "], ["a,b,", ",c", "", "x,y,z"]
    splits = [(words, ""), (rows, ",")]
    return [
        [run(tf.strings.split(given, sep, most, result_type="RaggedTensor")).to_list()
         for given, sep in splits for most in (-1, 0, 1, 2)],
        raised(lambda: run(tf.strings.unicode_decode([b"\xff"], "UTF-8", "strict").values))[1][:40],
    ]  # fmt: skip


@case
def scripts_of_characters():
    some = tf.placeholder_with_default([[97, 0x410, 0x5D0], [-1, 0x10FFFF, 0x110000]], [2, 3])
    numbers = np.arange(0x110000, dtype=np.int32)
    all_ = tf.cast(tf.strings.unicode_script(numbers), tf.int64)
    return told([tf.strings.unicode_script(some), tf.reduce_sum(all_ * (numbers % 1009 + 1))])


@case
def places_in_variables_of_texts():
    v = tf.get_variable("v", initializer=[[b"a"], [b"b"], [b"c"]], use_resource=True)
    session = started()
    session.run(v.scatter_update(tf.IndexedSlices([["x"], ["y"]], [0, 2])))
    return session.run([v, v.sparse_read([2, 1]), v.gather_nd([[2, 0], [1, 0]])])


@case
def joined_with_unknown_shapes():
    x = tf.placeholder(tf.string)
    joined = tf.strings.join([x, tf.constant(["a", "b"]), "c"])
    return [told(joined, {x: ["x", "y"]}), error_of(lambda: joined, {x: ["x", "y", "z"]})]


@case
def at_the_edges():
    words = tf.constant([["a", "b"], ["c", "d"]])
    join = tf.strings.unsorted_segment_join
    return [
        told(tf.strings.to_number([" "])),
        told(tf.strings.substr(["abc", b"\xc3\xa9t"], 0, -1, unit="UTF8_CHAR")),
        told(tf.strings.substr(["abc"], 1, -1)),
        error_of(lambda: tf.strings.upper("a", encoding="latin")),
        error_of(lambda: join(words, [0, 5], 2)),
        error_of(lambda: tf.io.decode_base64(["Y"])),
        error_of(lambda: tf.io.decode_base64(["===="])),
        error_of(lambda: tf.reduce_join(words, [0, -2])),
        error_of(lambda: tf.as_string([1], scientific=True, shortest=True)),
    ]


if __name__ == "__main__":
    main()
