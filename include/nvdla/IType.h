/*
 * IType.h - the types that the NVDLA driver's C++ interfaces share.
 *
 * The enumerations are small classes around one byte, so that a number from a file can be turned
 * into a checked value (out_of_range for one that is too large), and a value into its name.
 */
#ifndef NVDLA_I_TYPE_H
#define NVDLA_I_TYPE_H

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

#include "dlaerror.h"

#include "c/NvDlaType.h"

namespace nvdla
{

/* How many values an enumeration has. */
template <typename T> inline int EnumMax();

namespace detail
{

/* One byte with a name for each value. Derived gives max() and names(). */
template <typename Derived> class Coded
{
public:
    typedef NvU8 UnderlyingType;

    const char *c_str() const { return Derived::names()[m_v]; }
    UnderlyingType v() const { return m_v; }
    operator UnderlyingType() const { return m_v; }

protected:
    Coded() : m_v(0) {}
    explicit Coded(UnderlyingType v) : m_v(v) {}

    static UnderlyingType check(UnderlyingType v)
    {
        if (v > Derived::max()) {
            throw std::out_of_range("NVDLA enumeration");
        }
        return v;
    }
    static UnderlyingType lookUp(const std::string &name, UnderlyingType otherwise)
    {
        for (UnderlyingType v = 0; v <= Derived::max(); ++v) {
            if (name == Derived::names()[v]) {
                return v;
            }
        }
        return otherwise;
    }

    UnderlyingType m_v;
};

} // namespace detail

class DataFormat : public detail::Coded<DataFormat>
{
public:
    enum Enum {
        UNKNOWN = NVDLA_DATA_FORMAT_UNKNOWN,
        NCHW = NVDLA_DATA_FORMAT_NCHW,
        NHWC = NVDLA_DATA_FORMAT_NHWC,
        NCxHWx = NVDLA_DATA_FORMAT_NCxHWx,
    };
    static UnderlyingType max() { return 3U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "UNKNOWN", "NCHW", "NHWC", "NCxHWx",
        };
        return all;
    }
    DataFormat() {}
    DataFormat(UnderlyingType v) : detail::Coded<DataFormat>(check(v)) {}
    DataFormat(Enum e) : detail::Coded<DataFormat>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<DataFormat>() { return DataFormat::max() + 1; }

class DataType : public detail::Coded<DataType>
{
public:
    enum Enum {
        UNKNOWN = NVDLA_DATA_TYPE_UNKNOWN,
        FLOAT = NVDLA_DATA_TYPE_FLOAT,
        HALF = NVDLA_DATA_TYPE_HALF,
        INT16 = NVDLA_DATA_TYPE_INT16,
        INT8 = NVDLA_DATA_TYPE_INT8,
        UINT8 = NVDLA_DATA_TYPE_UINT8,
        UINT16 = NVDLA_DATA_TYPE_UINT16,
    };
    static UnderlyingType max() { return 6U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "UNKNOWN", "FLOAT", "HALF", "INT16", "INT8", "UINT8", "UINT16",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, UNKNOWN);
    }
    DataType() {}
    DataType(UnderlyingType v) : detail::Coded<DataType>(check(v)) {}
    DataType(Enum e) : detail::Coded<DataType>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<DataType>() { return DataType::max() + 1; }

class TensorScalingMode : public detail::Coded<TensorScalingMode>
{
public:
    enum Enum {
        NONE = NVDLA_TENSOR_SCALING_MODE_NONE,
        PER_TENSOR = NVDLA_TENSOR_SCALING_MODE_PER_TENSOR,
        PER_CHANNEL = NVDLA_TENSOR_SCALING_MODE_PER_CHANNEL,
    };
    static UnderlyingType max() { return 2U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "NONE", "PER_TENSOR", "PER_CHANNEL",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, NONE);
    }
    TensorScalingMode() {}
    TensorScalingMode(UnderlyingType v) : detail::Coded<TensorScalingMode>(check(v)) {}
    TensorScalingMode(Enum e) : detail::Coded<TensorScalingMode>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<TensorScalingMode>() { return TensorScalingMode::max() + 1; }

class QuantizationMode : public detail::Coded<QuantizationMode>
{
public:
    enum Enum {
        NONE = NVDLA_TENSOR_QUANTIZATION_MODE_NONE,
        PER_KERNEL = NVDLA_TENSOR_QUANTIZATION_MODE_PER_KERNEL,
        PER_FILTER = NVDLA_TENSOR_QUANTIZATION_MODE_PER_FILTER,
    };
    static UnderlyingType max() { return 2U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "NONE", "PER_KERNEL", "PER_FILTER",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, NONE);
    }
    QuantizationMode() {}
    QuantizationMode(UnderlyingType v) : detail::Coded<QuantizationMode>(check(v)) {}
    QuantizationMode(Enum e) : detail::Coded<QuantizationMode>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<QuantizationMode>() { return QuantizationMode::max() + 1; }

class DataCategory : public detail::Coded<DataCategory>
{
public:
    enum Enum {
        IMAGE = NVDLA_DATA_CATEGORY_IMAGE,
        WEIGHT = NVDLA_DATA_CATEGORY_WEIGHT,
        FEATURE = NVDLA_DATA_CATEGORY_FEATURE,
        PLANAR = NVDLA_DATA_CATEGORY_PLANAR,
        BIAS = NVDLA_DATA_CATEGORY_BIAS,
    };
    static UnderlyingType max() { return 4U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "IMAGE", "WEIGHT", "FEATURE", "PLANAR", "BIAS",
        };
        return all;
    }
    DataCategory() {}
    DataCategory(UnderlyingType v) : detail::Coded<DataCategory>(check(v)) {}
    DataCategory(Enum e) : detail::Coded<DataCategory>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<DataCategory>() { return DataCategory::max() + 1; }

class LayerType : public detail::Coded<LayerType>
{
public:
    enum Enum {
        kCONVOLUTION = NVDLA_LAYER_TYPE_CONVOLUTION,
        kFULLY_CONNECTED = NVDLA_LAYER_TYPE_FULLY_CONNECTED,
        kACTIVATION = NVDLA_LAYER_TYPE_ACTIVATION,
        kPOOLING = NVDLA_LAYER_TYPE_POOLING,
        kLRN = NVDLA_LAYER_TYPE_LRN,
        kSCALE = NVDLA_LAYER_TYPE_SCALE,
        kBATCH_NORM = NVDLA_LAYER_TYPE_BATCH_NORM,
        kSOFTMAX = NVDLA_LAYER_TYPE_SOFTMAX,
        kDECONVOLUTION = NVDLA_LAYER_TYPE_DECONVOLUTION,
        kCONCATENATION = NVDLA_LAYER_TYPE_CONCATENATION,
        kELEMENTWISE = NVDLA_LAYER_TYPE_ELEMENTWISE,
        kSLICE = NVDLA_LAYER_TYPE_SLICE,
        lt_kUNKNOWN = NVDLA_LAYER_TYPE_UNKNOWN,
    };
    static UnderlyingType max() { return 12U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "CONVOLUTION", "FULLY_CONNECTED", "ACTIVATION", "POOLING", "LRN", "SCALE",
            "BATCHNORM", "SOFTMAX", "DECONVOLUTION", "CONCATENATION", "ELEMENTWISE", "SLICE",
            "UNKNOWN",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, lt_kUNKNOWN);
    }
    LayerType() {}
    LayerType(UnderlyingType v) : detail::Coded<LayerType>(check(v)) {}
    LayerType(Enum e) : detail::Coded<LayerType>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<LayerType>() { return LayerType::max() + 1; }

class PoolingType : public detail::Coded<PoolingType>
{
public:
    enum Enum {
        kMIN = NVDLA_POOLING_TYPE_MIN,
        kMAX = NVDLA_POOLING_TYPE_MAX,
        kAVERAGE = NVDLA_POOLING_TYPE_AVERAGE,
    };
    static UnderlyingType max() { return 2U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "MIN", "MAX", "AVERAGE",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, kAVERAGE);
    }
    PoolingType() {}
    PoolingType(UnderlyingType v) : detail::Coded<PoolingType>(check(v)) {}
    PoolingType(Enum e) : detail::Coded<PoolingType>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<PoolingType>() { return PoolingType::max() + 1; }

class PixelMapping : public detail::Coded<PixelMapping>
{
public:
    enum Enum {
        PITCH_LINEAR = NVDLA_PIXEL_MAPPING_PITCH_LINEAR,
        INVALID = 1,
    };
    static UnderlyingType max() { return 1U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "PITCH_LINEAR", "INVALID",
        };
        return all;
    }
    PixelMapping() {}
    PixelMapping(UnderlyingType v) : detail::Coded<PixelMapping>(check(v)) {}
    PixelMapping(Enum e) : detail::Coded<PixelMapping>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<PixelMapping>() { return PixelMapping::max() + 1; }

class PixelFormat : public detail::Coded<PixelFormat>
{
public:
    enum Enum {
        R8 = NVDLA_PIXEL_FORMAT_R8,
        R10 = NVDLA_PIXEL_FORMAT_R10,
        R12 = NVDLA_PIXEL_FORMAT_R12,
        R16 = NVDLA_PIXEL_FORMAT_R16,
        R16_I = NVDLA_PIXEL_FORMAT_R16_I,
        R16_F = NVDLA_PIXEL_FORMAT_R16_F,
        A16B16G16R16 = NVDLA_PIXEL_FORMAT_A16B16G16R16,
        X16B16G16R16 = NVDLA_PIXEL_FORMAT_X16B16G16R16,
        A16B16G16R16_F = NVDLA_PIXEL_FORMAT_A16B16G16R16_F,
        A16Y16U16V16 = NVDLA_PIXEL_FORMAT_A16Y16U16V16,
        V16U16Y16A16 = NVDLA_PIXEL_FORMAT_V16U16Y16A16,
        A16Y16U16V16_F = NVDLA_PIXEL_FORMAT_A16Y16U16V16_F,
        A8B8G8R8 = NVDLA_PIXEL_FORMAT_A8B8G8R8,
        A8R8G8B8 = NVDLA_PIXEL_FORMAT_A8R8G8B8,
        B8G8R8A8 = NVDLA_PIXEL_FORMAT_B8G8R8A8,
        R8G8B8A8 = NVDLA_PIXEL_FORMAT_R8G8B8A8,
        X8B8G8R8 = NVDLA_PIXEL_FORMAT_X8B8G8R8,
        X8R8G8B8 = NVDLA_PIXEL_FORMAT_X8R8G8B8,
        B8G8R8X8 = NVDLA_PIXEL_FORMAT_B8G8R8X8,
        R8G8B8X8 = NVDLA_PIXEL_FORMAT_R8G8B8X8,
        A2B10G10R10 = NVDLA_PIXEL_FORMAT_A2B10G10R10,
        A2R10G10B10 = NVDLA_PIXEL_FORMAT_A2R10G10B10,
        B10G10R10A2 = NVDLA_PIXEL_FORMAT_B10G10R10A2,
        R10G10B10A2 = NVDLA_PIXEL_FORMAT_R10G10B10A2,
        A2Y10U10V10 = NVDLA_PIXEL_FORMAT_A2Y10U10V10,
        V10U10Y10A2 = NVDLA_PIXEL_FORMAT_V10U10Y10A2,
        A8Y8U8V8 = NVDLA_PIXEL_FORMAT_A8Y8U8V8,
        V8U8Y8A8 = NVDLA_PIXEL_FORMAT_V8U8Y8A8,
        Y8___U8V8_N444 = NVDLA_PIXEL_FORMAT_Y8___U8V8_N444,
        Y8___V8U8_N444 = NVDLA_PIXEL_FORMAT_Y8___V8U8_N444,
        Y10___U10V10_N444 = NVDLA_PIXEL_FORMAT_Y10___U10V10_N444,
        Y10___V10U10_N444 = NVDLA_PIXEL_FORMAT_Y10___V10U10_N444,
        Y12___U12V12_N444 = NVDLA_PIXEL_FORMAT_Y12___U12V12_N444,
        Y12___V12U12_N444 = NVDLA_PIXEL_FORMAT_Y12___V12U12_N444,
        Y16___U16V16_N444 = NVDLA_PIXEL_FORMAT_Y16___U16V16_N444,
        Y16___V16U16_N444 = NVDLA_PIXEL_FORMAT_Y16___V16U16_N444,
        FEATURE = NVDLA_PIXEL_FORMAT_FEATURE,
        FEATURE_X8 = NVDLA_PIXEL_FORMAT_FEATURE_X8,
        UNKNOWN = NVDLA_PIXEL_FORMAT_UNKNOWN,
    };
    static UnderlyingType max() { return 38U; }
    static const char *const *names()
    {
        static const char *const all[] = {
            "R8", "R10", "R12", "R16", "R16_I", "R16_F", "A16B16G16R16", "X16B16G16R16",
            "A16B16G16R16_F", "A16Y16U16V16", "V16U16Y16A16", "A16Y16U16V16_F", "A8B8G8R8",
            "A8R8G8B8", "B8G8R8A8", "R8G8B8A8", "X8B8G8R8", "X8R8G8B8", "B8G8R8X8", "R8G8B8X8",
            "A2B10G10R10", "A2R10G10B10", "B10G10R10A2", "R10G10B10A2", "A2Y10U10V10",
            "V10U10Y10A2", "A8Y8U8V8", "V8U8Y8A8", "Y8___U8V8_N444", "Y8___V8U8_N444",
            "Y10___U10V10_N444", "Y10___V10U10_N444", "Y12___U12V12_N444", "Y12___V12U12_N444",
            "Y16___U16V16_N444", "Y16___V16U16_N444", "FEATURE", "FEATURE_X8", "UNKNOWN",
        };
        return all;
    }
    static UnderlyingType getEnum(const std::string &name)
    {
        return lookUp(name, UNKNOWN);
    }
    PixelFormat() {}
    PixelFormat(UnderlyingType v) : detail::Coded<PixelFormat>(check(v)) {}
    PixelFormat(Enum e) : detail::Coded<PixelFormat>(UnderlyingType(e)) {}
};
template <> inline int EnumMax<PixelFormat>() { return PixelFormat::max() + 1; }

template <> inline int EnumMax<PixelFormat::Enum>() { return PixelFormat::max() + 1; }

/* What a tensor is for in a network that is being compiled. */
enum TensorType {
    kUNKNOWN = 0,
    kNW_INPUT = 1,
    kNW_OUTPUT = 2,
    kIO = 3,
    kWEIGHT = 4,
    kBIAS = 5,
    kBATCH_NORM = 6,
    kSCALE = 7,
    kSTREAM = 8,
    kDEBUG = 9,
};
template <> inline int EnumMax<TensorType>() { return 10; }

enum ActivationType {
    kRELU = NVDLA_ACTIVATION_TYPE_RELU,
    kSIGMOID = NVDLA_ACTIVATION_TYPE_SIGMOID,
    kTANH = NVDLA_ACTIVATION_TYPE_TANH,
};
template <> inline int EnumMax<ActivationType>() { return 3; }

enum BiasMode {
    bNONE = NVDLA_BIAS_MODE_NONE,
    bUNIFORM = NVDLA_BIAS_MODE_UNIFORM,
    bCHANNEL = NVDLA_BIAS_MODE_CHANNEL,
    bm_ELEMENTWISE = NVDLA_BIAS_MODE_ELEMENTWISE,
};
template <> inline int EnumMax<BiasMode>() { return 4; }

enum ScaleMode {
    sUNKNOWN = NVDLA_SCALE_MODE_UNKNOWN,
    sUNIFORM = NVDLA_SCALE_MODE_UNIFORM,
    sCHANNEL = NVDLA_SCALE_MODE_CHANNEL,
    sm_ELEMENTWISE = NVDLA_SCALE_MODE_ELEMENTWISE,
};
template <> inline int EnumMax<ScaleMode>() { return 4; }

enum BatchNormMode {
    bnUNIFORM = NVDLA_BATCH_NORM_MODE_UNIFORM,
    bnm_CHANNEL = NVDLA_BATCH_NORM_MODE_CHANNEL,
};
template <> inline int EnumMax<BatchNormMode>() { return 2; }

enum ElementWiseOperation {
    kSUM = NVDLA_ELEMENTWISE_OPERATION_SUM,
    kPROD = NVDLA_ELEMENTWISE_OPERATION_PROD,
    kMIN = NVDLA_ELEMENTWISE_OPERATION_MIN,
    ew_kMAX = NVDLA_ELEMENTWISE_OPERATION_MAX,
};
template <> inline int EnumMax<ElementWiseOperation>() { return 3; }

struct Dims2 {
    NvS32 h, w;
    Dims2() : h(0), w(0) {}
    Dims2(NvS32 h, NvS32 w) : h(h), w(w) {}
    bool operator==(const Dims2 &o) const { return h == o.h && w == o.w; }
    bool operator!=(const Dims2 &o) const { return !(*this == o); }
};

struct Dims3 {
    NvS32 c, h, w;
    Dims3() : c(0), h(0), w(0) {}
    Dims3(NvS32 c, NvS32 h, NvS32 w) : c(c), h(h), w(w) {}
};

struct Dims4 {
    NvS32 n, c, h, w;
    Dims4() : n(1), c(0), h(0), w(0) {}
    Dims4(NvS32 c, NvS32 h, NvS32 w) : n(1), c(c), h(h), w(w) {}
    Dims4(NvS32 n, NvS32 c, NvS32 h, NvS32 w) : n(n), c(c), h(h), w(w) {}
    bool operator==(const Dims4 &o) const { return n == o.n && c == o.c && h == o.h && w == o.w; }
    bool operator!=(const Dims4 &o) const { return !(*this == o); }
};

/* A weight array that somebody else owns. */
struct Weights {
    DataType type;
    const void *values;
    NvS64 count;
    Weights() : type(DataType::UNKNOWN), values(NULL), count(0) {}
    Weights(DataType type, const void *values, NvS64 count)
        : type(type), values(values), count(count) {}
};

struct TensorDesc {
    NvU64 bufferSize;
    Dims4 dims;
    DataFormat::UnderlyingType dataFormat;
    DataType::UnderlyingType dataType;
    DataCategory::UnderlyingType dataCategory;
    PixelFormat::UnderlyingType pixelFormat;
    PixelMapping::UnderlyingType pixelMapping;
    struct PitchLinearMappingDesc {
        NvU32 lineStride;
        NvU32 surfStride;
        NvU32 planeStride;
    } pitchLinear; /* meaningful when pixelMapping is PITCH_LINEAR */
};

} // namespace nvdla

#endif
