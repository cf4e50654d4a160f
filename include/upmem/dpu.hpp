/*
 * dpu.hpp - the C++ host API: a thin layer over dpu.h, in this file only. C++11.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_HPP
#define CUDLA_SIM_UPMEM_DPU_HPP

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "dpu.h"
#include "dpu_log_internals.h"
#include "dpu_management.h"

namespace dpu {

/** For DpuSet::allocate and DpuSet::allocateRanks: everything that is free. */
const unsigned ALLOCATE_ALL = DPU_ALLOCATE_ALL;

/** What every method throws when the C function behind it fails. */
class DpuError : public std::exception {
public:
    explicit DpuError(dpu_error_t Status) : status(Status)
    {
        if (char *words = dpu_error_to_string(Status)) {
            text = words;
            std::free(words);
        }
    }

    const char *what() const noexcept override { return text.c_str(); }

    /** The status of the C function. */
    dpu_error_t error() const noexcept { return status; }

    static void throwOnErr(dpu_error_t Status)
    {
        if (Status != DPU_OK)
            throw DpuError(Status);
    }

private:
    dpu_error_t status;
    std::string text;
};

/** A variable of a DPU program, by address and size in bytes. */
class DpuSymbol {
    friend class DpuProgram;
    friend class DpuSetOps;

public:
    DpuSymbol(unsigned Address, unsigned Size)
    {
        cSymbol.address = Address;
        cSymbol.size = Size;
    }

private:
    explicit DpuSymbol(const struct dpu_symbol_t &Symbol) : cSymbol(Symbol) {}

    struct dpu_symbol_t cSymbol;
};

/** A loaded program: where its symbols can be looked up. */
class DpuProgram {
    friend class DpuSet;

public:
    DpuSymbol get(const std::string &SymbolName)
    {
        struct dpu_symbol_t symbol;
        DpuError::throwOnErr(dpu_get_symbol(cProgram, SymbolName.c_str(), &symbol));
        return DpuSymbol(symbol);
    }

private:
    explicit DpuProgram(struct dpu_program_t *Program) : cProgram(Program) {}

    struct dpu_program_t *cProgram;
};

class DpuSet;
class DpuSetAsync;

/** Called by DpuSetAsync::call with the rank (or the whole set) and its index. */
using CallbackFn = std::function<void(DpuSet &, unsigned)>;

/** Gives the blocks of a scatter/gather transfer; see get_block_func_t. */
using GetBlockFn = std::function<bool(struct sg_block_info *, uint32_t, uint32_t)>;

/** What can be done synchronously (DpuSet) and asynchronously (DpuSetAsync).
 *
 * Offsets and sizes are in bytes. What is written comes first, as in memcpy. A vector goes to all
 * DPUs; of a vector of vectors each DPU has its own. Without a size it is that of the vectors,
 * which must then be equal. Buffers of an asynchronous transfer must live until sync.
 */
class DpuSetOps {
    friend class DpuSet;
    friend class DpuSetAsync;

public:
    // --- the same data to every DPU

    template <typename T>
    void copy(const std::string &DstSymbol, unsigned Offset, const std::vector<T> &SrcBuffer,
              unsigned Size)
    {
        broadcast(DstSymbol, Offset, SrcBuffer.data(), Size);
    }

    template <typename T>
    void copy(const std::string &DstSymbol, unsigned Offset, const std::vector<T> &SrcBuffer)
    {
        broadcast(DstSymbol, Offset, SrcBuffer.data(), bytes(SrcBuffer));
    }

    template <typename T>
    void copy(const std::string &DstSymbol, const std::vector<T> &SrcBuffer, unsigned Size)
    {
        broadcast(DstSymbol, 0, SrcBuffer.data(), Size);
    }

