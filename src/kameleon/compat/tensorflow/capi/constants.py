"""Numbers of the C API's headers."""

from __future__ import annotations

from .. import location
from ..dtypes import NUMBERS, enumerated


def _numbered(prefix: str, names: str) -> dict[str, int]:
    return {f"{prefix}{name}": number for number, name in enumerate(names.split())}


CONSTANTS: dict[str, object] = {
    **_numbered(
        "TF_",
        "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS"
        " PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE"
        " UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED",
    ),
    **{"TF_" + enumerated(number).removeprefix("DT_"): number for number in NUMBERS.values()},
    **_numbered("TF_ATTR_", "STRING INT FLOAT BOOL TYPE SHAPE TENSOR PLACEHOLDER FUNC"),
    **_numbered("TFE_DEVICE_PLACEMENT_", "EXPLICIT WARN SILENT SILENT_FOR_INT32"),
    **_numbered("TFE_MIRRORING_", "NONE ALL"),
    "TF_COMPLEX": 8,
    "__version__": location.VERSION,
    "GRAPH_DEF_VERSION": 134,
    "GRAPH_DEF_VERSION_MIN_CONSUMER": 0,
    "GRAPH_DEF_VERSION_MIN_PRODUCER": 0,
    "__git_version__": "v1.15.4-39-g3db52be",
    "__compiler_version__": "none: Kameleon",
    "__cxx11_abi_flag__": 0,
    "__monolithic_build__": 0,
    "TENSOR_HANDLE_KEY": "TensorHandle",
    "SHARED_PTR_DISOWN": 0,
}
