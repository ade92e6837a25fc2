"""Draws cases of single operations, and records what TensorFlow 1.15 does with them.

    python drawing.py --seed 1 --each 3 > cases.jsonl     # on TensorFlow 1.15, in Python 3.7

Inputs and attributes are drawn by what an operation's definition says of them, and by their names:
axes are small numbers, sizes above zero. What ends the process (the original stops at some
inputs) is left out: each type has a process of its own.
"""

import argparse
import json
import os
import random
import signal
import sys
import zlib

import numpy as np
from arrays import packed
from running import DEFINITIONS, done, tf

# Not drawn: what keeps or draws something, reads files, or whose values have no meaning alone.
LEFT_OUT = (
    "_ Abort Accum AllCand AllTo Anonymous Assert Assign Audio Barrier Batch Boosted Bytes Check"
    " Collective Compute Conditional Configure Const Count Cross Cudnn Dataset Debug Decode"
    " Destroy Eager Enter Exit Experimental Fake Fixed Fractional Generate Host If Image Immutable"
    " Infeed Initialize Iterator KMC Kmeans Learned Lmdb Load Log Uniform Lookup Map Matching Merge"
    " Multinomial Mutable Nccl Nearest NegTrain Next NonDeter Ordered Outfeed Parameterized"
    " Partitioned Placeholder Print PyFunc Queue Random Read Recv Ref Remote Replica Resource"
    " Restore Sample Save Sdca Send Shutdown Skipgram Stack Stage Stateful Switch Symbolic TPU"
    " TensorArray TensorSummary Thread Timestamp Tree Truncated Unbatch Unigram Unstage Var Where"
    " While Write Xla"
).split()
DRAWN_AFTER_ALL = (
    "BatchMatMul BatchMatMulV2 BatchToSpace BatchToSpaceND DecodeRaw DecodeBase64 DecodeCSV"
    " DecodeCompressed EncodeBase64 Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr Where"
).split()
SHAPES = [
    (), (1,), (2,), (3,), (4,), (0,), (2, 3), (3, 3), (1, 3), (3, 1), (4, 4), (2, 2), (2, 0),
    (2, 2, 3), (2, 3, 3), (3, 2, 2), (1, 4, 4, 2), (2, 4, 4, 1), (2, 3, 4, 3), (1, 2, 2, 1),
    (2, 2, 2, 2), (1, 3, 4, 4, 2),
]  # fmt: skip
TYPES = (
    "float32 float32 float32 int32 int64 float64 float16 bool string complex64 uint8 int8 int16"
    " uint16 complex128 qint8 quint8 qint32 uint32 uint64"
).split()
TEXTS = b"||a|abc|Hello World|12|-3.5|1e3|x,y|caf\xc3\xa9|  sp |true|nan".split(b"|")
# Numbers, by a part of an input's name, in the order in which they're looked for.
RANGES = [
    ("indices ids index segment", (0, 2)),
    ("shape size dims multiples splits num block length limit depth", (1, 4)),
    ("axis dim reduction begin pad crops perm", (0, 1)),
]
WINDOWS = "ksize ksizes strides rates dilations".split()
SECONDS = 30  # for a type


def is_drawn(definition):
    """Whether cases of a type are drawn."""
    if definition.is_stateful or not definition.input_arg:
        return False
    name = definition.name
    if name not in DRAWN_AFTER_ALL and name.startswith(tuple(LEFT_OUT)):
        return False
    kinds = (tf.resource.as_datatype_enum, tf.variant.as_datatype_enum)
    arguments = [*definition.input_arg, *definition.output_arg]
    if any(each.is_ref or each.type in kinds for each in arguments):
        return False
    return not any("func" in each.type or each.type == "tensor" for each in definition.attr)


def name_of(number):
    """The name of a data type."""
    return tf.as_dtype(number).name


