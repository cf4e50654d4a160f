"""Names of register field values, shared by several fields.

Source: nvdla/hw register headers (v1 ``arnvdla.h``, master ``spec/manual/*.rdl``).
"""

from enum import IntEnum

from ..modes import Alu, Pooling, Rubik


def _modes(kind: type[IntEnum], prefix: str = "", without: str = "") -> dict[str, int]:
    """The modes of a unit under the names of the register headers."""
    return {f"{prefix}{m.name}": int(m) for m in kind if m.name != without}


def _named(names: str) -> dict[str, int]:
    """Number the names 0, 1, 2, … in the order written."""
    return {name: value for value, name in enumerate(names.split())}


ENUMS: dict[str, dict[str, int]] = {
    "bdma_ram": _named("CVSRAM MC"),
    "cdp_mode": _named("READPHILE WRITEPHILE ORDINARY"),
    "conv_mode": _named("DIRECT WINOGRAD"),
    "conv_ram": _named("CVIF MCIF"),
    "data_mode": _named("PER_KERNEL PER_ELEMENT"),
    "data_size": _named("ONE_BYTE TWO_BYTE"),
    "data_use": _named("MUL ALU BOTH"),
    "datain": _named("FEATURE PIXEL"),
    "enable": _named("DISABLE ENABLE"),
    "force": _named("NOFORCE FORCE"),
    "group": _named("GROUP_0 GROUP_1"),
    "lock": {"LOCK": 0, "UNLOCK": 225},
    "lrn_length": _named("LEN3 LEN5 LEN7 LEN9"),
    "lut_access": _named("READ WRITE"),
    "lut_function": _named("EXPONENT LINEAR"),
    "lut_table": _named("LE LO"),
    "mapping": _named("PITCH_LINEAR RESERVED_LINEAR"),
    "on": _named("OFF ON"),
    "operand": _named("REG MEM"),
    "pdp_flying": _named("ON_FLYING OFF_FLYING"),
    "pixel_format": _named(
        "T_R8 T_R10 T_R12 T_R16 T_R16_I T_R16_F T_A16B16G16R16 T_X16B16G16R16 "
        "T_A16B16G16R16_F T_A16Y16U16V16 T_V16U16Y16A16 T_A16Y16U16V16_F T_A8B8G8R8 "
        "T_A8R8G8B8 T_B8G8R8A8 T_R8G8B8A8 T_X8B8G8R8 T_X8R8G8B8 T_B8G8R8X8 T_R8G8B8X8 "
        "T_A2B10G10R10 T_A2R10G10B10 T_B10G10R10A2 T_R10G10B10A2 T_A2Y10U10V10 T_V10U10Y10A2 "
        "T_A8Y8U8V8 T_V8U8Y8A8 T_Y8___U8V8_N444 T_Y8___V8U8_N444 T_Y10___U10V10_N444 "
        "T_Y10___V10U10_N444 T_Y12___U12V12_N444 T_Y12___V12U12_N444 T_Y16___U16V16_N444 "
        "T_Y16___V16U16_N444"
    ),
    "pooling": _modes(Pooling, "POOLING_METHOD_"),
    "precision": _named("INT8 INT16 FP16"),
    "ram": _named("CV MC"),
    "reload": _named("NORELOAD RELOAD"),
    "rubik_mode": _modes(Rubik),
    "sdp_output": _named("MEM PDP"),
    "sign": _named("UNSIGNED_INT SIGNED_INT"),
    "status": _named("IDLE RUNNING PENDING"),
    "true": _named("FALSE TRUE"),
    "weight_format": _named("UNCOMPRESSED COMPRESSED"),
    "x_alu": _modes(Alu, without="EQL"),
    "y_alu": _modes(Alu),
    "yes": _named("NO YES"),
}
