"""The messages of graphs, checkpoints and summaries, made of a table of their fields.

A graph of TensorFlow's own Python files has messages of theirs; one that is loaded by itself has
these. Both have a pool of their own, so that an installed TensorFlow's are left alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from kameleon.errors import MissingLibraryError

from ..dtypes import NAMES, REFERENCE, enumerated

# By message its fields: name, number, type; `*`: repeated, `{}`: a map from texts (`#{}`: numbers).
# A bar behind a name of alternatives. What isn't listed is skipped, as in all protocol buffers.
FIELDS = """
GraphDef: node=1 NodeDef*, versions=4 VersionDef, library=2 FunctionDefLibrary
NodeDef: name=1 string, op=2 string, input=3 string*, device=4 string, attr=5 {AttrValue}
AttrValue: value|s=2 bytes, value|i=3 int64, value|f=4 float, value|b=5 bool,
 value|type=6 DataType, value|shape=7 TensorShapeProto, value|tensor=8 TensorProto,
 value|list=1 AttrValue.ListValue, value|func=10 NameAttrList, value|placeholder=9 string
AttrValue.ListValue: s=2 bytes*, i=3 int64*, f=4 float*, b=5 bool*, type=6 DataType*,
 shape=7 TensorShapeProto*, tensor=8 TensorProto*, func=9 NameAttrList*
NameAttrList: name=1 string, attr=2 {AttrValue}
TensorProto: dtype=1 DataType, tensor_shape=2 TensorShapeProto, version_number=3 int32,
 tensor_content=4 bytes, half_val=13 int32*, float_val=5 float*, double_val=6 double*,
 int_val=7 int32*, string_val=8 bytes*, scomplex_val=9 float*, int64_val=10 int64*,
 bool_val=11 bool*, dcomplex_val=12 double*, uint32_val=16 uint32*, uint64_val=17 uint64*
TensorShapeProto: dim=2 TensorShapeProto.Dim*, unknown_rank=3 bool
TensorShapeProto.Dim: size=1 int64, name=2 string
VersionDef: producer=1 int32, min_consumer=2 int32, bad_consumers=3 int32*
FunctionDefLibrary: function=1 FunctionDef*, gradient=2 GradientDef*
FunctionDef: signature=1 OpDef, attr=5 {AttrValue}, arg_attr=7 #{FunctionDef.ArgAttrs},
 node_def=3 NodeDef*, ret=4 {string}, control_ret=6 {string}
FunctionDef.ArgAttrs: attr=1 {AttrValue}
GradientDef: function_name=1 string, gradient_func=2 string
OpDef: name=1 string, input_arg=2 OpDef.ArgDef*, output_arg=3 OpDef.ArgDef*,
 control_output=20 string*, attr=4 OpDef.AttrDef*, is_stateful=17 bool
OpDef.ArgDef: name=1 string, description=2 string, type=3 DataType, type_attr=4 string,
 number_attr=5 string, type_list_attr=6 string, is_ref=16 bool
OpDef.AttrDef: name=1 string, type=2 string, default_value=3 AttrValue
MetaGraphDef: meta_info_def=1 MetaGraphDef.MetaInfoDef, graph_def=2 GraphDef,
 saver_def=3 SaverDef, collection_def=4 {CollectionDef}, signature_def=5 {SignatureDef},
 asset_file_def=6 AssetFileDef*
MetaGraphDef.MetaInfoDef: meta_graph_version=1 string, tags=4 string*, tensorflow_version=5 string
CollectionDef: kind|node_list=1 CollectionDef.NodeList, kind|bytes_list=2 CollectionDef.BytesList
CollectionDef.NodeList: value=1 string*
CollectionDef.BytesList: value=1 bytes*
SignatureDef: inputs=1 {TensorInfo}, outputs=2 {TensorInfo}, method_name=3 string
TensorInfo: encoding|name=1 string, dtype=2 DataType, tensor_shape=3 TensorShapeProto
AssetFileDef: tensor_info=1 TensorInfo, filename=2 string
SaverDef: filename_tensor_name=1 string, save_tensor_name=2 string, restore_op_name=3 string,
 max_to_keep=4 int32, sharded=5 bool, keep_checkpoint_every_n_hours=6 float, version=7 int32
SavedModel: saved_model_schema_version=1 int64, meta_graphs=2 MetaGraphDef*
ResourceHandleProto: device=1 string, container=2 string, name=3 string
BundleHeaderProto: num_shards=1 int32, version=3 VersionDef
BundleEntryProto: dtype=1 DataType, shape=2 TensorShapeProto, shard_id=3 int32, offset=4 int64,
 size=5 int64, crc32c=6 fixed32, slices=7 TensorSliceProto*
TensorSliceProto: extent=1 TensorSliceProto.Extent*
TensorSliceProto.Extent: start=1 int64, has_length|length=2 int64
SavedTensorSlices: meta=1 SavedTensorSliceMeta, data=2 SavedSlice
SavedTensorSliceMeta: tensor=1 SavedSliceMeta*, versions=2 VersionDef
SavedSliceMeta: name=1 string, shape=2 TensorShapeProto, type=3 DataType, slice=4 TensorSliceProto*
SavedSlice: name=1 string, slice=2 TensorSliceProto, data=3 TensorProto
Event: wall_time=1 double, step=2 int64, what|file_version=3 string, what|graph_def=4 bytes,
 what|summary=5 bytes
