/*
 * dataflows.hpp - the dataflow classes. CmdProgram owns their objects and hands out references.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_DATAFLOWS_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_DATAFLOWS_HPP

#include <memory>

#include "../cupva_host_cpp_detail.h"
#include "parameter.hpp"
#include "pointers.hpp"

namespace cupva {

class CmdProgram;

namespace impl {

struct Conversion;

/** GranType's values as members of StaticDataFlow. A template, because C++14 lets only those define
 *  static members in a header. */
template <typename = void>
struct GranTypeNames {
    /** Transfers a tile. */
    static constexpr GranType TILE = GranType::TILE;
    /** Transfers all tiles of the first dimension. */
    static constexpr GranType DIM1 = GranType::DIM1;
    /** Transfers all tiles of the first and the second dimension. */
    static constexpr GranType DIM2 = GranType::DIM2;
    /** Transfers all tiles of the dataflow. */
    static constexpr GranType ALL = GranType::ALL;
};
template <typename T>
constexpr GranType GranTypeNames<T>::TILE;
template <typename T>
constexpr GranType GranTypeNames<T>::DIM1;
template <typename T>
constexpr GranType GranTypeNames<T>::DIM2;
template <typename T>
constexpr GranType GranTypeNames<T>::ALL;

/** Whether a dataflow can be linked and appended. */
template <bool primitive>
struct Primitive {
    static constexpr bool isPrimitive = primitive;
};
template <bool primitive>
constexpr bool Primitive<primitive>::isPrimitive;

} // namespace impl

/** What all dataflows have in common. One that no CmdProgram made answers every call with
 *  InvalidState. */
class BaseDataFlow {
public:
    /** Leaves `other` as one that no CmdProgram made; the program keeps what it stands for. */
    BaseDataFlow(BaseDataFlow &&other) noexcept : m_dataFlow(other.m_dataFlow)
    {
        other.m_dataFlow = nullptr;
    }

    BaseDataFlow(BaseDataFlow const &) = delete;
    BaseDataFlow &operator=(BaseDataFlow const &) = delete;
    ~BaseDataFlow() = default;

protected:
    BaseDataFlow() noexcept = default;

    template <typename... Values>
    void put(cupvaSimProperty_t const property, Values const... values)
    {
        int64_t const list[] = {static_cast<int64_t>(values)...};
        impl::check(CupvaSimDataFlowSet(m_dataFlow, property, list, sizeof...(values)));
    }

    void putHandler(Parameter const &handler)
    {
        impl::check(CupvaSimDataFlowSetHandler(m_dataFlow, handler.get()));
    }

    /** `src` and `dst` of dataflows whose pixels have the size of the pointer's type. */
    template <typename T, typename... Values>
    void putTyped(cupvaSimProperty_t const property, T const &pointer, Values const... values)
    {
        impl::Address const address = impl::addressOf(pointer);
        put(property, address.value, address.isOffsetPointer, values..., impl::pixelBytes<T>());
    }

    void putPointer(cupvaSimProperty_t const property, impl::Address const address)
    {
        put(property, address.value, address.isOffsetPointer);
    }

    void putPointers(cupvaSimProperty_t const property, impl::Address const one,
                     impl::Address const other)
    {
        put(property, one.value, one.isOffsetPointer, other.value, other.isOffsetPointer);
    }

    int32_t number() const
    {
        int32_t found = 0;
        impl::check(CupvaDataFlowGetId(m_dataFlow, &found));
        return found;
    }

    template <typename T>
    void link(T const &next, cupvaError_t (*join)(cupvaDataFlow_t, cupvaDataFlow_t))
    {
        BaseDataFlow const &other = next;
        impl::check(join(m_dataFlow, other.m_dataFlow));
    }

    cupvaDataFlow_t m_dataFlow = nullptr;

private:
    friend class CmdProgram;
    friend struct impl::Conversion;
};

/** A regular pattern of tiles in up to three dimensions on each side. Sizes in pixels of bpp()
 *  bytes. Fixed when the program's dataflows are compiled. */