class Draw:
    """A case of a type, drawn."""

    def __init__(self, definition, draw):
        self.definition, self.draw = definition, draw
        self.main = draw.choice(SHAPES)
        self.alike = draw.random()
        self.known = draw.choice("shape shape shape constant constant rank nothing".split())
        self.drawn = {}
        for each in definition.attr:
            self.drawn[each.name] = self.attribute(each)

    def case(self):
        """The case."""
        inputs = [[each.name, self.input(each)] for each in self.definition.input_arg]
        inferred = set()
        for each in self.definition.input_arg:
            inferred.update((each.type_attr, each.number_attr, each.type_list_attr))
        told = {k: v for k, v in self.drawn.items() if k not in inferred and v is not None}
        return {"type": self.definition.name, "attributes": told, "inputs": inputs}

    def attribute(self, each):
        """The value of an attribute; None for its default."""
        draw, low, has_default = self.draw, each.name.lower(), each.HasField("default_value")
        if has_default and draw.random() < (0.6 if each.type != "bool" else 0):
            if each.type in ("type", "int"):
                told = each.default_value
                return {"type": name_of(told.type)} if each.type == "type" else int(told.i)
            return None
        if each.type in ("type", "list(type)"):
            allowed = [name_of(number) for number in each.allowed_values.list.type]
            pool = [name for name in TYPES if name in (allowed or TYPES)] or allowed
            if each.type == "type":
                return {"type": draw.choice(pool)}
            count = max(each.minimum, draw.randint(1, 3))
            return [{"type": draw.choice(pool)} for _ in range(count)]
        if each.type == "int":
            return max(each.minimum, draw.randint(1, 4)) if each.has_minimum else draw.randint(0, 4)
        if each.type == "list(int)":
            if low in WINDOWS:
                inner = [draw.randint(1, 3) for _ in range(draw.choice([2, 2, 2, 3]))]
                return [1, *inner, 1]
            return [draw.randint(-1, 3) for _ in range(draw.randint(0, 3))]
        if each.type == "string":
            allowed = [text.decode() for text in each.allowed_values.list.s]
            return {"text": draw.choice(allowed or ["", "a", "abc"])}
        if each.type == "list(string)":
            return [{"text": draw.choice("abc")} for _ in range(draw.randint(1, 3))]
        if each.type == "shape":
            return {"shape": draw.choice([[], [2], [2, 3], [None], [None, 3]])}
        if each.type == "list(shape)":
            return [{"shape": draw.choice([[], [2], [2, 3]])} for _ in range(draw.randint(1, 3))]
        simple = {"float": lambda: draw.choice([0.5, 1.0, 2.0, 0.1, -1.0]),
                  "bool": lambda: draw.random() < 0.5}  # fmt: skip
        kind = each.type[5:-1] if each.type.startswith("list") else each.type
        value = simple[kind]()
        return [value] if each.type.startswith("list") else value

    def input(self, each):
        """An input, or a list of them."""
        if each.type_list_attr:
            return [self.tensor(each, told["type"]) for told in self.drawn[each.type_list_attr]]
        kind = name_of(each.type) if each.type else self.drawn[each.type_attr]["type"]
        if each.number_attr:
            count = self.drawn[each.number_attr] = max(1, self.drawn[each.number_attr] % 4)
            return [self.tensor(each, kind) for _ in range(count)]
        return self.tensor(each, kind)

    def tensor(self, each, kind):
        """A tensor, and how the graph knows it."""
        draw = self.draw
        known = self.known if draw.random() < 0.85 else draw.choice(["shape", "rank", "nothing"])
        is_first = each.name == self.definition.input_arg[0].name
        if kind in ("int32", "int64") and not is_first and draw.random() < 0.5:
            known = "constant"
        if kind.startswith("q") and known == "constant":
            known = "shape"
        value = self.numbers(each.name.lower(), kind, self.shape(each.name.lower(), kind, is_first))
        return {"type": kind, "known": known, "value": packed(value)}

    def shape(self, name, kind, is_first):
        """A shape that may fit."""
        draw, main = self.draw, self.main
        if kind in ("int32", "int64"):
            scalars = "axis dim num depth limit start delta seed".split()
            if any(part in name for part in scalars) and draw.random() < 0.6:
                return ()
            vectors = "shape size multiples begin perm reduction dims".split()
            if any(part in name for part in vectors):
                return (max(len(main), 1) if draw.random() < 0.6 else draw.randint(0, 4),)
            if "pad" in name or "crops" in name:
                return (len(main) if draw.random() < 0.7 else draw.randint(1, 3), 2)
            if "indices" in name or "ids" in name:
                return draw.choice([main[:1], (2,), (3,), (2, 2), (2, 1), (3, 2), ()])
        if is_first or self.alike < 0.55:
            return main
        if self.alike < 0.7:
            return draw.choice([main, main[-1:], (), (1,) * len(main), main[:1]])
        return draw.choice(SHAPES)

    def numbers(self, name, kind, shape):
        """An array of that shape."""
        draw, count = self.draw, int(np.prod(shape))
        if kind == "string":
            array = np.empty(count, object)
            array[:] = [draw.choice(TEXTS) for _ in range(count)]
            return array.reshape(shape)
        if kind == "bool":
            values = [draw.random() < 0.5 for _ in range(count)]
        elif kind.startswith(("float", "complex")):
            how = draw.random()
            values = [self.float(how) for _ in range(count)]
            if kind.startswith("complex"):
                values = np.array(values) + 1j * np.array([draw.gauss(0, 1) for _ in values])
        else:
            values = self.integers(name, count)
        return np.array(values).astype(kind.replace("q", "")).reshape(shape)

    def float(self, how):
        """A number: normal, between 0 and 1, whole, or a special one."""
        draw = self.draw
        if how < 0.9:
            whole = float(draw.randint(-3, 3))
            return draw.gauss(0, 1) if how < 0.5 else draw.random() if how < 0.75 else whole
        return draw.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 1e30, np.inf, -np.inf, np.nan, 1e-30])

    def integers(self, name, count):
        """Numbers that an input of that name may hold."""
        for parts, (least, most) in RANGES:
            if any(part in name for part in parts.split()):
                return [self.draw.randint(least, most) for _ in range(count)]
        return [self.draw.choice([0, 1, 2, 3, -1, -2, 5, 7, 100, -100]) for _ in range(count)]


def record(name, seed, wanted):
    """Print some cases of a type that the original computes, and one that it refuses."""
    draw = random.Random(seed * 1000003 + zlib.crc32(name.encode()))
    left = {True: wanted, False: 1}
    signal.alarm(SECONDS)
    for _ in range(wanted * 20):
        case = Draw(DEFINITIONS[name], draw).case()
        try:
            found = done(case)
        except Exception:
            continue  # it can't even be asked for
        is_computed = "values" in found
        if any(word in str(found) for word in ("No OpKernel", "Cannot assign a device")):
            continue  # the original has no kernel of these types
        if left[is_computed]:
            left[is_computed] -= 1
            print(json.dumps(dict(case, found=found)), flush=True)
        if not any(left.values()):
            break


def main():
    """Record cases of all types, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=3, help="cases of a type")
    parser.add_argument("types", nargs="*")
    asked = parser.parse_args()
    drawn = sorted(name for name, each in DEFINITIONS.items() if is_drawn(each))
    for name in asked.types or drawn:
        child = os.fork()
        if not child:
            try:
                record(name, asked.seed, asked.each)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
