"""The keys of NvSciBuf and the rules that involve several of them."""

from __future__ import annotations

from typing import Any

from ..constants.nvsci import (
    NvSciBufAttrKey as K,
)
from ..constants.nvsci import (
    NvSciBufAttrValAccessPerm as Perm,
)
from ..constants.nvsci import (
    NvSciBufAttrValDataType as DataType,
)
from ..constants.nvsci import (
    NvSciBufType as Type,
)
from .attributes import Key, Schema, Slot
from .errors import bad_parameter

MAX_DIMS = 8
MAX_PLANES = 3

ELEMENT_BYTES = {
    DataType.NvSciDataType_Int8: 1,
    DataType.NvSciDataType_Uint8: 1,
    DataType.NvSciDataType_Bool: 1,
    DataType.NvSciDataType_Int16: 2,
    DataType.NvSciDataType_Uint16: 2,
    DataType.NvSciDataType_Float16: 2,
    DataType.NvSciDataType_FloatISP: 4,
    DataType.NvSciDataType_Int32: 4,
    DataType.NvSciDataType_Uint32: 4,
    DataType.NvSciDataType_Float32: 4,
}


def _power_of_two(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    wrong = [v for v in values if v <= 0 or v & (v - 1)]
    return f"{wrong[0]} is no power of two" if wrong else ""


def _types(values: tuple[int, ...]) -> str:
    wrong = [v for v in values if not Type.NvSciBufType_General < v < Type.NvSciBufType_UpperBound]
    if wrong:
        return f"{wrong[0]} is no NvSciBufType; RawBuffer 1, Image 2, Tensor 3, Array 4, Pyramid 5"
    return "a type occurs twice" if len(set(values)) != len(values) else ""


def _perm(value: int) -> str:
    if value in (Perm.NvSciBufAccessPerm_Readonly, Perm.NvSciBufAccessPerm_ReadWrite):
        return ""
    return f"{value} is no permission to ask for; Readonly 1 or ReadWrite 3"


def _data_type(value: int) -> str:
    return "" if 0 <= value < DataType.NvSciDataType_UpperBound else f"{value} is no data type"


def _dims(value: int) -> str:
    return "" if 1 <= value <= MAX_DIMS else f"{value} dimensions; 1 to {MAX_DIMS} are possible"


def _per_dim(value: tuple[int, ...]) -> str:
    if len(value) > MAX_DIMS:
        return f"{len(value)} values; a tensor has at most {MAX_DIMS} dimensions"
    return "a dimension has size 0" if 0 in value else ""


def _positive(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return "0 is no size" if 0 in values else ""


def _planes(value: int) -> str:
    return "" if 1 <= value <= MAX_PLANES else f"{value} planes; 1 to {MAX_PLANES} are possible"


def _key(name: str, form: str, out: bool = False, check: Any = None) -> Key:
    return Key(name, form, writable=not out, check=check)


KEYS = {
    K.NvSciBufGeneralAttrKey_Types: _key("Types", "i32[]", check=_types),
    K.NvSciBufGeneralAttrKey_NeedCpuAccess: _key("NeedCpuAccess", "bool"),
    K.NvSciBufGeneralAttrKey_RequiredPerm: Key("RequiredPerm", "i32", answered=False, check=_perm),
    K.NvSciBufGeneralAttrKey_EnableCpuCache: _key("EnableCpuCache", "bool"),
    K.NvSciBufGeneralAttrKey_GpuId: _key("GpuId", "bytes16[]"),
    K.NvSciBufGeneralAttrKey_CpuNeedSwCacheCoherency: _key(
        "CpuNeedSwCacheCoherency", "bool", out=True
    ),
    K.NvSciBufGeneralAttrKey_ActualPerm: _key("ActualPerm", "i32", out=True),
    K.NvSciBufGeneralAttrKey_VidMem_GpuId: _key("VidMem_GpuId", "bytes16"),
    K.NvSciBufGeneralAttrKey_EnableGpuCache: _key("EnableGpuCache", "bytes17[]"),
    K.NvSciBufGeneralAttrKey_GpuSwNeedCacheCoherency: _key(
        "GpuSwNeedCacheCoherency", "bytes17[]", out=True
    ),
    K.NvSciBufGeneralAttrKey_EnableGpuCompression: _key("EnableGpuCompression", "bytes20[]"),
    K.NvSciBufGeneralAttrKey_PeerLocationInfo: _key("PeerLocationInfo", "bytes16[]"),
    K.NvSciBufGeneralAttrKey_PeerHwEngineArray: _key("PeerHwEngineArray", "bytes8[]"),
    K.NvSciBufRawBufferAttrKey_Size: _key("RawBuffer Size", "u64", check=_positive),
    K.NvSciBufRawBufferAttrKey_Align: _key("RawBuffer Align", "u64", check=_power_of_two),
    K.NvSciBufImageAttrKey_Layout: _key("Image Layout", "i32"),
    K.NvSciBufImageAttrKey_TopPadding: _key("Image TopPadding", "u64[]"),
    K.NvSciBufImageAttrKey_BottomPadding: _key("Image BottomPadding", "u64[]"),
    K.NvSciBufImageAttrKey_LeftPadding: _key("Image LeftPadding", "u64[]"),
    K.NvSciBufImageAttrKey_RightPadding: _key("Image RightPadding", "u64[]"),
    K.NvSciBufImageAttrKey_VprFlag: _key("Image VprFlag", "bool"),
    K.NvSciBufImageAttrKey_Size: _key("Image Size", "u64", out=True),
    K.NvSciBufImageAttrKey_Alignment: _key("Image Alignment", "u64", out=True),
    K.NvSciBufImageAttrKey_PlaneCount: _key("Image PlaneCount", "u32", check=_planes),
    K.NvSciBufImageAttrKey_PlaneColorFormat: _key("Image PlaneColorFormat", "i32[]"),
    K.NvSciBufImageAttrKey_PlaneColorStd: _key("Image PlaneColorStd", "i32[]"),
    K.NvSciBufImageAttrKey_PlaneBaseAddrAlign: _key(
        "Image PlaneBaseAddrAlign", "u32[]", check=_power_of_two
    ),
    K.NvSciBufImageAttrKey_PlaneWidth: _key("Image PlaneWidth", "u32[]", check=_positive),
    K.NvSciBufImageAttrKey_PlaneHeight: _key("Image PlaneHeight", "u32[]", check=_positive),
    K.NvSciBufImageAttrKey_PlaneScanType: _key("Image PlaneScanType", "i32"),
    K.NvSciBufImageAttrKey_PlaneBitsPerPixel: _key("Image PlaneBitsPerPixel", "u32[]", out=True),
    K.NvSciBufImageAttrKey_PlaneOffset: _key("Image PlaneOffset", "u64[]", out=True),
    K.NvSciBufImageAttrKey_PlaneDatatype: _key("Image PlaneDatatype", "i32[]", out=True),
    K.NvSciBufImageAttrKey_PlaneChannelCount: _key("Image PlaneChannelCount", "u8[]", out=True),
    K.NvSciBufImageAttrKey_PlaneSecondFieldOffset: _key(
        "Image PlaneSecondFieldOffset", "u64[]", out=True
    ),
    K.NvSciBufImageAttrKey_PlanePitch: _key("Image PlanePitch", "u32[]", out=True),
    K.NvSciBufImageAttrKey_PlaneAlignedHeight: _key("Image PlaneAlignedHeight", "u32[]", out=True),
    K.NvSciBufImageAttrKey_PlaneAlignedSize: _key("Image PlaneAlignedSize", "u64[]", out=True),
    K.NvSciBufImageAttrKey_ImageCount: _key("Image ImageCount", "u64"),
    K.NvSciBufImageAttrKey_SurfType: _key("Image SurfType", "i32"),
    K.NvSciBufImageAttrKey_SurfMemLayout: _key("Image SurfMemLayout", "i32"),
    K.NvSciBufImageAttrKey_SurfSampleType: _key("Image SurfSampleType", "i32"),
    K.NvSciBufImageAttrKey_SurfBPC: _key("Image SurfBPC", "i32"),
    K.NvSciBufImageAttrKey_SurfComponentOrder: _key("Image SurfComponentOrder", "i32"),
    K.NvSciBufImageAttrKey_SurfWidthBase: _key("Image SurfWidthBase", "u32"),
    K.NvSciBufImageAttrKey_SurfHeightBase: _key("Image SurfHeightBase", "u32"),
    K.NvSciBufImageAttrKey_SurfColorStd: _key("Image SurfColorStd", "i32"),
    K.NvSciBufTensorAttrKey_DataType: _key("Tensor DataType", "i32", check=_data_type),
    K.NvSciBufTensorAttrKey_NumDims: _key("Tensor NumDims", "u32", check=_dims),
    K.NvSciBufTensorAttrKey_SizePerDim: _key("Tensor SizePerDim", "u64[]", check=_per_dim),
    K.NvSciBufTensorAttrKey_AlignmentPerDim: _key(
        "Tensor AlignmentPerDim", "u32[]", check=_power_of_two
    ),
    K.NvSciBufTensorAttrKey_StridesPerDim: _key("Tensor StridesPerDim", "u64[]", out=True),
    K.NvSciBufTensorAttrKey_PixelFormat: _key("Tensor PixelFormat", "i32"),
    K.NvSciBufTensorAttrKey_BaseAddrAlign: _key("Tensor BaseAddrAlign", "u64", check=_power_of_two),
    K.NvSciBufTensorAttrKey_Size: _key("Tensor Size", "u64", out=True),
    K.NvSciBufArrayAttrKey_DataType: _key("Array DataType", "i32", check=_data_type),
    K.NvSciBufArrayAttrKey_Stride: _key("Array Stride", "u64", check=_positive),
    K.NvSciBufArrayAttrKey_Capacity: _key("Array Capacity", "u64", check=_positive),
    K.NvSciBufArrayAttrKey_Size: _key("Array Size", "u64", out=True),
    K.NvSciBufArrayAttrKey_Alignment: _key("Array Alignment", "u64", out=True),
    K.NvSciBufPyramidAttrKey_NumLevels: _key("Pyramid NumLevels", "u32"),
    K.NvSciBufPyramidAttrKey_Scale: _key("Pyramid Scale", "f32"),
    K.NvSciBufPyramidAttrKey_LevelOffset: _key("Pyramid LevelOffset", "u64[]", out=True),
    K.NvSciBufPyramidAttrKey_LevelSize: _key("Pyramid LevelSize", "u64[]", out=True),
    K.NvSciBufPyramidAttrKey_Alignment: _key("Pyramid Alignment", "u64", out=True),
}


class BufSchema(Schema):
    """Adds: keys of a data type need that type in Types, set before or in the same call."""

    reads_by_kind = True

    def check_new(self, present: Slot, fresh: Slot) -> None:
        raw = fresh.get(K.NvSciBufGeneralAttrKey_Types, present.get(K.NvSciBufGeneralAttrKey_Types))
        types = () if raw is None else self.key(K.NvSciBufGeneralAttrKey_Types).decode(raw)
        for number in fresh:
            kind = number >> 16
            # A pyramid is a pyramid of images, so it needs the image keys too.
            allowed = (
                {kind, Type.NvSciBufType_Pyramid} if kind == Type.NvSciBufType_Image else {kind}
            )
            if kind and not allowed & set(types):
                raise bad_parameter(
                    f"{self.key(number).name}: Types does not hold {Type(kind).name} "
                    f"(it holds {[Type(t).name for t in types] or 'nothing'}); set Types first"
                )


SCHEMA = BufSchema("NvSciBuf", {int(k): v for k, v in KEYS.items()})