    template <typename T>
    void copy(const std::string &DstSymbol, const std::vector<T> &SrcBuffer)
    {
        broadcast(DstSymbol, 0, SrcBuffer.data(), bytes(SrcBuffer));
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, unsigned Offset, const std::vector<T> &SrcBuffer,
              unsigned Size)
    {
        broadcast(DstSymbol, Offset, SrcBuffer.data(), Size);
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, unsigned Offset, const std::vector<T> &SrcBuffer)
    {
        broadcast(DstSymbol, Offset, SrcBuffer.data(), bytes(SrcBuffer));
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, const std::vector<T> &SrcBuffer, unsigned Size)
    {
        broadcast(DstSymbol, 0, SrcBuffer.data(), Size);
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, const std::vector<T> &SrcBuffer)
    {
        broadcast(DstSymbol, 0, SrcBuffer.data(), bytes(SrcBuffer));
    }

    // --- to each DPU its own

    template <typename T>
    void copy(const std::string &DstSymbol, unsigned Offset,
              const std::vector<std::vector<T>> &SrcBuffers, unsigned Size)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBuffers, Size);
    }

    template <typename T>
    void copy(const std::string &DstSymbol, unsigned Offset,
              const std::vector<std::vector<T>> &SrcBuffers)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBuffers, commonBytes(SrcBuffers));
    }

    template <typename T>
    void copy(const std::string &DstSymbol, const std::vector<std::vector<T>> &SrcBuffers,
              unsigned Size)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBuffers, Size);
    }

    template <typename T>
    void copy(const std::string &DstSymbol, const std::vector<std::vector<T>> &SrcBuffers)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBuffers, commonBytes(SrcBuffers));
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, unsigned Offset,
              const std::vector<std::vector<T>> &SrcBuffers, unsigned Size)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBuffers, Size);
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, unsigned Offset,
              const std::vector<std::vector<T>> &SrcBuffers)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBuffers, commonBytes(SrcBuffers));
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, const std::vector<std::vector<T>> &SrcBuffers,
              unsigned Size)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBuffers, Size);
    }

    template <typename T>
    void copy(const DpuSymbol &DstSymbol, const std::vector<std::vector<T>> &SrcBuffers)
    {
        push(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBuffers, commonBytes(SrcBuffers));
    }

    // --- from each DPU

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, unsigned Size, const std::string &SrcSymbol,
              unsigned Offset)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBuffers, Size);
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, unsigned Size, const std::string &SrcSymbol)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, 0, DstBuffers, Size);
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, const std::string &SrcSymbol,
              unsigned Offset)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBuffers, commonBytes(DstBuffers));
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, const std::string &SrcSymbol)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, 0, DstBuffers, commonBytes(DstBuffers));
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, unsigned Size, const DpuSymbol &SrcSymbol,
              unsigned Offset)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBuffers, Size);
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, unsigned Size, const DpuSymbol &SrcSymbol)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, 0, DstBuffers, Size);
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, const DpuSymbol &SrcSymbol, unsigned Offset)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBuffers, commonBytes(DstBuffers));
    }

    template <typename T>
    void copy(std::vector<std::vector<T>> &DstBuffers, const DpuSymbol &SrcSymbol)
    {
        push(DPU_XFER_FROM_DPU, SrcSymbol, 0, DstBuffers, commonBytes(DstBuffers));
    }

    // --- scatter and gather
    //
    // `Blocks` is a get_block_t or anything that can be called with (sg_block_info *out, uint32_t
    // dpu, uint32_t block) or with a last void * as well. The symbol is a name or a DpuSymbol.
    // `CheckLength` false: a DPU may have more or fewer bytes than Size.

    /** Gathers blocks of host memory into each DPU. */
    template <typename Blocks>
    void copyScatterGather(const std::string &DstSymbol, unsigned Offset, const Blocks &SrcBlocks,
                           unsigned Size, bool CheckLength = true)
    {
        scatterGather(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBlocks, Size, CheckLength);
    }

    template <typename Blocks>
    void copyScatterGather(const std::string &DstSymbol, const Blocks &SrcBlocks, unsigned Size,
                           bool CheckLength = true)
    {
        scatterGather(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBlocks, Size, CheckLength);
    }

    template <typename Blocks>
    void copyScatterGather(const DpuSymbol &DstSymbol, unsigned Offset, const Blocks &SrcBlocks,
                           unsigned Size, bool CheckLength = true)
    {
        scatterGather(DPU_XFER_TO_DPU, DstSymbol, Offset, SrcBlocks, Size, CheckLength);
    }

    template <typename Blocks>
    void copyScatterGather(const DpuSymbol &DstSymbol, const Blocks &SrcBlocks, unsigned Size,
                           bool CheckLength = true)
    {
        scatterGather(DPU_XFER_TO_DPU, DstSymbol, 0, SrcBlocks, Size, CheckLength);
    }

    /** Scatters memory of each DPU into blocks of host memory. */
    template <typename Blocks>
    void copyScatterGather(const Blocks &DstBlocks, unsigned Size, const std::string &SrcSymbol,
                           unsigned Offset = 0, bool CheckLength = true)
    {
        scatterGather(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBlocks, Size, CheckLength);
    }

    template <typename Blocks>
    void copyScatterGather(const Blocks &DstBlocks, unsigned Size, const DpuSymbol &SrcSymbol,
                           unsigned Offset = 0, bool CheckLength = true)
    {
        scatterGather(DPU_XFER_FROM_DPU, SrcSymbol, Offset, DstBlocks, Size, CheckLength);
    }

    /** In the order of dpu_push_sg_xfer. */
    template <typename Blocks>
    void copyScatterGather(dpu_xfer_t Direction, const std::string &Symbol, unsigned Offset,
                           size_t Size, const Blocks &SomeBlocks, bool CheckLength = true)
    {
        scatterGather(Direction, Symbol, Offset, SomeBlocks, Size, CheckLength);
    }

    template <typename Blocks>
    void copyScatterGather(dpu_xfer_t Direction, const DpuSymbol &Symbol, unsigned Offset,
                           size_t Size, const Blocks &SomeBlocks, bool CheckLength = true)
    {
        scatterGather(Direction, Symbol, Offset, SomeBlocks, Size, CheckLength);
    }

    /** Runs the loaded program. */
    void exec()
    {
        DpuError::throwOnErr(dpu_launch(cSet, isAsync ? DPU_ASYNCHRONOUS : DPU_SYNCHRONOUS));
    }

