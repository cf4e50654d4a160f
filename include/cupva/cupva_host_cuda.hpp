/*
 * cupva_host_cuda.hpp - PVA commands in CUDA streams, CUDA memory for the PVA.
 *
 * PVA commands begin when all that was put into the CUDA stream before them has ended, and what is
 * put there later waits for them.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_HPP

#include "cupva_host.hpp"
#include "cupva_host_conversions.hpp"
#include "cupva_host_cuda.h"

namespace cupva {
namespace cuda {

namespace mem {

/** A device pointer of the PVA for memory of cudaMalloc; mem::Free gives it up again. */
inline void *Import(void *const cudaDevPtr, int64_t const size,
                    cupva::mem::AccessType const access = cupva::mem::READ_WRITE)
{
    void *found = nullptr;
    cupva::impl::check(CupvaCudaMemImport(&found, cudaDevPtr, size,
                                          static_cast<cupvaMemAccessType_t>(access)));
    return found;
}

} // namespace mem

/** Whether PVA commands can be put into CUDA streams. */
inline bool ContextSupportsCuda() noexcept
{
    bool found = false;
    return CupvaCudaContextSupportsCuda(nullptr, &found) == CUPVA_ERROR_NONE && found;
}

inline bool ContextSupportsCuda(Context const &context) noexcept
{
    bool found = false;
    cupvaContext_t const handle = cupva::impl::Conversion::handle(context);
    return CupvaCudaContextSupportsCuda(handle, &found) == CUPVA_ERROR_NONE && found;
}

/** From now on the other functions of this file throw CudaDisabled. */
inline void ForceDisableSupport() { cupva::impl::check(CupvaCudaForceDisableSupport()); }

/** A PVA stream whose work lies in a CUDA stream. That must be a non-blocking one. */
inline Stream CreateStream(cudaStream_t const cudaStream, EngineType const absEngine = PVA0,
                           AffinityType const vpuAffinity = VPU_ANY)
{
    cupvaStream_t made = nullptr;
    cupva::impl::check(CupvaCudaCreateStream(&made, cudaStream,
                                             static_cast<cupvaEngineType_t>(absEngine),
                                             static_cast<cupvaAffinityType_t>(vpuAffinity)));
    return cupva::impl::Conversion::stream(made);
}

/** The VPU of what is submitted to a CUDA stream; at first any. */
inline void SetAffinity(cudaStream_t const cudaStream, AffinityType const vpuAffinity)
{
    cupva::impl::check(
        CupvaCudaStreamSetAffinity(cudaStream, static_cast<cupvaAffinityType_t>(vpuAffinity)));
}

/** For diagnostics. */
inline void SetName(cudaStream_t const cudaStream, char_t const *const name)
{
    cupva::impl::check(CupvaCudaStreamSetName(cudaStream, name));
}

inline void Submit(cudaStream_t const cudaStream, BaseCmdList const &commands,
                   CmdStatus *const status = nullptr, OrderType const order = IN_ORDER,
                   int32_t const executionTimeout = -1, int32_t const submitTimeout = -1)
{
    auto const &list = cupva::impl::Conversion::list(commands);
    cupva::impl::check(CupvaCudaStreamSubmit(
        cudaStream, list.data(), status, static_cast<int32_t>(list.size()),
        static_cast<cupvaOrderType_t>(order), executionTimeout, submitTimeout));
}

inline void Submit(cudaStream_t const cudaStream, BaseCmd const &command,
                   CmdStatus *const status = nullptr, OrderType const order = IN_ORDER,
                   int32_t const executionTimeout = -1, int32_t const submitTimeout = -1)
{
    Submit(cudaStream, BaseCmdList({&command}), status, order, executionTimeout, submitTimeout);
}

/** `commands`: `count` pointers to commands. */
inline void Submit(cudaStream_t const cudaStream, BaseCmd const *const *const commands,
                   CmdStatus *const status = nullptr, int32_t const count = 1,
                   OrderType const order = IN_ORDER, int32_t const executionTimeout = -1,
                   int32_t const submitTimeout = -1)
{
    Submit(cudaStream, BaseCmdList(commands, count), status, order, executionTimeout,
           submitTimeout);
}

/** `commands`: one command, or `count` of them in an array. */
inline void Submit(cudaStream_t const cudaStream, BaseCmd const *const commands,
                   CmdStatus *const status = nullptr, int32_t const count = 1,
                   OrderType const order = IN_ORDER, int32_t const executionTimeout = -1,
                   int32_t const submitTimeout = -1)
{
    std::vector<BaseCmd const *> list;
    for (int32_t i = 0; commands != nullptr && i < count; i++)
        list.push_back(commands + i);
    Submit(cudaStream, list.data(), status, commands != nullptr ? count : 0, order,
           executionTimeout, submitTimeout);
}

inline void Submit(cudaStream_t const cudaStream,
                   std::initializer_list<BaseCmd const *> const commands,
                   CmdStatus *const status = nullptr, OrderType const order = IN_ORDER,
                   int32_t const executionTimeout = -1, int32_t const submitTimeout = -1)
{
    Submit(cudaStream, BaseCmdList(commands), status, order, executionTimeout, submitTimeout);
}

inline void Submit(cudaStream_t const cudaStream, CmdBuffer const &cmdBuf,
                   int32_t const executionTimeout = -1, int32_t const submitTimeout = -1)
{
    cupva::impl::check(CupvaCudaStreamSubmitCmdBuffer(
        cudaStream, cupva::impl::Conversion::handle(cmdBuf), executionTimeout, submitTimeout));
}

} // namespace cuda
} // namespace cupva

#endif
