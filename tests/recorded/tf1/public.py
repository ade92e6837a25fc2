"""Records the public names of TensorFlow 1.15: which are one object, and how functions are called.

    python public.py ../../../src/kameleon/tf1/public.json

`functions` has an entry for each function, under the first of its names: its other names, and its
parameters in order, each a name alone or with its default. Defaults that JSON doesn't have are
given as words: a dtype by its name, anything else by its class. `others` has the rest of the
names, by what they are: class or value. `constants` has the values of those that are numbers or
strings, and `enumerations` the members of classes that have these alone. `second` has, by name, the
parameters of those functions of `tf.compat.v2` that take others than the function of that name.
"""

import enum
import inspect
import json
import logging
import sys
import types
import warnings

# Left out: what TensorFlow takes over from elsewhere, and what is its own inside.
OUTSIDE = ("pywrap_tensorflow", "test", "app", "flags", "compat", "keras", "contrib", "raw_ops",
           "python", "core", "tools", "estimator", "include")  # fmt: skip
KEPT = ("app.run", "flags.FLAGS", "test.main", "test.TestCase", "test.is_gpu_available",
        "test.gpu_device_name", "test.is_built_with_cuda", "test.get_temp_dir")  # fmt: skip


def walked(module, path, seen, found):
    """All names below a module, by dotted name."""
    for name in dir(module):
        if name.startswith("_"):
            continue
        full = path + name
        if full.split(".")[0] in OUTSIDE and full not in KEPT:
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        if isinstance(value, types.ModuleType):
            if "tensorflow" in value.__name__ and id(value) not in seen:
                walked(value, full + ".", seen | {id(value)}, found)
        else:
            found[full] = value


def default_of(value, dtypes):
    if isinstance(value, dtypes):
        return value.name
    if isinstance(value, (tuple, list)):
        return [default_of(v, dtypes) for v in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return type(value).__name__


def parameters_of(function, dtypes):
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = []
    for p in inspect.signature(function).parameters.values():
        name = kinds.get(p.kind, "") + p.name
        found.append([name] if p.default is p.empty else [name, default_of(p.default, dtypes)])
    return found


def second(tf, found):
    """Parameters of functions of `tf.compat.v2` that aren't those of version 1."""
    newer = {}
    walked(tf.compat.v2, "", {id(tf.compat.v2)}, newer)
    return {
        name: parameters
        for name, value in newer.items()
        if name in found and inspect.isroutine(value) and value is not found[name]
        for parameters in [parameters_of(value, tf.DType)]
        if not inspect.isroutine(found[name]) or parameters != parameters_of(found[name], tf.DType)
    }


def order(name):
    return name.count("."), name


def main(path):
    warnings.simplefilter("ignore")
    import tensorflow as tf

    logging.getLogger("tensorflow").setLevel("ERROR")
    found = {}
    walked(tf, "", {id(tf)}, found)
    for name in KEPT:
        module, _, last = name.rpartition(".")
        found[name] = getattr(getattr(tf, module), last)
    groups = {}
    for name in sorted(found, key=order):
        groups.setdefault(id(found[name]), []).append(name)
    functions, others, constants, enumerations = {}, {}, {}, {}
    for names in groups.values():
        value = found[names[0]]
        if inspect.isroutine(value):
            parameters = parameters_of(value, tf.DType)
            functions[names[0]] = {"also": names[1:], "parameters": parameters}
            continue
        for name in names:
            others[name] = "class" if inspect.isclass(value) else "value"
            if isinstance(value, (bool, int, float, str)):
                constants[name] = value
            elif inspect.isclass(value) and issubclass(value, enum.Enum):
                enumerations[name] = {member.name: member.value for member in value}
    with open(path, "w") as file:
        lines = [
            '"functions": {\n' + rows(functions) + "\n}",
            '"others": {\n' + rows(others) + "\n}",
            '"constants": {\n' + rows(constants) + "\n}",
            '"enumerations": {\n' + rows(enumerations) + "\n}",
            '"second": {\n' + rows(second(tf, found)) + "\n}",
        ]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def rows(table):
    ordered = sorted(table.items())
    return ",\n".join(json.dumps(key) + ": " + json.dumps(value) for key, value in ordered)


if __name__ == "__main__":
    main(sys.argv[1])