class StaticDataFlow : public BaseDataFlow,
                       public impl::Primitive<true>,
                       public impl::GranTypeNames<> {
public:
    StaticDataFlow() noexcept = default;

    /** A dataflow of no program: it takes everything, and copy() brings it into a program's. */
    static StaticDataFlow Create()
    {
        cupvaDataFlow_t handle = nullptr;
        impl::check(CupvaSimDataFlowCreate(&handle, TYPE));
        StaticDataFlow made;
        made.m_own = std::shared_ptr<void>(handle, [](void *const owned) {
            static_cast<void>(CupvaSimDataFlowDestroy(static_cast<cupvaDataFlow_t>(owned)));
        });
        made.m_dataFlow = handle;
        return made;
    }

    /** Puts `next` with the list behind it at the end of this list; its transfers need triggers of
     *  their own. */
    template <typename T, typename std::enable_if<T::isPrimitive, bool>::type = true>
    StaticDataFlow &link(T &next)
    {
        BaseDataFlow::link(next, CupvaDataFlowLink);
        return *this;
    }

    /** As link(), but `next` runs on when what is in front of it is done, without the VPU. */
    template <typename T, typename std::enable_if<T::isPrimitive, bool>::type = true>
    StaticDataFlow &append(T &next)
    {
        BaseDataFlow::link(next, CupvaDataFlowAppend);
        return *this;
    }

    StaticDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    StaticDataFlow &bpp(int32_t const bpp)
    {
        put(CUPVA_SIM_BPP, bpp);
        return *this;
    }

    /** 0 x 0, or never called: a dummy transfer, which moves nothing but is triggered. */
    StaticDataFlow &tile(int32_t const width, int32_t const height = 1)
    {
        put(CUPVA_SIM_TILE, width, height);
        return *this;
    }

    /** Pixels of the tile in VMEM that are made up instead of read. One side of each axis. */
    StaticDataFlow &padDim(PadDirType const dir, int32_t const dim)
    {
        put(CUPVA_SIM_PAD_DIM, static_cast<uint8_t>(dir), dim);
        return *this;
    }

    StaticDataFlow &padVal(PadModeType const type, int32_t const val = 0)
    {
        put(CUPVA_SIM_PAD_VAL, type, val);
        return *this;
    }

    /** How much one trigger moves. */
    StaticDataFlow &granularity(GranType const type)
    {
        put(CUPVA_SIM_GRANULARITY, type);
        return *this;
    }

    StaticDataFlow &src(void const *const ptr)
    {
        putPointer(CUPVA_SIM_SRC, impl::addressOf(ptr));
        return *this;
    }

    StaticDataFlow &src(OffsetPointer<void const> const op)
    {
        putPointer(CUPVA_SIM_SRC, impl::addressOf(op));
        return *this;
    }

    /** Valid when the program's dataflows were compiled. */
    int32_t id() const { return number(); }

    StaticDataFlow &srcLinePitch(int32_t const linePitch)
    {
        put(CUPVA_SIM_SRC_LINE_PITCH, linePitch);
        return *this;
    }

    /** 1 to 256 iterations. Dimension 1 is the innermost: one iteration is a tile. */
    StaticDataFlow &srcDim1(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_SRC_DIM, 1, niter, adv);
        return *this;
    }

    StaticDataFlow &srcDim2(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_SRC_DIM, 2, niter, adv);
        return *this;
    }

    StaticDataFlow &srcDim3(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_SRC_DIM, 3, niter, adv);
        return *this;
    }

    /** Addresses wrap around in the `cbLen` pixels from `cbStart` pixels behind the pointer. */
    StaticDataFlow &srcCircularBuffer(int32_t const cbStart, int32_t const cbLen)
    {
        put(CUPVA_SIM_SRC_CIRCULAR, cbStart, cbLen);
        return *this;
    }

    /** `ptr2` gets the same pixels; both are in VMEM then, `ptr2` at a multiple of 64 bytes. */
    StaticDataFlow &dst(void *const ptr, void *const ptr2 = nullptr)
    {
        putPointers(CUPVA_SIM_DST, impl::addressOf(ptr), impl::addressOf(ptr2));
        return *this;
    }

    StaticDataFlow &dst(OffsetPointer<void> const op, OffsetPointer<void> const op2 = {})
    {
        putPointers(CUPVA_SIM_DST, impl::addressOf(op), impl::addressOf(op2));
        return *this;
    }

    StaticDataFlow &dstLinePitch(int32_t const linePitch)
    {
        put(CUPVA_SIM_DST_LINE_PITCH, linePitch);
        return *this;
    }

    StaticDataFlow &dstDim1(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_DST_DIM, 1, niter, adv);
        return *this;
    }

    StaticDataFlow &dstDim2(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_DST_DIM, 2, niter, adv);
        return *this;
    }

    StaticDataFlow &dstDim3(int32_t const niter, int32_t const adv)
    {
        put(CUPVA_SIM_DST_DIM, 3, niter, adv);
        return *this;
    }

    StaticDataFlow &dstCircularBuffer(int32_t const cbStart, int32_t const cbLen)
    {
        put(CUPVA_SIM_DST_CIRCULAR, cbStart, cbLen);
        return *this;
    }

    /** Takes over everything that `source` was told. */
    void copy(StaticDataFlow const &source)
    {
        impl::check(CupvaSimDataFlowCopy(m_dataFlow, source.m_dataFlow));
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_STATIC_DATAFLOW;

    std::shared_ptr<void> m_own; /* what Create() made */
};