private:
    struct dpu_set_t cSet;
    bool isAsync;

    DpuSetOps(const struct dpu_set_t &Set, bool Async) : cSet(Set), isAsync(Async) {}

    dpu_xfer_flags_t flags() const { return isAsync ? DPU_XFER_ASYNC : DPU_XFER_DEFAULT; }

    template <typename T> static size_t bytes(const std::vector<T> &Buffer)
    {
        return Buffer.size() * sizeof(T);
    }

    template <typename T> static size_t commonBytes(const std::vector<std::vector<T>> &Buffers)
    {
        if (Buffers.empty())
            throw DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER);
        for (const std::vector<T> &buffer : Buffers)
            if (buffer.size() != Buffers.front().size())
                throw DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER);
        return bytes(Buffers.front());
    }

    void broadcast(const std::string &Symbol, unsigned Offset, const void *Source, size_t Size)
    {
        DpuError::throwOnErr(
            dpu_broadcast_to(cSet, Symbol.c_str(), Offset, Source, Size, flags()));
    }

    void broadcast(const DpuSymbol &Symbol, unsigned Offset, const void *Source, size_t Size)
    {
        DpuError::throwOnErr(
            dpu_broadcast_to_symbol(cSet, Symbol.cSymbol, Offset, Source, Size, flags()));
    }

    template <typename Symbol, typename T>
    void push(dpu_xfer_t Direction, const Symbol &ASymbol, unsigned Offset,
              const std::vector<std::vector<T>> &Buffers, size_t Size)
    {
        uint32_t count = 0, index;
        struct dpu_set_t one;
        DpuError::throwOnErr(dpu_get_nr_dpus(cSet, &count));
        if (Buffers.size() < count)
            throw DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER);
        DPU_FOREACH(cSet, one, index)
        {
            // the C function takes what it writes and what it only reads through one pointer type
            void *buffer = const_cast<T *>(Buffers[index].data());
            DpuError::throwOnErr(dpu_prepare_xfer(one, buffer));
        }
        DpuError::throwOnErr(pushPrepared(Direction, ASymbol, Offset, Size));
    }

    dpu_error_t pushPrepared(dpu_xfer_t Direction, const std::string &Symbol, unsigned Offset,
                             size_t Size)
    {
        return dpu_push_xfer(cSet, Direction, Symbol.c_str(), Offset, Size, flags());
    }

    dpu_error_t pushPrepared(dpu_xfer_t Direction, const DpuSymbol &Symbol, unsigned Offset,
                             size_t Size)
    {
        return dpu_push_xfer_symbol(cSet, Direction, Symbol.cSymbol, Offset, Size, flags());
    }

    // --- scatter and gather

    template <typename F>
    static auto asFunction(const F &Function, int)
        -> decltype(static_cast<bool>(Function(static_cast<struct sg_block_info *>(nullptr),
                                               uint32_t(), uint32_t())),
                    GetBlockFn())
    {
        return GetBlockFn(Function);
    }

    template <typename F>
    static auto asFunction(const F &Function, long)
        -> decltype(static_cast<bool>(Function(static_cast<struct sg_block_info *>(nullptr),
                                               uint32_t(), uint32_t(), nullptr)),
                    GetBlockFn())
    {
        return [Function](struct sg_block_info *out, uint32_t index, uint32_t block) -> bool {
            return Function(out, index, block, nullptr);
        };
    }

    /* No exception may leave it: it is called from C. No block is what it answers instead. */
    static bool callBlockFunction(struct sg_block_info *Out, uint32_t Index, uint32_t Block,
                                  void *Arguments)
    {
        try {
            return (**static_cast<GetBlockFn **>(Arguments))(Out, Index, Block);
        } catch (...) {
            return false;
        }
    }

    static dpu_error_t forgetFunction(struct dpu_set_t, uint32_t, void *Arguments)
    {
        delete static_cast<GetBlockFn *>(Arguments);
        return DPU_OK;
    }

    template <typename Symbol>
    void scatterGather(dpu_xfer_t Direction, const Symbol &ASymbol, unsigned Offset,
                       const get_block_t &Blocks, size_t Size, bool CheckLength)
    {
        get_block_t blocks = Blocks;
        const int how = (isAsync ? DPU_SG_XFER_ASYNC : DPU_SG_XFER_DEFAULT)
                        | (CheckLength ? 0 : DPU_SG_XFER_DISABLE_LENGTH_CHECK);
        DpuError::throwOnErr(pushBlocks(Direction, ASymbol, Offset, Size, &blocks,
                                        static_cast<dpu_sg_xfer_flags_t>(how)));
    }

    template <typename Symbol, typename F>
    void scatterGather(dpu_xfer_t Direction, const Symbol &ASymbol, unsigned Offset,
                       const F &Function, size_t Size, bool CheckLength)
    {
        std::unique_ptr<GetBlockFn> function(new GetBlockFn(asFunction(Function, 0)));
        GetBlockFn *argument = function.get();
        get_block_t blocks;
        blocks.f = callBlockFunction;
        blocks.args = &argument;
        blocks.args_size = sizeof(argument);
        scatterGather(Direction, ASymbol, Offset, blocks, Size, CheckLength);
        if (isAsync) { // freed when all ranks are done with it
            const int how = DPU_CALLBACK_ASYNC | DPU_CALLBACK_SINGLE_CALL;
            DpuError::throwOnErr(dpu_callback(cSet, forgetFunction, function.release(),
                                              static_cast<dpu_callback_flags_t>(how)));
        }
    }

    dpu_error_t pushBlocks(dpu_xfer_t Direction, const std::string &Symbol, unsigned Offset,
                           size_t Size, get_block_t *Blocks, dpu_sg_xfer_flags_t Flags)
    {
        return dpu_push_sg_xfer(cSet, Direction, Symbol.c_str(), Offset, Size, Blocks, Flags);
    }

    dpu_error_t pushBlocks(dpu_xfer_t Direction, const DpuSymbol &Symbol, unsigned Offset,
                           size_t Size, get_block_t *Blocks, dpu_sg_xfer_flags_t Flags)
    {
        return dpu_push_sg_xfer_symbol(cSet, Direction, Symbol.cSymbol, Offset, Size, Blocks,
                                       Flags);
    }
};

