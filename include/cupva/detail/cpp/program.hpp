/*
 * program.hpp - contexts, executables and programs.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_PROGRAM_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_PROGRAM_HPP

#include <memory>
#include <vector>

#include "commands.hpp"
#include "dataflows.hpp"
#include "parameter.hpp"

namespace cupva {

/** What all other objects belong to. Each thread has a current one; a program that makes none gets
 *  a default one. */
class Context {
public:
    Context() noexcept = default;

    /** Makes a context, and makes it current for this thread. */
    static Context Create(uint32_t const engineMask = config::ENGINE_MASK_ALL)
    {
        cupvaContext_t made = nullptr;
        impl::check(CupvaContextCreate(&made, engineMask));
        Context result;
        result.m_owner = Owner(made);
        result.m_context = made;
        return result;
    }

    /** This thread's context. What is returned does not own it. */
    static Context GetCurrent()
    {
        Context result;
        impl::check(CupvaContextGetCurrent(&result.m_context));
        return result;
    }

    static void SetCurrent(Context const &context)
    {
        if (context.m_context == nullptr)
            throw Exception(Error::UninitializedObject, "the Context was not made with Create()");
        impl::check(CupvaContextSetCurrent(context.m_context));
    }

    void finalize()
    {
        m_context = nullptr;
        m_owner.finalize();
    }

private:
    friend struct impl::Conversion;
    using Owner = impl::Owner<cupvaContext_t, CupvaContextDestroy>;
    Owner m_owner;
    cupvaContext_t m_context = nullptr;
};

/** Health of the current context. */
inline Status GetStatus()
{
    cupvaStatus_t found{};
    impl::check(CupvaGetStatus(&found));
    char_t const *const name = found.streamName == nullptr ? "" : found.streamName;
    return {static_cast<Error>(found.err), found.stream, found.submissionsSinceError, found.command,
            name};
}

/** A VPU executable that the build embedded: PVA_EXECUTABLE_DATA, PVA_EXECUTABLE_SIZE. It must
 *  outlive its programs. */
class Executable {
public:
    Executable() noexcept = default;

    static Executable Create(void const *const data, int32_t const size)
    {
        cupvaExecutable_t made = nullptr;
        impl::check(CupvaExecutableCreate(&made, data, size));
        Executable result;
        result.m_owner = Owner(made);
        return result;
    }

    void finalize() { m_owner.finalize(); }

private:
    friend class CmdProgram;
    friend struct impl::Conversion;
    using Owner = impl::Owner<cupvaExecutable_t, CupvaExecutableDestroy>;
    Owner m_owner;
};

/** A VPU program with its parameters and dataflows; can be submitted many times. */
class CmdProgram : public BaseCmd {
public:
    CmdProgram() noexcept = default;

    static CmdProgram Create(Executable const &executable)
    {
        cupvaExecutable_t const given = executable.m_owner.get();
        if (given == nullptr)
            throw Exception(Error::UninitializedObject, "the Executable was not made with Create()");
        return make(given);
    }

    /** A program without VPU code: its dataflows only move data. */
    static CmdProgram Create() { return make(nullptr); }

    /** A variable that the executable exports. Throws InvalidArgument for another name. */
    Parameter operator[](char const *const symbolName)
    {
        Parameter found;
        impl::check(CupvaCmdProgramGetParameter(&m_cmd, &found.m_parameter, symbolName));
        return found;
    }

    /** A dataflow that runs by itself, or at the VPU's triggers. Dataflows of different phases never
     *  run at the same time; the weight is its share of the DMA's buffers. */
    template <typename T>
    T &addDataFlowHead(int32_t const phase = 0, float32_t const weight = 1.0F)
    {
        cupvaDataFlow_t made = nullptr;
        impl::check(CupvaCmdProgramAddDataFlowHead(&m_cmd, &made, T::TYPE, phase, weight));
        return keep<T>(made);
    }

    /** A head that uses the DMA resources of another one, which it never runs beside. */
    template <typename T>
    T &addDataFlowHeadShared(BaseDataFlow const &shared)
    {
        cupvaDataFlow_t made = nullptr;
        impl::check(
            CupvaCmdProgramAddDataFlowHeadShared(&m_cmd, &made, T::TYPE, shared.m_dataFlow));
        return keep<T>(made);
    }

    /** A dataflow to be linked or appended. */
    template <typename T>
    T &addDataFlow()
    {
        cupvaDataFlow_t made = nullptr;
        impl::check(CupvaCmdProgramAddDataFlow(&m_cmd, &made, T::TYPE));
        return keep<T>(made);
    }

    /** Checks all dataflows, and prepares them; once before the first submission. */
    void compileDataFlows() { impl::check(CupvaCmdProgramCompileDataFlows(&m_cmd)); }

    /** Takes over the new bases of OffsetPointers. */
    void updateDataFlows() { impl::check(CupvaCmdProgramUpdateDataFlows(&m_cmd)); }

    /** Bytes of L2SRAM that the program uses. */
    void setL2Size(int32_t const size) { impl::check(CupvaCmdProgramSetL2Size(&m_cmd, size)); }

    void finalize()
    {
        m_dataFlows.clear();
        BaseCmd::finalize();
    }

private:
    static CmdProgram make(cupvaExecutable_t const executable)
    {
        CmdProgram made;
        impl::check(CupvaCmdProgramCreate(&made.m_cmd, executable));
        return made;
    }

    template <typename T>
    T &keep(cupvaDataFlow_t const handle)
    {
        auto const owned = std::make_shared<T>();
        owned->m_dataFlow = handle;
        m_dataFlows.push_back(owned);
        return *owned;
    }

    /* Their addresses stay when the program is moved: users hold references. */
    std::vector<std::shared_ptr<void>> m_dataFlows;
};

} // namespace cupva

#endif