/** Writes a table of the VPU's, address-value pairs, to the DMA's descriptors, one trigger each time.
 *  The table: see VMEM_DMA_CONFIG in cupva_device.h. */
class ConfigDataFlow : public BaseDataFlow, public impl::Primitive<true> {
public:
    ConfigDataFlow() noexcept = default;

    template <typename T, typename std::enable_if<T::isPrimitive, bool>::type = true>
    ConfigDataFlow &link(T &next)
    {
        BaseDataFlow::link(next, CupvaDataFlowLink);
        return *this;
    }

    template <typename T, typename std::enable_if<T::isPrimitive, bool>::type = true>
    ConfigDataFlow &append(T &next)
    {
        BaseDataFlow::link(next, CupvaDataFlowAppend);
        return *this;
    }

    ConfigDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    /** The table, in VMEM. */
    ConfigDataFlow &src(void const *const ptr)
    {
        putPointer(CUPVA_SIM_SRC, impl::addressOf(ptr));
        return *this;
    }

    int32_t id() const { return number(); }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_CONFIG_DATAFLOW;
};

/** Tiles that are loaded and stored again and again, at addresses that the VPU may change: up to 4
 *  nodes in each of up to 8 lanes, a tile each, all of them with one trigger. */
class DynamicDataFlow : public BaseDataFlow, public impl::Primitive<false> {
public:
    /** One tile. Copies refer to the same node. Sizes in pixels of bpp() bytes. */
    class Node {
    public:
        Node() noexcept = default;

        Node &tile(int32_t const width, int32_t const height = 1)
        {
            return put(CUPVA_SIM_TILE, {width, height});
        }

        Node &bpp(int32_t const bpp) { return put(CUPVA_SIM_BPP, {bpp}); }

        Node &padDim(PadDirType const dir, int32_t const dim)
        {
            return put(CUPVA_SIM_PAD_DIM, {static_cast<uint8_t>(dir), dim});
        }

        Node &padVal(PadModeType const type, int32_t const val = 0)
        {
            return put(CUPVA_SIM_PAD_VAL, {static_cast<int64_t>(type), val});
        }

        Node &src(void const *const ptr) { return side(CUPVA_SIM_SRC, impl::addressOf(ptr)); }

        Node &src(OffsetPointer<void const> const op)
        {
            return side(CUPVA_SIM_SRC, impl::addressOf(op));
        }

        Node &dst(void *const ptr) { return side(CUPVA_SIM_DST, impl::addressOf(ptr)); }

        Node &dst(OffsetPointer<void> const op) { return side(CUPVA_SIM_DST, impl::addressOf(op)); }

        Node &srcLinePitch(int32_t const linePitch)
        {
            return put(CUPVA_SIM_SRC_LINE_PITCH, {linePitch});
        }

        Node &dstLinePitch(int32_t const linePitch)
        {
            return put(CUPVA_SIM_DST_LINE_PITCH, {linePitch});
        }

    private:
        friend class DynamicDataFlow;

        Node &put(cupvaSimProperty_t const property, std::initializer_list<int64_t> const values)
        {
            impl::check(CupvaSimDataFlowSet(m_node, property, values.begin(),
                                            static_cast<int32_t>(values.size())));
            return *this;
        }

        Node &side(cupvaSimProperty_t const pointer, impl::Address const address)
        {
            return put(pointer, {address.value, address.isOffsetPointer});
        }

        cupvaDataFlow_t m_node = nullptr;
    };

    DynamicDataFlow() noexcept = default;

