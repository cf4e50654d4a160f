/*
 * cupva_host_conversions.hpp - objects of the C++ interface for the C interface.
 *
 * With std::move() the object's resources go over to the C object, which is destroyed by the C
 * interface; what can be copied is copied. What `output` held before is overwritten. An object that
 * was not created gives an empty C object.
 */
#ifndef CUPVA_HOST_CONVERSIONS_HPP
#define CUPVA_HOST_CONVERSIONS_HPP

#include "cupva_host.hpp"

#include "cupva_host.h"
#include "cupva_host_types.h"

namespace cupva {

namespace impl {

struct Conversion {
    static cupvaFence_t of(Fence &fence) noexcept { return fence.m_fence; }
    static cupvaCmd_t of(BaseCmd &cmd) noexcept { return std::exchange(cmd.m_cmd, cupvaCmd_t{}); }
    static cupvaDataFlow_t of(BaseDataFlow &dataFlow) noexcept { return dataFlow.m_dataFlow; }

    /** The current context that GetCurrent() returned is owned elsewhere. */
    static cupvaContext_t of(Context &context) noexcept
    {
        context.m_owner.release();
        return std::exchange(context.m_context, nullptr);
    }

    /* For the other headers of this interface. */
    static cupvaFence_t &in(Fence &fence) noexcept { return fence.m_fence; }
    static cupvaFence_t const &in(Fence const &fence) noexcept { return fence.m_fence; }
    static std::vector<cupvaCmd_t const *> const &list(BaseCmdList const &commands) noexcept
    {
        return commands.m_cmds;
    }
    static cupvaCmdBuffer_t handle(CmdBuffer const &buffer) noexcept { return buffer.m_owner.get(); }
    static cupvaContext_t handle(Context const &context) noexcept { return context.m_context; }

    static SyncObj syncObj(cupvaSyncObj_t const handle)
    {
        SyncObj made;
        made.m_owner = SyncObj::Owner(handle);
        return made;
    }

    static Stream stream(cupvaStream_t const handle)
    {
        Stream made;
        made.m_owner = Stream::Owner(handle);
        return made;
    }

    template <typename T>
    static auto of(T &object) noexcept -> decltype(object.m_owner.release())
    {
        return object.m_owner.release();
    }
};

} // namespace impl

inline void ConvertTo(Fence input, cupvaFence_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

inline void ConvertTo(Parameter input, cupvaParameter_t &output) noexcept { output = *input.get(); }

/** The C++ object of a CmdProgram keeps the objects of its dataflows; it must not go before they
 *  were used for the last time. */
inline void ConvertTo(BaseCmd input, cupvaCmd_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

/** Both are bound to other memory by the C++ object's setBase(). */
inline void ConvertTo(OffsetPointer<void const> input, cupvaOffsetPointer_t &output) noexcept
{
    cupvaOffsetPointer_t const *const place = input.handle();
    output = place == nullptr ? cupvaOffsetPointer_t{} : *place;
}

inline void ConvertTo(Context input, cupvaContext_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

inline void ConvertTo(CmdBuffer input, cupvaCmdBuffer_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

inline void ConvertTo(Executable input, cupvaExecutable_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

inline void ConvertTo(Stream input, cupvaStream_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

/** Belongs to its program still. */
inline void ConvertTo(BaseDataFlow input, cupvaDataFlow_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

inline void ConvertTo(SyncObj input, cupvaSyncObj_t &output) noexcept
{
    output = impl::Conversion::of(input);
}

} // namespace cupva

#endif
