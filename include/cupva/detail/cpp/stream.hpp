/*
 * stream.hpp - streams and command buffers.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_STREAM_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_STREAM_HPP

#include "commands.hpp"

namespace cupva {

/** None, OperationPending until the command has ended, or what it failed with. */
inline Error CheckCommandStatus(CmdStatus const status)
{
    cupvaError_t found = CUPVA_ERROR_NONE;
    impl::check(CupvaCheckCommandStatus(status, &found));
    return static_cast<Error>(found);
}

/** Commands that are submitted together, many times. They must outlive the buffer. */
class CmdBuffer {
public:
    CmdBuffer() noexcept = default;

    /** `status`: a place for each command, filled by each submission; may be nullptr. */
    static CmdBuffer Create(std::initializer_list<BaseCmd const *> const cmds,
                            CmdStatus *const status = nullptr, OrderType const order = IN_ORDER)
    {
        return Create(BaseCmdList(cmds), status, order);
    }

    static CmdBuffer Create(BaseCmd const *const *const cmds, CmdStatus *const status,
                            int32_t const count, OrderType const order = IN_ORDER)
    {
        return Create(BaseCmdList(cmds, count), status, order);
    }

    static CmdBuffer Create(BaseCmdList const &cmds, CmdStatus *const status = nullptr,
                            OrderType const order = IN_ORDER)
    {
        cupvaCmdBuffer_t made = nullptr;
        impl::check(CupvaCmdBufferCreate(&made, cmds.m_cmds.data(), cmds.getSize(), status,
                                         static_cast<cupvaOrderType_t>(order)));
        CmdBuffer result;
        result.m_owner = Owner(made);
        return result;
    }

    void finalize() { m_owner.finalize(); }

private:
    friend class Stream;
    friend struct impl::Conversion;
    using Owner = impl::Owner<cupvaCmdBuffer_t, CupvaCmdBufferDestroy>;
    Owner m_owner;
};

namespace impl {
struct Synchronous;
}

/** A queue of submissions to one engine. Timeouts in microseconds, negative for none. */
class Stream {
public:
    Stream() noexcept = default;

    static Stream Create(EngineType const engine = PVA0, AffinityType const affinity = VPU_ANY)
    {
        cupvaStream_t made = nullptr;
        impl::check(CupvaStreamCreate(&made, static_cast<cupvaEngineType_t>(engine),
                                      static_cast<cupvaAffinityType_t>(affinity)));
        Stream result;
        result.m_owner = Owner(made);
        return result;
    }

    /** `status`: a place for each command; may be nullptr. At most 256 commands. */
    void submit(std::initializer_list<BaseCmd const *> const cmds, CmdStatus *const status = nullptr,
                OrderType const order = IN_ORDER, int32_t const executionTimeout = -1,
                int32_t const submitTimeout = -1)
    {
        submit(BaseCmdList(cmds), status, order, executionTimeout, submitTimeout);
    }

    void submit(BaseCmd const *const *const cmds, CmdStatus *const status, int32_t const count,
                OrderType const order = IN_ORDER, int32_t const executionTimeout = -1,
                int32_t const submitTimeout = -1)
    {
        submit(BaseCmdList(cmds, count), status, order, executionTimeout, submitTimeout);
    }

    void submit(BaseCmdList const &cmds, CmdStatus *const status = nullptr,
                OrderType const order = IN_ORDER, int32_t const executionTimeout = -1,
                int32_t const submitTimeout = -1)
    {
        impl::check(CupvaStreamSubmit(handle(), cmds.m_cmds.data(), status, cmds.getSize(),
                                      static_cast<cupvaOrderType_t>(order), executionTimeout,
                                      submitTimeout));
        waitIfSynchronous();
    }

    void submit(CmdBuffer const &buffer, int32_t const executionTimeout = -1,
                int32_t const submitTimeout = -1)
    {
        impl::check(CupvaStreamSubmitCmdBuffer(handle(), buffer.m_owner.get(), executionTimeout,
                                               submitTimeout));
        waitIfSynchronous();
    }

    /** Waits for everything that was submitted. */
    void synchronize() { impl::check(CupvaStreamSynchronize(handle())); }

    /** For diagnostics. */
    void setName(char_t const *const name) { impl::check(CupvaStreamSetName(handle(), name)); }

    void finalize() { m_owner.finalize(); }

private:
    friend struct impl::Synchronous;
    friend struct impl::Conversion;

    cupvaStream_t handle() const noexcept { return m_owner.get(); }

    void waitIfSynchronous()
    {
        if (m_synchronous)
            synchronize();
    }

    using Owner = impl::Owner<cupvaStream_t, CupvaStreamDestroy>;
    Owner m_owner;
    bool m_synchronous = false;
};

} // namespace cupva

#endif