/** A set of DPUs; its operations are synchronous.
 *
 * What allocate gives frees the DPUs when it ends. Its dpus() and ranks() are sets as well, and
 * live as long as it does; a copy of a set is a second view that frees nothing.
 */
class DpuSet : public DpuSetOps {
    friend class DpuSetAsync;

public:
    static DpuSet allocate(unsigned NrDpus = ALLOCATE_ALL, const std::string &Profile = "")
    {
        struct dpu_set_t set;
        DpuError::throwOnErr(dpu_alloc(NrDpus, Profile.c_str(), &set));
        return DpuSet(set, true);
    }

    static DpuSet allocateRanks(unsigned NrRanks = ALLOCATE_ALL, const std::string &Profile = "")
    {
        struct dpu_set_t set;
        DpuError::throwOnErr(dpu_alloc_ranks(NrRanks, Profile.c_str(), &set));
        return DpuSet(set, true);
    }

    DpuSet(const DpuSet &Other)
        : DpuSetOps(Other.cSet, false), freesSet(false), children(Other.children),
          dpuList(Other.dpuList), rankList(Other.rankList)
    {
    }

    DpuSet(DpuSet &&Other) noexcept
        : DpuSetOps(Other.cSet, false), freesSet(Other.freesSet),
          children(std::move(Other.children)), dpuList(std::move(Other.dpuList)),
          rankList(std::move(Other.rankList))
    {
        Other.freesSet = false;
    }

