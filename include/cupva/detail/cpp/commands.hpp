/*
 * commands.hpp - sync objects, fences, and what a Stream can be given except programs.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_COMMANDS_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_COMMANDS_HPP

#include <initializer_list>
#include <utility>
#include <vector>

#include "pointers.hpp"

namespace cupva {

class Stream;
class CmdBuffer;

namespace impl {

/** Hands objects over to the C interface: cupva_host_conversions.hpp. */
struct Conversion;

/** Owns a handle of the C interface; empty when it was default-constructed or moved from. */
template <typename Handle, cupvaError_t (*destroy)(Handle)>
class Owner {
public:
    Owner() noexcept = default;
    explicit Owner(Handle const handle) noexcept : m_handle(handle) {}
    Owner(Owner &&other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)) {}

    Owner &operator=(Owner &&other) noexcept
    {
        if (this != &other) {
            drop();
            m_handle = std::exchange(other.m_handle, nullptr);
        }
        return *this;
    }

    Owner(Owner const &) = delete;
    Owner &operator=(Owner const &) = delete;
    ~Owner() { drop(); }

    Handle get() const noexcept { return m_handle; }

    /** Leaves the handle to the caller. */
    Handle release() noexcept { return std::exchange(m_handle, nullptr); }

    /** Destroys now; throws what a destructor would have to swallow. */
    void finalize()
    {
        if (m_handle != nullptr)
            check(destroy(std::exchange(m_handle, nullptr)));
    }

private:
    void drop() noexcept
    {
        if (m_handle != nullptr)
            static_cast<void>(destroy(std::exchange(m_handle, nullptr)));
    }

    Handle m_handle = nullptr;
};

} // namespace impl

/** A counter that fences refer to. At most 512 fences of one may be pending or asked for their time.
 */
class SyncObj {
public:
    SyncObj() noexcept = default;

    /** isTimeStamp: Fence::getTimestamp() will be asked. */
    static SyncObj Create(bool const isTimeStamp = false,
                          SyncClientType const clientType = SIGNALER_WAITER,
                          SyncWaitMode const waitMode = YIELD)
    {
        cupvaSyncObj_t made = nullptr;
        impl::check(CupvaSyncObjCreate(&made, isTimeStamp,
                                       static_cast<cupvaSyncClientType_t>(clientType),
                                       static_cast<cupvaSyncWaitMode_t>(waitMode)));
        SyncObj result;
        result.m_owner = Owner(made);
        return result;
    }

    void finalize() { m_owner.finalize(); }

private:
    friend class Fence;
    friend struct impl::Conversion;
    using Owner = impl::Owner<cupvaSyncObj_t, CupvaSyncObjDestroy>;
    Owner m_owner;
};

/** A point in time of a SyncObj. CmdRequestFences gives it its meaning when it is submitted. */
class Fence {
public:
    Fence() noexcept = default;

    /** A fence of an uninitialised SyncObj is itself uninitialised. */
    explicit Fence(SyncObj &syncObj) noexcept
    {
        if (CupvaFenceInit(&m_fence, syncObj.m_owner.get()) != CUPVA_ERROR_NONE)
            m_fence = {};
    }

    Fence(Fence &&other) noexcept : m_fence(std::exchange(other.m_fence, cupvaFence_t{})) {}

    Fence &operator=(Fence &&other) noexcept
    {
        if (this != &other)
            m_fence = std::exchange(other.m_fence, cupvaFence_t{});
        return *this;
    }

    Fence(Fence const &) = delete;
    Fence &operator=(Fence const &) = delete;
    ~Fence() = default;

    /** False when it did not expire in so many microseconds; negative: waits for ever. Throws
     *  InvalidState for a fence that was never submitted. */
    bool wait(int64_t const timeout = -1) const
    {
        bool expired = false;
        impl::check(CupvaFenceWait(&m_fence, timeout, &expired));
        return expired;
    }

    /** Nanoseconds. Needs SyncObj::Create(true), and a fence that has expired. */
    uint64_t getTimestamp() const
    {
        uint64_t found = 0;
        impl::check(CupvaFenceGetTimeStamp(&m_fence, &found));
        return found;
    }

    void getTimestamp(uint64_t &timeStamp) const { timeStamp = getTimestamp(); }

private:
    friend class CmdRequestFences;
    friend class CmdWaitOnFences;
    friend struct impl::Conversion;

    cupvaFence_t m_fence{};
};

static_assert(sizeof(Fence) == sizeof(cupvaFence_t), "an array of Fence is one of cupvaFence_t");

/** What a Stream can be given. */
class BaseCmd {
public:
    BaseCmd() noexcept = default;
    BaseCmd(BaseCmd &&other) noexcept : m_cmd(std::exchange(other.m_cmd, cupvaCmd_t{})) {}

    BaseCmd &operator=(BaseCmd &&other) noexcept
    {
        if (this != &other) {
            drop();
            m_cmd = std::exchange(other.m_cmd, cupvaCmd_t{});
        }
        return *this;
    }

    BaseCmd(BaseCmd const &) = delete;
    BaseCmd &operator=(BaseCmd const &) = delete;
    ~BaseCmd() { drop(); }

    /** Destroys the command now; throws what the destructor would have to swallow. */
    void finalize()
    {
        if (m_cmd.data[0] == 0)
            return;
        impl::check(CupvaCmdDestroy(&m_cmd));
        m_cmd = {};
    }

protected:
    cupvaCmd_t m_cmd{};

private:
    friend class BaseCmdList;
    friend struct impl::Conversion;

    void drop() noexcept
    {
        if (m_cmd.data[0] != 0)
            static_cast<void>(CupvaCmdDestroy(&m_cmd));
    }
};

