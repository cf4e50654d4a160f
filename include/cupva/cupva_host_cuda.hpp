/*
 * cupva_host_cuda.hpp - PVA commands in CUDA streams, CUDA memory for the PVA.
 *
 * As in the SDK's own native mode, PVA work cannot be put into a CUDA stream: Submit and CreateStream
 * throw UnsupportedFeature, after they have checked their arguments.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_HPP

#include <cuda_runtime_api.h>

#include "cupva_host.hpp"

namespace cupva {
namespace cuda {

namespace impl {

[[noreturn]] inline void refuse(cudaStream_t const cudaStream, char const *const why)
{
    if (cudaStream == nullptr)
        throw Exception(Error::InvalidArgument, "the CUDA stream is 0; the default stream cannot "
                                                "take PVA commands");
    cupva::impl::unsupported(why);
}

[[noreturn]] inline void refuseSubmit(cudaStream_t const cudaStream)
{
    refuse(cudaStream, "cuda::Submit: not supported in native mode; submit to a cupva::Stream, and "
                       "wait for its fence before the CUDA work");
}

inline void checkCount(bool const given, int32_t const count)
{
    if (!given || count < 1 || count > config::MAX_NUM_COMMANDS_PER_SUBMIT)
        throw Exception(Error::InvalidArgument,
                        std::to_string(count) + " commands" + (given ? "" : " at nullptr")
                            + "; 1 to 256 in a submission");
}

} // namespace impl

[[noreturn]] inline void Submit(cudaStream_t const cudaStream, BaseCmd const &,
                                CmdStatus *const = nullptr, OrderType const = IN_ORDER,
                                int32_t const = -1, int32_t const = -1)
{
    impl::refuseSubmit(cudaStream);
}

[[noreturn]] inline void Submit(cudaStream_t const cudaStream, BaseCmd const *const commands,
                                CmdStatus *const = nullptr, int32_t const count = 1,
                                OrderType const = IN_ORDER, int32_t const = -1, int32_t const = -1)
{
    impl::checkCount(commands != nullptr, count);
    impl::refuseSubmit(cudaStream);
}

[[noreturn]] inline void Submit(cudaStream_t const cudaStream, BaseCmd const *const *const commands,
                                CmdStatus *const = nullptr, int32_t const count = 1,
                                OrderType const = IN_ORDER, int32_t const = -1, int32_t const = -1)
{
    impl::checkCount(commands != nullptr, count);
    impl::refuseSubmit(cudaStream);
}

[[noreturn]] inline void Submit(cudaStream_t const cudaStream, CmdBuffer const &, int32_t const = -1,
                                int32_t const = -1)
{
    impl::refuseSubmit(cudaStream);
}

[[noreturn]] inline Stream CreateStream(cudaStream_t const cudaStream, EngineType const = PVA0,
                                        AffinityType const = VPU_ANY)
{
    impl::refuse(cudaStream, "cuda::CreateStream: a CUDA stream cannot carry PVA commands here; "
                             "make one with Stream::Create");
}

namespace mem {

/** A device pointer of the PVA for memory of cudaMalloc; mem::Free gives it up again. */
inline void *Import(void *const cudaDevPtr, int64_t const size,
                    cupva::mem::AccessType const access = cupva::mem::READ_WRITE)
{
    void *found = nullptr;
    cupva::impl::check(CupvaMemImportFromHostPtr(&found, cudaDevPtr, size,
                                                 static_cast<cupvaMemAccessType_t>(access)));
    return found;
}

} // namespace mem

} // namespace cuda
} // namespace cupva

#endif