Summary: value=1 Summary.Value*
Summary.Value: node_name=7 bytes, tag=1 bytes, metadata=9 SummaryMetadata,
 value|simple_value=2 float, value|image=4 Summary.Image, value|histo=5 HistogramProto,
 value|audio=6 Summary.Audio, value|tensor=8 TensorProto
Summary.Image: height=1 int32, width=2 int32, colorspace=3 int32, encoded_image_string=4 bytes
Summary.Audio: sample_rate=1 float, num_channels=2 int64, length_frames=3 int64,
 encoded_audio_string=4 bytes, content_type=5 string
HistogramProto: min=1 double, max=2 double, num=3 double, sum=4 double, sum_squares=5 double,
 bucket_limit=6 double*, bucket=7 double*
SummaryMetadata: plugin_data=1 SummaryMetadata.PluginData, display_name=2 bytes,
 summary_description=3 bytes
SummaryMetadata.PluginData: plugin_name=1 bytes, content=2 bytes
VariableDef: variable_name=1 string, initial_value_name=6 string, initializer_name=2 string,
 snapshot_name=3 string, is_resource=5 bool, trainable=7 bool
"""
PACKAGE = "tensorflow"


def rows() -> Iterator[tuple[str, list[tuple[str, int, str]]]]:
    """By message the names, numbers and types of its fields.

    >>> dict(rows())["TensorShapeProto"]
    [('dim', 2, 'TensorShapeProto.Dim*'), ('unknown_rank', 3, 'bool')]
    """
    for line in FIELDS.strip().replace(",\n", ",").split("\n"):
        name, _, rest = line.partition(": ")
        fields = []
        for part in rest.split(", "):
            left, kind = part.split()
            field, _, number = left.partition("=")
            fields.append((field, int(number), kind))
        yield name, fields


def message(name: str) -> Any:
    """The class of a message, such as 'GraphDef'.

    Raises:
        MissingLibraryError: (an ImportError) protobuf isn't installed.

    >>> message("NodeDef")(name="x", op="Placeholder").op
    'Placeholder'
    """
    return _classes()[name]


@cache
def _classes() -> dict[str, Any]:
    try:
        pools: Any = importlib.import_module("google.protobuf.descriptor_pool")
        factory: Any = importlib.import_module("google.protobuf.message_factory")
    except ImportError as error:
        raise MissingLibraryError(
            "graphs of TensorFlow are read by protobuf, which isn't installed; to install it:"
            " pip install protobuf"
        ) from error
    pool = pools.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    return {
        name: factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name, _ in rows()
    }


def _file() -> Any:
    """The table as a file of protobuf's."""
    descriptors: Any = importlib.import_module("google.protobuf.descriptor_pb2")
    file = descriptors.FileDescriptorProto(
        name="kameleon/tensorflow_graphs.proto", package=PACKAGE, syntax="proto3"
    )
    types = file.enum_type.add(name="DataType")
    types.value.add(name="DT_INVALID", number=0)
    for number in range(1, len(NAMES) + 1):
        for each in (number, REFERENCE + number):
            types.value.add(name=enumerated(each), number=each)
    made: dict[str, Any] = {}
    for name, fields in rows():
        outer, _, inner = name.rpartition(".")
        made[name] = (made[outer].nested_type if outer else file.message_type).add(name=inner)
        for field, number, kind in fields:
            _add(made[name], name, field, number, kind)
    return file


def _add(into: Any, message_name: str, field: str, number: int, kind: str) -> None:
    group, _, name = field.rpartition("|")
    made = into.field.add(name=name, number=number, label=1)
    if group:
        if not into.oneof_decl:
            into.oneof_decl.add(name=group)
        made.oneof_index = 0
    if "{" in kind:
        entry = f"{name.title().replace('_', '')}Entry"
        pair = into.nested_type.add(name=entry)
        pair.options.map_entry = True
        _typed(pair.field.add(name="key", number=1, label=1), "uint32" if "#" in kind else "string")
        _typed(pair.field.add(name="value", number=2, label=1), kind.strip("#{}"))
        made.label, kind = 3, f"{message_name}.{entry}"
    elif kind.endswith("*"):
        made.label, kind = 3, kind.rstrip("*")
    _typed(made, kind)


def _typed(field: Any, kind: str) -> None:
    is_plain = kind.islower()
    name = kind if is_plain else "enum" if kind == "DataType" else "message"
    field.type = field.Type.Value(f"TYPE_{name.upper()}")
    if not is_plain:
        field.type_name = f".{PACKAGE}.{kind}"


def of_file(name: str) -> ModuleType:
    """The messages by the name of TensorFlow's module that has them, such as 'graph_pb2'."""
    made = ModuleType(name, __doc__)
    vars(made).update(_classes())
    return made