    DpuSet &operator=(DpuSet Other)
    {
        std::swap(cSet, Other.cSet);
        std::swap(freesSet, Other.freesSet);
        std::swap(children, Other.children);
        std::swap(dpuList, Other.dpuList);
        std::swap(rankList, Other.rankList);
        return *this;
    }

    ~DpuSet()
    {
        if (freesSet)
            dpu_free(cSet);
    }

    std::vector<DpuSet *> &dpus() { return dpuList; }

    std::vector<DpuSet *> &ranks() { return rankList; }

    DpuProgram load(const std::string &Executable)
    {
        struct dpu_program_t *program = nullptr;
        DpuError::throwOnErr(dpu_load(cSet, Executable.c_str(), &program));
        return DpuProgram(program);
    }

    /** Writes what each DPU printed in the last launch. */
    void log(std::ostream &LogStream)
    {
        for (DpuSet *one : dpuList) {
            struct dpu_t *which = dpu_from_set(one->cSet);
            DpuError::throwOnErr(print(&LogStream, DPU_LOG_FORMAT_HEADER, dpu_get_id(which)));
            DpuError::throwOnErr(dpulog_read_for_dpu_(which, print, &LogStream));
        }
    }

    /** The same set for asynchronous operations; this one must outlive it. */
    DpuSetAsync async();

private:
    bool freesSet;
    std::shared_ptr<std::vector<std::unique_ptr<DpuSet>>> children;
    std::vector<DpuSet *> dpuList;
    std::vector<DpuSet *> rankList;

    struct Child {}; /* a rank or a DPU of another set */

