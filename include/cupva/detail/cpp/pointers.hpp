/*
 * pointers.hpp - OffsetPointer, and what dataflows and copies take as a pointer.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_POINTERS_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_POINTERS_HPP

#include <map>
#include <memory>
#include <type_traits>

#include "../../cupva_host_common.hpp"

namespace cupva {

namespace impl {

/** The address that all copies of an OffsetPointer share.
 *
 *  Commands and dataflows hold one cupvaOffsetPointer_t for each offset that was given to them;
 *  a new base reaches all of these. */
class SharedBase {
public:
    explicit SharedBase(void *const base) : m_base(base) {}

    void *base() const noexcept { return m_base; }

    void rebind(void *const base)
    {
        for (auto &place : m_places)
            check(CupvaOffsetPointerSetBase(&place.second, base));
        m_base = base;
    }

    cupvaOffsetPointer_t *at(int64_t const offset)
    {
        auto found = m_places.find(offset);
        if (found == m_places.end()) {
            cupvaOffsetPointer_t made{};
            check(CupvaOffsetPointerInit(&made, m_base, offset));
            found = m_places.emplace(offset, made).first;
        }
        return &found->second;
    }

private:
    void *m_base;
    std::map<int64_t, cupvaOffsetPointer_t> m_places;
};

/** Bytes of what a pointer's arithmetic counts in. */
template <typename T>
struct StepOf {
    static constexpr int64_t bytes = sizeof(T);
};
template <>
struct StepOf<void> {
    static constexpr int64_t bytes = 1;
};
template <>
struct StepOf<void const> {
    static constexpr int64_t bytes = 1;
};

} // namespace impl

/** A device pointer that can be bound to other memory after the dataflows were compiled.
 *
 *  It is a base and an offset. Copies share the base, so that setBase() on any of them reaches the
 *  dataflows that were given one; each copy has an offset of its own, which is what arithmetic
 *  changes. Dataflows take over a new base with CmdProgram::updateDataFlows(), copies
 *  (CmdMemcpy) with the next submission. */
template <typename T>
class OffsetPointer {
public:
    using PointedToType = T;

    /** Points to nothing, and may not be given to a dataflow. */
    OffsetPointer() noexcept = default;

    explicit OffsetPointer(T *const base, int64_t const offset = 0)
        : m_shared(std::make_shared<impl::SharedBase>(untyped(base))),
          m_offset(offset * impl::StepOf<T>::bytes)
    {
    }

    /** As pointers convert: to const, and to void. */
    template <typename U, typename std::enable_if<std::is_convertible<U *, T *>::value, bool>::type = true>
    OffsetPointer(OffsetPointer<U> const &other) noexcept
        : m_shared(other.m_shared), m_offset(other.m_offset)
    {
    }

    /** Binds this pointer and all its copies to other memory. */
    void setBase(T *const base) { shared().rebind(untyped(base)); }

    T *getBase() const { return static_cast<T *>(shared().base()); }

    /** Elements, for void bytes, from the base. */
    void setOffset(int64_t const offset) { m_offset = offset * impl::StepOf<T>::bytes; }

    int64_t getOffset() const noexcept { return m_offset / impl::StepOf<T>::bytes; }

    /** The device pointer that it stands for now. */
    T *get() const
    {
        return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(shared().base())
                                     + static_cast<uintptr_t>(m_offset));
    }

    OffsetPointer &operator+=(int64_t const count)
    {
        m_offset += count * impl::StepOf<T>::bytes;
        return *this;
    }

    OffsetPointer &operator-=(int64_t const count) { return *this += -count; }
    OffsetPointer &operator++() { return *this += 1; }
    OffsetPointer &operator--() { return *this += -1; }

    OffsetPointer operator++(int)
    {
        OffsetPointer const before = *this;
        *this += 1;
        return before;
    }

    OffsetPointer operator--(int)
    {
        OffsetPointer const before = *this;
        *this += -1;
        return before;
    }

    friend OffsetPointer operator+(OffsetPointer pointer, int64_t const count)
    {
        return pointer += count;
    }

    friend OffsetPointer operator-(OffsetPointer pointer, int64_t const count)
    {
        return pointer -= count;
    }

    /** False for a pointer that was constructed without a base. */
    explicit operator bool() const noexcept { return m_shared != nullptr; }

    /** For the C interface; nullptr for a default object. */
    cupvaOffsetPointer_t *handle() const { return m_shared ? m_shared->at(m_offset) : nullptr; }

private:
    template <typename U>
    friend class OffsetPointer;

    static void *untyped(T *const pointer)
    {
        return const_cast<void *>(static_cast<void const *>(pointer));
    }

    impl::SharedBase &shared() const
    {
        if (!m_shared)
            throw Exception(Error::UninitializedObject,
                            "the OffsetPointer was constructed without a base");
        return *m_shared;
    }

    std::shared_ptr<impl::SharedBase> m_shared;
    int64_t m_offset = 0; /* bytes */
};

namespace impl {

/** An address as the C interface takes it: the pointer itself, or an offset pointer's place. */
struct Address {
    int64_t value;
    int64_t isOffsetPointer;
};

inline Address addressOf(void const *const pointer)
{
    return {static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)), 0};
}

template <typename T>
Address addressOf(OffsetPointer<T> const &pointer)
{
    return {static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer.handle())), 1};
}

/** The pixel of `U *` and of `OffsetPointer<U>`. */
template <typename T>
struct PixelOf {
    static_assert(sizeof(T) == 0, "a device pointer or an OffsetPointer is needed here");
};
template <typename U>
struct PixelOf<U *> {
    using type = U;
};
template <typename U>
struct PixelOf<OffsetPointer<U>> {
    using type = U;
};

template <typename T>
constexpr int64_t pixelBytes()
{
    using Pixel = typename PixelOf<typename std::decay<T>::type>::type;
    static_assert(!std::is_void<Pixel>::value,
                  "the type of the pointer tells the size of a pixel; void has none");
    return sizeof(Pixel);
}

/** Where a copy begins: a device pointer or an OffsetPointer. */
struct Source {
    Source(void const *const given) : pointer(given) {}
    template <typename T>
    Source(OffsetPointer<T> const &given) : offset(required(given.handle()))
    {
    }

    void const *pointer = nullptr;
    cupvaOffsetPointer_t *offset = nullptr;

    static cupvaOffsetPointer_t *required(cupvaOffsetPointer_t *const found)
    {
        if (found == nullptr)
            throw Exception(Error::UninitializedObject,
                            "the OffsetPointer was constructed without a base");
        return found;
    }
};

/** Where it ends. */
struct Target {
    Target(void *const given) : pointer(given) {}
    template <typename T, typename std::enable_if<!std::is_const<T>::value, bool>::type = true>
    Target(OffsetPointer<T> const &given) : offset(Source::required(given.handle()))
    {
    }

    void *pointer = nullptr;
    cupvaOffsetPointer_t *offset = nullptr;
};

} // namespace impl

} // namespace cupva

#endif
