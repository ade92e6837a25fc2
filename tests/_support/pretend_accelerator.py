"""A device of PyTorch that is written in Python: it refuses what CUDA refuses, and has values.

Its tensors are PyTorch's own. The memory of each of their storages lies on the processor and is
found through the storage, whose own address is one where nobody can read. An operation is done
on the processor, by tensors that lie in that memory as those of the device lie in their storages:
views share it, and what is written in place or by `out=` is there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch isn't installed")
backend_registration = torch.utils.backend_registration

NAME = "pretend"
# Private parts of PyTorch. A version that lacks one of them has no devices written in Python.
NEEDED = (
    (backend_registration, "_setup_privateuseone_for_python_backend"),
    (torch._C, "_acc"),
    (torch._C, "_construct_storage_from_data_pointer"),
)
# Added to an address: whoever reads there ends the process, as on CUDA.
FAR = 2**60
# What PyTorch's code for all devices leaves to each device.
OWN = (torch.ops.aten.convolution.default, torch.ops.aten.convolution_backward.default)
# What is done on any device as on the processor, as these operations don't look into memory.
VIEWS = (
    torch.ops.aten.as_strided.default,
    torch.ops.aten.view.default,
    torch.ops.aten._reshape_alias.default,
    torch.ops.aten.set_.source_Storage_storage_offset,
)
PROCESSOR = torch._C.DispatchKey.CPU
# What CUDA has for floats alone, as PyTorch's own tests have it (`OpInfo.dtypesIfCUDA`).
FLOATS_ONLY = {
    *("mm", "bmm", "addmm", "baddbmm"),
    *("max_pool2d_with_indices", "max_pool3d_with_indices"),
}
# Functions that take scalars from the processor; else those of up to two tensors, elementwise.
TAKE_SCALARS = ("floor_divide", "where")
# What CUDA rounds the operands of, unless PyTorch's setting for convolutions forbids it.
ROUNDED = ("convolution", "convolution_backward")
# Operations whose results the processor has to wait for.
WAITED_FOR = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
# Where CUDA stops the process, the processor raises an error with such words.
ASSERTED = re.compile("out of (range|bounds)|ZeroDivisionError")

Tensor = Any
Storage = Any


class DeviceAssertionError(BaseException):
    """What ends the process on CUDA. It's no Exception, so that nobody takes it for an error."""


def is_possible() -> bool:
    """Whether this version of PyTorch has devices that are written in Python."""
    return all(hasattr(module, name) for module, name in NEEDED)


@functools.cache
def register() -> str:
    """Make the device known to PyTorch, until the process ends; gives its name."""
    backend_registration._setup_privateuseone_for_python_backend(NAME)
    others, aten = (torch.library.Library(space, "IMPL", "PrivateUse1") for space in ("_", "aten"))
    others.fallback(_run)
    for op in OWN:
        aten.impl(op, functools.partial(_run, op))
    for op in VIEWS:
        aten.impl(op, functools.partial(op._op_dk, PROCESSOR))
    _libraries.extend((others, aten))
    return NAME


_libraries: list[Any] = []  # operations stay registered while these live
_waited: list[list[str]] = []


@contextmanager
def waited_for() -> Iterator[list[str]]:
    """The operations inside that the processor has to wait for, as it gets values from them."""
    names: list[str] = []
    _waited.append(names)
    try:
        yield names
    finally:
        _waited.remove(names)