using Cmd = BaseCmd;

/** Commands in the order in which they will be submitted. The commands must outlive the list. */
class BaseCmdList {
public:
    BaseCmdList() noexcept = default;

    BaseCmdList(std::initializer_list<BaseCmd const *> const cmds)
    {
        for (BaseCmd const *cmd : cmds)
            add(cmd);
    }

    BaseCmdList(BaseCmd const *const *const cmds, int32_t const count)
    {
        if (cmds == nullptr || count < 0)
            throw Exception(Error::InvalidArgument,
                            "a list of commands needs an array and the number of its elements");
        for (int32_t i = 0; i < count; i++)
            add(cmds[i]);
    }

    BaseCmdList(BaseCmdList &&) noexcept = default;
    BaseCmdList &operator=(BaseCmdList &&) noexcept = default;
    BaseCmdList(BaseCmdList const &) = delete;
    BaseCmdList &operator=(BaseCmdList const &) = delete;
    ~BaseCmdList() = default;

    int32_t getSize() const noexcept { return static_cast<int32_t>(m_cmds.size()); }

    void finalize() { m_cmds.clear(); }

private:
    friend class CmdBuffer;
    friend class Stream;
    friend struct impl::Conversion;

    void add(BaseCmd const *const cmd)
    {
        if (cmd == nullptr)
            throw Exception(Error::InvalidArgument,
                            "command " + std::to_string(m_cmds.size()) + " is nullptr");
        m_cmds.push_back(&cmd->m_cmd);
    }

    std::vector<cupvaCmd_t const *> m_cmds;
};

/** Gives fences their meaning: they expire when the commands before it have ended. The fences are
 *  kept by reference. */
class CmdRequestFences : public BaseCmd {
public:
    CmdRequestFences() noexcept = default;

    explicit CmdRequestFences(Fence &fence) : CmdRequestFences(&fence, 1) {}

    CmdRequestFences(Fence *const fences, int32_t const count)
    {
        impl::check(CupvaCmdRequestFencesInit(
            &m_cmd, fences == nullptr ? nullptr : &fences->m_fence, count));
    }

    template <std::size_t N>
    explicit CmdRequestFences(Fence (&fences)[N]) : CmdRequestFences(fences, static_cast<int32_t>(N))
    {
    }
};

/** Holds up the commands behind it until fences have expired. The fences are kept by reference. */
class CmdWaitOnFences : public BaseCmd {
public:
    CmdWaitOnFences() noexcept = default;

    explicit CmdWaitOnFences(Fence const &fence) : CmdWaitOnFences(&fence, 1) {}

    CmdWaitOnFences(Fence const *const fences, int32_t const count)
    {
        impl::check(CupvaCmdWaitOnFencesInit(
            &m_cmd, fences == nullptr ? nullptr : &fences->m_fence, count));
    }

    template <std::size_t N>
    explicit CmdWaitOnFences(Fence const (&fences)[N])
        : CmdWaitOnFences(fences, static_cast<int32_t>(N))
    {
    }
};

/** Ends when all commands before it in the submission have ended. */
class CmdBarrier : public BaseCmd {
public:
    CmdBarrier() { impl::check(CupvaCmdBarrierInit(&m_cmd)); }
};

/** Copies between DRAM and L2SRAM. */
class CmdMemcpy : public BaseCmd {
public:
    CmdMemcpy() noexcept = default;

    /** Pointers are device pointers or OffsetPointers. */
    static CmdMemcpy Create(impl::Target const dst, impl::Source const src, std::size_t const bytes)
    {
        CmdMemcpy made;
        cupvaCmdMemcpyBufferParams_t const params = both(dst, src);
        impl::check(CupvaCmdMemcpyCreate(&made.m_cmd, &params, bytes));
        return made;
    }

    /** `height` rows of `width` bytes; pitches in bytes. */
    static CmdMemcpy Create(impl::Target const dst, std::size_t const dstLinePitch,
                            impl::Source const src, std::size_t const srcLinePitch,
                            std::size_t const width, std::size_t const height)
    {
        CmdMemcpy made;
        cupvaCmdMemcpyBufferParams_t const params = both(dst, src);
        impl::check(CupvaCmdMemcpyCreate2D(&made.m_cmd, &params, dstLinePitch, srcLinePitch, width,
                                           height));
        return made;
    }

private:
    static cupvaCmdMemcpyBufferParams_t both(impl::Target const &dst, impl::Source const &src)
    {
        return {src.pointer, src.offset, dst.pointer, dst.offset};
    }
};

/** Coherence of L2SRAM and DRAM; UnsupportedFeature. */
class CmdL2Ops : public BaseCmd {
public:
    CmdL2Ops() noexcept = default;

    static CmdL2Ops Create(mem::L2OperationType const operation, void *const devicePtr)
    {
        CmdL2Ops made;
        impl::check(CupvaCmdL2OpsCreate(
            &made.m_cmd, static_cast<cupvaL2OperationType_t>(operation), devicePtr));
        return made;
    }
};

/** Diagnostics for permanent faults; UnsupportedFeature. */
class CmdPFSD : public BaseCmd {
public:
    CmdPFSD() noexcept = default;

    static CmdPFSD Create(uint32_t const index)
    {
        CmdPFSD made;
        impl::check(CupvaCmdPFSDCreate(&made.m_cmd, index));
        return made;
    }
};

inline uint32_t GetPFSDTestCount()
{
    uint32_t found = 0;
    impl::check(CupvaGetPFSDTestCount(&found));
    return found;
}

} // namespace cupva

#endif
