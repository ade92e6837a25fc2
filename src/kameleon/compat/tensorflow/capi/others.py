"""What has no effect here: profilers, counters; classes that are named alone."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..graph import messages
from .exports import EXPORTS, constantly, export
from .graph_defs import Status

constantly(
    None,
    "PyExceptionRegistry_Init InitializePyTrampoline InstallStacktraceHandler"
    " TF_DeleteLibraryHandle TF_DeleteApiDefMap TF_SetXlaConstantFoldingDisabled"
    " TF_SetXlaEnableLazyCompilation TF_SetXlaAutoJitMode TF_SetXlaMinClusterSize",
)
constantly(
    False,
    "PythonTraceMe_IsEnabled PythonScopedAnnotation_IsEnabled IsGoogleCudaEnabled"
    " IsBuiltWithROCm IsMklEnabled GpuSupportsHalfMatMulAndConv TF_GetXlaConstantFoldingDisabled",
)
constantly(b"", "TF_GetOpList GetPythonWrappers")
export("TF_LoadLibrary")(lambda name, *_: name)

# Counters and gauges of TensorFlow's own use: they count for nobody.
_KINDS = "Counter IntGauge StringGauge BoolGauge Sampler".split()
for _kind in _KINDS:
    for _arity in ("", "0", "1", "2"):
        for _verb in ("New", "GetCell"):
            constantly(object(), f"TFE_Monitoring{_verb}{_kind}{_arity}")
        constantly(None, f"TFE_MonitoringDelete{_kind}{_arity}")
constantly(object(), "TFE_MonitoringNewExponentialBuckets")
constantly(
    None,
    "TFE_MonitoringDeleteBuckets TFE_MonitoringCounterCellIncrementBy"
    " TFE_MonitoringBoolGaugeCellSet TFE_MonitoringStringGaugeCellSet"
    " TFE_MonitoringIntGaugeCellSet TFE_MonitoringSamplerCellAdd",
)


constantly(0, "TFE_MonitoringCounterCellValue TFE_MonitoringIntGaugeCellValue")
constantly(b"", "TFE_MonitoringStringGaugeCellValue TFE_MonitoringSamplerCellValue")
constantly(False, "TFE_MonitoringBoolGaugeCellValue")
constantly(object(), "TFE_NewProfiler")
constantly(True, "TFE_ProfilerIsOk")
constantly(None, "TFE_DeleteProfiler TFE_ProfilerSerializeToString TFE_StartProfilerServer")

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


def _class(name: str, **members: Any) -> None:
    """A class of the API that Python files name, or derive from, before it's used."""
    EXPORTS[name] = type(name, (), members)


for _class_name in (
    "PythonScopedAnnotation PythonTraceMe BufferedInputStream GCluster GItem StatSummarizer"
    " StatusGroup TF_Buffer WritableFile TF_AttrMetadata"
).split():
    _class(_class_name)
_class("PyExceptionRegistry", Init=staticmethod(lambda *_: None))
EXPORTS["Status"] = Status
