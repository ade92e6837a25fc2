"""What has no effect here: profilers, counters."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from ..failures import failure
from ..graph import messages
from ..location import PACKAGE
from .exports import constantly, export

constantly(
    None,
    "PyExceptionRegistry_Init InitializePyTrampoline InstallStacktraceHandler"
    " TF_SetXlaConstantFoldingDisabled TF_SetXlaEnableLazyCompilation TF_SetXlaAutoJitMode"
    " TF_SetXlaMinClusterSize TFE_ProfilerSerializeToString TFE_StartProfilerServer",
)
constantly(
    False,
    "IsGoogleCudaEnabled IsBuiltWithROCm IsMklEnabled GpuSupportsHalfMatMulAndConv"
    " TF_GetXlaConstantFoldingDisabled TFE_MonitoringBoolGaugeCellValue",
)
constantly(
    b"",
    "TF_GetOpList GetPythonWrappers TFE_MonitoringStringGaugeCellValue"
    " TFE_MonitoringSamplerCellValue",
)
constantly(0, "TFE_MonitoringCounterCellValue TFE_MonitoringIntGaugeCellValue")
constantly(object(), "TFE_NewProfiler")
constantly(True, "TFE_ProfilerIsOk")


@export("TF_LoadLibrary")
def _load(name: str, *_: Any) -> str:
    """TensorFlow's own operations are there without their libraries."""
    if not os.path.exists(name) and PACKAGE not in name:
        why = "cannot open shared object file: No such file or directory"
        raise failure("NOT_FOUND", f"{name}: {why}")
    return name


# Comparisons of messages ------------------------------------------------------------------------


def _difference(one: Any, other: Any) -> str:
    """What is different; nothing, if two messages are equal."""
    return "" if one == other else f"{one} is not equal to {other}"


@export("EqualAttrValueWrapper")
def _compare_attributes(one: bytes, other: bytes) -> str:
    read = messages("attr_value_pb2").AttrValue.FromString
    return _difference(read(one), read(other))


@export("EqualGraphDefWrapper")
def _compare_graphs(one: bytes, other: bytes) -> str:
    read = messages("graph_pb2").GraphDef.FromString
    pair = [sorted(read(data).node, key=lambda node: str(node.name)) for data in (one, other)]
    return _difference(*pair)


@export("TF_bfloat16_type")
def _bfloat16() -> Any:
    ml_dtypes: Any = importlib.import_module("ml_dtypes")
    return np.dtype(ml_dtypes.bfloat16).type