    /** The table in VMEM, DDF_TBL_SIZE or DDF_PARALLEL_TBL_SIZE words, and how many nodes there are. */
    void init(Parameter const &pmt, int32_t const nodeCount = 1, int32_t const laneCount = 1)
    {
        putHandler(pmt);
        put(CUPVA_SIM_NODES, nodeCount, laneCount);
    }

    DynamicDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    Node node(int32_t const nodeId, int32_t const laneId = 0)
    {
        Node found;
        impl::check(CupvaSimDynamicNode(m_dataFlow, nodeId, laneId, &found.m_node));
        return found;
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_DYNAMIC_DATAFLOW;
};

/** An image, or a vector, in tiles. src() reads into VMEM, dst() writes out of it. Sizes in pixels
 *  of the pointer's type. */
class RasterDataFlow : public BaseDataFlow, public impl::Primitive<false> {
public:
    RasterDataFlow() noexcept = default;

    RasterDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    /** A vector when there is no height. Line pitch 0: the width. */
    template <typename T>
    RasterDataFlow &src(T &&op, int32_t const width, int32_t const height = 1,
                        int32_t const linePitch = 0)
    {
        putTyped(CUPVA_SIM_IMAGE_SRC, decayed(op), width, height, linePitch);
        return *this;
    }

    template <typename T>
    RasterDataFlow &dst(T &&op, int32_t const width, int32_t const height = 1,
                        int32_t const linePitch = 0)
    {
        putTyped(CUPVA_SIM_IMAGE_DST, decayed(op), width, height, linePitch);
        return *this;
    }

    /** A plane of a surface: UnsupportedFeature, there are no surfaces. */
    template <typename T>
    RasterDataFlow &src(T &&, PlanarGeometry const &, int32_t const = 0)
    {
        impl::unsupported("RasterDataFlow::src of a surface: there are no surface buffers here");
    }

    template <typename T>
    RasterDataFlow &dst(T &&, PlanarGeometry const &, int32_t const = 0)
    {
        impl::unsupported("RasterDataFlow::dst of a surface: there are no surface buffers here");
    }

    /** In VMEM. One, two, or, in a ring, overlapping tiles: as many as there is room for. */
    template <typename T>
    RasterDataFlow &tileBuffer(T *const ptr)
    {
        putPointer(CUPVA_SIM_TILE_BUFFER, impl::addressOf(ptr));
        return *this;
    }

    template <typename T>
    RasterDataFlow &tileBuffer(T *const ptr, TransModeType const mode)
    {
        put(CUPVA_SIM_TRANS_MODE, mode);
        return tileBuffer(ptr);
    }

    RasterDataFlow &tile(int32_t const width, int32_t const height = 1)
    {
        put(CUPVA_SIM_TILE, width, height);
        return *this;
    }

    /** Pixels around each tile; the mode says what lies outside the image. */
    RasterDataFlow &halo(int32_t const num, PadModeType const mode = PadModeType::PAD_CONST,
                         int32_t const val = 0)
    {
        return halo(num, num, mode, val);
    }

    RasterDataFlow &halo(int32_t const numX, int32_t const numY,
                         PadModeType const mode = PadModeType::PAD_CONST, int32_t const val = 0)
    {
        put(CUPVA_SIM_HALO, numX, numY, mode, val);
        return *this;
    }

    RasterDataFlow &roi(int32_t const x, int32_t const y, int32_t const width, int32_t const height)
    {
        put(CUPVA_SIM_ROI, x, y, width, height);
        return *this;
    }

    /** Bits of ScanOrderType. */
    RasterDataFlow &scanOrder(uint32_t const order)
    {
        put(CUPVA_SIM_SCAN_ORDER, order);
        return *this;
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_RASTER_DATAFLOW;

    /** An array as the pointer to its first element. */
    template <typename T>
    static typename std::decay<T>::type decayed(T &op)
    {
        return op;
    }
};

/** A tensor (CHW) in three-dimensional tiles: depth first, then from left to right, then from top to
 *  bottom. src() reads into VMEM, dst() writes out of it. Sizes in pixels of the pointer's type. */
class TensorDataFlow : public BaseDataFlow, public impl::Primitive<false> {
public:
    TensorDataFlow() noexcept = default;

    TensorDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    /** Row stride 0: the width. Depth stride 0: the row stride times the height. */
    template <typename T>
    TensorDataFlow &src(T &&op, int32_t const width, int32_t const height, int32_t const depth,
                        int32_t const rowStride = 0, int32_t const depthStride = 0)
    {
        typename std::decay<T>::type const pointer = op;
        putTyped(CUPVA_SIM_TENSOR_SRC, pointer, width, height, depth, rowStride, depthStride);
        return *this;
    }

