/*
 * parameter.hpp - variables of a program's executable.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_PARAMETER_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_PARAMETER_HPP

#include <type_traits>

#include "pointers.hpp"

namespace cupva {

/** A variable of a CmdProgram's executable. The program must outlive it.
 *
 *  A value is copied when it is given, and written to VMEM at every launch. */
class Parameter {
public:
    Parameter() noexcept = default;
    Parameter(Parameter const &) noexcept = default;
    Parameter &operator=(Parameter const &) noexcept = default;
    ~Parameter() = default;

    /** The device pointer of the variable, for the VMEM side of a dataflow. */
    template <typename T>
    T *ptr() const
    {
        void *found = nullptr;
        impl::check(CupvaParameterGetDevicePointer(&m_parameter, &found));
        return static_cast<T *>(found);
    }

    void set(void const *const value, int64_t const size)
    {
        impl::check(CupvaParameterSetValueArray(&m_parameter, value, size));
    }

    /** A device pointer becomes what the VPU needs to reach the memory (VMEM_POINTER); everything
     *  else is copied byte by byte. */
    template <typename T>
    Parameter &operator=(T const &value)
    {
        assign(value);
        return *this;
    }

    /** For the C interface. */
    cupvaParameter_t const *get() const noexcept { return &m_parameter; }

private:
    friend class CmdProgram;

    template <typename T>
    void assign(T const &value)
    {
        static_assert(std::is_trivially_copyable<T>::value, "a value is copied byte by byte");
        set(&value, sizeof(value));
    }

    template <typename T>
    void assign(T *const &devicePtr)
    {
        impl::check(CupvaParameterSetValuePointer(
            &m_parameter, const_cast<void *>(static_cast<void const *>(devicePtr))));
    }

    template <typename T>
    void assign(OffsetPointer<T> const &pointer)
    {
        assign(pointer.get());
    }

    cupvaParameter_t m_parameter{};
};

} // namespace cupva

#endif