    DpuSet(const struct dpu_set_t &Set, Child) : DpuSetOps(Set, false), freesSet(false) {}

    DpuSet(const struct dpu_set_t &Set, bool Frees) : DpuSetOps(Set, false), freesSet(Frees)
    {
        children = std::make_shared<std::vector<std::unique_ptr<DpuSet>>>();
        struct dpu_set_t cRank, cDpu;
        DPU_RANK_FOREACH(cSet, cRank)
        {
            DpuSet *rank = child(cRank);
            rank->rankList.push_back(rank);
            rankList.push_back(rank);
            DPU_FOREACH(cRank, cDpu)
            {
                DpuSet *one = child(cDpu);
                one->dpuList.push_back(one);
                one->rankList.push_back(rank);
                rank->dpuList.push_back(one);
                dpuList.push_back(one);
            }
        }
    }

    DpuSet *child(const struct dpu_set_t &Set)
    {
        children->emplace_back(new DpuSet(Set, Child()));
        return children->back().get();
    }

    static dpu_error_t print(void *Stream, const char *Format, ...)
    {
        va_list values, again;
        va_start(values, Format);
        va_copy(again, values);
        const int length = std::vsnprintf(nullptr, 0, Format, values);
        va_end(values);
        std::vector<char> text(length < 0 ? 1 : static_cast<size_t>(length) + 1);
        if (length >= 0) {
            std::vsnprintf(text.data(), text.size(), Format, again);
            static_cast<std::ostream *>(Stream)->write(text.data(), length);
        }
        va_end(again);
        return length < 0 ? DPU_ERR_SYSTEM : DPU_OK;
    }
};

/** The asynchronous operations of a set: they return at once and happen in order in each rank. */
class DpuSetAsync : public DpuSetOps {
    friend class DpuSet;

public:
    /** Calls a function when everything before it is done: in each rank, or once (`SingleCall`)
     *  for the set. `IsBlocking`: what comes after it waits for it. Inside, only synchronous
     *  operations are possible. */
    void call(const CallbackFn &Callback, bool IsBlocking, bool SingleCall)
    {
        int how = DPU_CALLBACK_ASYNC;
        if (!IsBlocking)
            how |= DPU_CALLBACK_NONBLOCKING;
        if (SingleCall)
            how |= DPU_CALLBACK_SINGLE_CALL;
        const size_t ranks = set->rankList.size();
        std::unique_ptr<Call> context(
            new Call(Callback, SingleCall || ranks == 0 ? 1 : static_cast<unsigned>(ranks)));
        DpuError::throwOnErr(dpu_callback(cSet, callOnRank, context.get(),
                                          static_cast<dpu_callback_flags_t>(how)));
        context.release(); // freed by the last call
    }

    void call(const CallbackFn &Callback) { call(Callback, true, false); }

    /** Waits for everything asynchronous; throws its first error. */
    void sync() { DpuError::throwOnErr(dpu_sync(cSet)); }

private:
    struct Call {
        Call(const CallbackFn &Callback, unsigned Count) : callback(Callback), left(Count) {}

        CallbackFn callback;
        std::atomic<unsigned> left;
    };

    DpuSet *set;

    explicit DpuSetAsync(DpuSet *Set) : DpuSetOps(Set->cSet, true), set(Set) {}

    /* No exception may leave it: it is called from C. The error comes out of sync instead. */
    static dpu_error_t callOnRank(struct dpu_set_t Set, uint32_t Index, void *Arguments)
    {
        Call *context = static_cast<Call *>(Arguments);
        dpu_error_t status = DPU_OK;
        try {
            DpuSet rank(Set, false);
            context->callback(rank, Index);
        } catch (const DpuError &error) {
            status = error.error();
        } catch (...) {
            status = DPU_ERR_INTERNAL;
        }
        if (--context->left == 0)
            delete context;
        return status;
    }
};

inline DpuSetAsync DpuSet::async()
{
    return DpuSetAsync(this);
}

} // namespace dpu

#endif