def _run(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Any operation: some of its tensors are on the device, or its result is to be."""
    return _Call(_kind_of(op)).run(args, kwargs)


class _Kind:
    """What the device must know of an operation."""

    def __init__(self, op: Any):
        self.op, self.name = op, op.overloadpacket.__name__
        types = [argument.type for argument in op._schema.arguments]
        self.tensors = [isinstance(type, torch.TensorType) for type in types]
        self.takes_scalars = self.name in TAKE_SCALARS or (
            torch.Tag.pointwise in op.tags and sum(self.tensors) - op._schema.is_mutable < 3
        )
        self.is_waited_for = not WAITED_FOR.isdisjoint(op.tags)


_kind_of = functools.cache(_Kind)


class _Call:
    """A call of an operation."""

    def __init__(self, kind: _Kind):
        self.kind = kind
        self.own: list[tuple[Tensor, Tensor]] = []  # tensors of the device, with their stand-ins
        self.others: list[Tensor] = []

    def run(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What the device gives."""
        kind = self.kind
        if kind.name == "_copy_from":
            return self.copy(*args[:2])
        given = [self.inside(x) for x in args]
        options = {name: self.inside(x) for name, x in kwargs.items()}
        self.check()
        given = [self.number(x) if t else x for x, t in zip(given, kind.tensors, strict=False)]
        if kind.name in ROUNDED and _rounds():
            given = [_tf32(x) for x in given]
        of_number = bool(self.others) and self.others[0] is args[-1]
        if kind.name == "floor_divide" and of_number and given[1].is_floating_point():
            given = [given[0] * (1 / given[1]), torch.ones(())]  # CUDA's code takes a reciprocal
        if kind.name == "avg_pool2d_backward" and _is_channels_last(given[1]):
            given[4] = [0, 0]  # CUDA's code forgets the margins
        try:
            results = kind.op(*given, **options)
        except (IndexError, RuntimeError) as error:
            if ASSERTED.search(str(error)):
                raise DeviceAssertionError(str(error)) from error
            raise
        for own, x in self.own:
            if own.shape != x.shape:  # an `out` of another size
                _put(own, x, _outside(x.untyped_storage()))
        if kind.is_waited_for:
            self.waited()
        return self.outside(results)

    def copy(self, source: Tensor, target: Tensor) -> Tensor:
        """From one device to another, or to itself."""
        found = self.inside(source)
        if found.is_floating_point() and not target.is_floating_point():
            found = _nearest(found, target.dtype)
        self.inside(target).copy_(found)
        if target.device.type != NAME:
            self.waited()
        return target

    def waited(self) -> None:
        """Tell every block of `waited_for` of this operation."""
        for names in _waited:
            names.append(self.kind.name)

    def check(self) -> None:
        """Refuse what CUDA refuses."""
        op, dtypes = self.kind.op, [own.dtype for own, _ in self.own[:1]]
        if any(x.dim() or not self.kind.takes_scalars for x in self.others):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices,"
                f" {NAME} and cpu, in {op}"
            )
        if self.kind.name in FLOATS_ONLY and not dtypes[0].is_floating_point:
            raise NotImplementedError(f"{op} not implemented for {dtypes[0]}")

    def inside(self, x: Any) -> Any:
        """What stands for an argument on the processor."""
        if isinstance(x, torch.Tensor):
            if x.device.type != NAME:
                self.others.append(x)
                return x
            model = torch.empty(0, dtype=x.dtype, device="cpu")
            found = _put(model, x, x.untyped_storage().memory)
            self.own.append((x, found))
            return found
        if isinstance(x, (list, tuple)):
            return [self.inside(y) for y in x]
        return torch.device("cpu") if isinstance(x, torch.device) else x

    def number(self, x: Any) -> Any:
        """A tensor again, where PyTorch has made a number of one on the way here."""
        if isinstance(x, (int, float)):
            return torch.tensor(x, dtype=self.own[0][0].dtype, device="cpu")
        return x

    def outside(self, x: Any) -> Any:
        """A result on the device: an argument, a view of one, or something new."""
        if isinstance(x, (list, tuple)):
            return type(x)(self.outside(y) for y in x)
        if not isinstance(x, torch.Tensor):
            return x
        memory, storage = x.untyped_storage(), None
        for own, inside in self.own:
            if x is inside:
                return own
            if memory is inside.untyped_storage():
                storage = own.untyped_storage()
        empty = torch._C._acc.create_empty_tensor((0,), x.dtype)
        return _put(empty, x, storage or _outside(memory))


def _rounds() -> bool:
    """Whether PyTorch's setting lets convolutions round."""
    setting = getattr(torch.backends.cudnn, "conv", None)
    return torch.backends.cudnn.allow_tf32 if setting is None else setting.fp32_precision == "tf32"


def _tf32(x: Any) -> Any:
    """The ten bits of a float32 that TF32 keeps."""
    if not isinstance(x, torch.Tensor) or x.dtype is not torch.float32 or not x.numel():
        return x
    bits = x.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def _nearest(x: Tensor, dtype: Any) -> Tensor:
    """Floats as integers: CUDA gives the nearest one of 32 or 64 bits, and takes bits of that."""
    if dtype is torch.bool:
        return x != 0
    narrow = dtype.itemsize < 4 or dtype is torch.int32
    wide = torch.int32 if narrow else torch.uint64 if dtype is torch.uint64 else torch.int64
    limits = torch.iinfo(wide)
    whole = torch.nan_to_num(x.double(), 0.0).trunc()
    exact = [min(max(int(v), limits.min), limits.max) for v in whole.flatten().tolist()]
    return torch.tensor(exact, dtype=wide).reshape(x.shape)


def _is_channels_last(x: Tensor) -> bool:
    """As PyTorch decides: of one channel, tensors can be both."""
    return x.is_contiguous(memory_format=torch.channels_last) and x.stride(1) < x.stride(2)


def _outside(memory: Storage) -> Storage:
    """A storage of the device in the memory of one of the processor."""
    made = torch._C._construct_storage_from_data_pointer(
        memory.data_ptr() + FAR, torch.device(NAME, 0), memory.nbytes()
    )
    made.memory, made.resizable = memory, lambda: True  # as CUDA's are
    return made


def _put(x: Tensor, model: Tensor, storage: Storage) -> Tensor:
    """Let a tensor lie in a storage as another one lies in its own."""
    return x.set_(storage, model.storage_offset(), model.shape, model.stride())