    template <typename T>
    TensorDataFlow &dst(T &&op, int32_t const width, int32_t const height, int32_t const depth,
                        int32_t const rowStride = 0, int32_t const depthStride = 0)
    {
        typename std::decay<T>::type const pointer = op;
        putTyped(CUPVA_SIM_TENSOR_DST, pointer, width, height, depth, rowStride, depthStride);
        return *this;
    }

    /** Pixels around each tile in width and height. With 0 the mode says how tiles at the edges are
     *  filled up. */
    TensorDataFlow &halo(int32_t const num, PadModeType const mode = PadModeType::PAD_CONST,
                         int32_t const val = 0)
    {
        return halo(num, num, mode, val);
    }

    TensorDataFlow &halo(int32_t const numX, int32_t const numY,
                         PadModeType const mode = PadModeType::PAD_CONST, int32_t const val = 0)
    {
        put(CUPVA_SIM_HALO, numX, numY, mode, val);
        return *this;
    }

    /** Of a source it may be larger than the tensor, as long as every tile touches the tensor. */
    TensorDataFlow &roi(int32_t const x, int32_t const y, int32_t const width, int32_t const height)
    {
        put(CUPVA_SIM_ROI, x, y, width, height);
        return *this;
    }

    /** Depth 0: the tensor's. */
    TensorDataFlow &tile(int32_t const width, int32_t const height, int32_t const depth = 0)
    {
        put(CUPVA_SIM_TILE, width, height, depth);
        return *this;
    }

    /** In VMEM; two tiles when there is room for them. */
    template <typename T>
    TensorDataFlow &tileBuffer(T *const ptr)
    {
        putPointer(CUPVA_SIM_TILE_BUFFER, impl::addressOf(ptr));
        return *this;
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_TENSOR_DATAFLOW;
};

/** One transfer of a SequenceDataFlow. Copies refer to the same transfer. Sizes in bytes, or in
 *  pixels of bpp(). */
class SequenceDataFlowTransfer {
public:
    SequenceDataFlowTransfer() noexcept = default;

    SequenceDataFlowTransfer &bpp(int32_t const bpp) { return put(CUPVA_SIM_BPP, {bpp}); }

    SequenceDataFlowTransfer &tile(int32_t const width, int32_t const height = 1)
    {
        return put(CUPVA_SIM_TILE, {width, height});
    }

    SequenceDataFlowTransfer &mode(TransferModeType const mode)
    {
        return put(CUPVA_SIM_TRANSFER_MODE, {static_cast<int64_t>(mode)});
    }

    SequenceDataFlowTransfer &src(void const *const ptr, int32_t const linePitch = 0)
    {
        return side(CUPVA_SIM_SRC, CUPVA_SIM_SRC_LINE_PITCH, impl::addressOf(ptr), linePitch);
    }

    SequenceDataFlowTransfer &src(OffsetPointer<void const> const op, int32_t const linePitch = 0)
    {
        return side(CUPVA_SIM_SRC, CUPVA_SIM_SRC_LINE_PITCH, impl::addressOf(op), linePitch);
    }

    SequenceDataFlowTransfer &dst(void *const ptr, int32_t const linePitch = 0)
    {
        return side(CUPVA_SIM_DST, CUPVA_SIM_DST_LINE_PITCH, impl::addressOf(ptr), linePitch);
    }

    SequenceDataFlowTransfer &dst(OffsetPointer<void> const op, int32_t const linePitch = 0)
    {
        return side(CUPVA_SIM_DST, CUPVA_SIM_DST_LINE_PITCH, impl::addressOf(op), linePitch);
    }

    SequenceDataFlowTransfer &srcDim1(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_SRC_DIM, {1, niter, adv});
    }

    SequenceDataFlowTransfer &srcDim2(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_SRC_DIM, {2, niter, adv});
    }

    SequenceDataFlowTransfer &srcDim3(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_SRC_DIM, {3, niter, adv});
    }

    SequenceDataFlowTransfer &dstDim1(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_DST_DIM, {1, niter, adv});
    }

    SequenceDataFlowTransfer &dstDim2(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_DST_DIM, {2, niter, adv});
    }

    SequenceDataFlowTransfer &dstDim3(int32_t const niter, int32_t const adv)
    {
        return put(CUPVA_SIM_DST_DIM, {3, niter, adv});
    }

    /** Takes over everything that `source` was told; assignment would only make another name. */
    void copy(SequenceDataFlowTransfer const &source)
    {
        impl::check(CupvaSimDataFlowCopy(m_transfer, source.m_transfer));
    }

private:
    friend class SequenceDataFlow;

    SequenceDataFlowTransfer &put(cupvaSimProperty_t const property,
                                  std::initializer_list<int64_t> const values)
    {
        impl::check(CupvaSimDataFlowSet(m_transfer, property, values.begin(),
                                        static_cast<int32_t>(values.size())));
        return *this;
    }

    SequenceDataFlowTransfer &side(cupvaSimProperty_t const pointer, cupvaSimProperty_t const pitch,
                                   impl::Address const address, int32_t const linePitch)
    {
        put(pointer, {address.value, address.isOffsetPointer});
        return linePitch == 0 ? *this : put(pitch, {linePitch});
    }

    cupvaDataFlow_t m_transfer = nullptr;
};

/** Transfers one after the other, again and again. */
class SequenceDataFlow : public BaseDataFlow, public impl::Primitive<false> {
public:
    SequenceDataFlow() noexcept = default;

    SequenceDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    SequenceDataFlowTransfer addTransfer()
    {
        SequenceDataFlowTransfer made;
        impl::check(CupvaSimSequenceAddTransfer(m_dataFlow, &made.m_transfer));
        return made;
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_SEQUENCE_DATAFLOW;
};

/** Tiles at positions that VPU code chooses: gathered from src(), or scattered to dst(). */
class GatherScatterDataFlow : public BaseDataFlow, public impl::Primitive<false> {
public:
    GatherScatterDataFlow() noexcept = default;

    GatherScatterDataFlow &handler(Parameter const &handler)
    {
        putHandler(handler);
        return *this;
    }

    /** The most that one trigger moves: 1 to 32. */
    GatherScatterDataFlow &numTilesPerTrigger(int32_t const count)
    {
        put(CUPVA_SIM_TILES_PER_TRIGGER, count);
        return *this;
    }

    /** What an OffsetPointer's memory is; the second parameter is of surfaces. */
    GatherScatterDataFlow &bufferType(mem::BufferType const type, bool const = false)
    {
        raw(type);
        return *this;
    }

    GatherScatterDataFlow &bpp(int32_t const bpp)
    {
        put(CUPVA_SIM_BPP, bpp);
        return *this;
    }

    GatherScatterDataFlow &src(void const *const ptr)
    {
        putPointer(CUPVA_SIM_SRC, impl::addressOf(ptr));
        return *this;
    }

    GatherScatterDataFlow &src(OffsetPointer<void const> const op,
                               mem::BufferType const type = mem::BufferType::RAW)
    {
        raw(type);
        putPointer(CUPVA_SIM_SRC, impl::addressOf(op));
        return *this;
    }

    GatherScatterDataFlow &dst(void *const ptr)
    {
        putPointer(CUPVA_SIM_DST, impl::addressOf(ptr));
        return *this;
    }

    GatherScatterDataFlow &dst(OffsetPointer<void> const op,
                               mem::BufferType const type = mem::BufferType::RAW)
    {
        raw(type);
        putPointer(CUPVA_SIM_DST, impl::addressOf(op));
        return *this;
    }

    /** The memory behind the pointer, in pixels; what lies outside is padded or left out. */
    GatherScatterDataFlow &extents(int32_t const width, int32_t const height,
                                   int32_t const linePitch = 0)
    {
        put(CUPVA_SIM_EXTERNAL, width, height, linePitch == 0 ? width : linePitch);
        return *this;
    }

    GatherScatterDataFlow &tile(int32_t const width, int32_t const height)
    {
        put(CUPVA_SIM_TILE, width, height);
        return *this;
    }

    GatherScatterDataFlow &padVal(PadModeType const type, int32_t const val = 0)
    {
        put(CUPVA_SIM_PAD_VAL, type, val);
        return *this;
    }

private:
    friend class CmdProgram;
    static constexpr cupvaDataFlowType_t TYPE = CUPVA_GATHER_SCATTER_DATAFLOW;

    static void raw(mem::BufferType const type)
    {
        if (type != mem::BufferType::RAW)
            impl::unsupported("GatherScatterDataFlow of a surface: there are no surface buffers here");
    }
};

} // namespace cupva

#endif
