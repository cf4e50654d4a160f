/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/containers.hpp - what the engine keeps things in.
 *
 * The standard library's containers, algorithms and threads are left to programs that include them: nvcc's headers
 * have none, and with `using namespace std` a variable `count`, `map` or `lock` of a program would be ambiguous.
 */
#ifndef CUDLA_SIM_KERNELS_CONTAINERS_H
#define CUDLA_SIM_KERNELS_CONTAINERS_H

#include <cstddef>
#include <new>
#include <utility>

namespace cudla_sim {

/* Elements in a row, as std::vector has them. */
template <class T> class Vector {
  public:
    Vector() = default;
    explicit Vector(size_t size) { resize(size); }
    Vector(Vector &&other) noexcept : first_(other.first_), size_(other.size_), room_(other.room_) {
        other.first_ = nullptr;
        other.size_ = other.room_ = 0;
    }
    Vector(const Vector &) = delete;
    Vector &operator=(const Vector &) = delete;
    ~Vector() {
        clear();
        ::operator delete(first_, std::align_val_t(alignof(T)));
    }

    T &operator[](size_t index) { return first_[index]; }
    const T &operator[](size_t index) const { return first_[index]; }
    T *data() { return first_; }
    const T *data() const { return first_; }
    T *begin() { return first_; }
    T *end() { return first_ + size_; }
    const T *begin() const { return first_; }
    const T *end() const { return first_ + size_; }
    T &front() { return first_[0]; }
    T &back() { return first_[size_ - 1]; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    T &add(T value = T()) {
        if (size_ == room_)
            grow(room_ ? 2 * room_ : 4);
        return *new (first_ + size_++) T(std::move(value));
    }
    /* The elements from `at` on make room. */
    T &insert(size_t at, T value) {
        add(std::move(value));
        for (size_t i = size_ - 1; i > at; i--)
            std::swap(first_[i], first_[i - 1]);
        return first_[at];
    }
    void drop_last() { first_[--size_].~T(); }
    void resize(size_t size) {
        if (size > room_)
            grow(size);
        while (size_ < size)
            new (first_ + size_++) T();
        while (size_ > size)
            drop_last();
    }
    void clear() { resize(0); }

  private:
    void grow(size_t room) {
        T *found = static_cast<T *>(::operator new(room * sizeof(T), std::align_val_t(alignof(T))));
        for (size_t i = 0; i < size_; i++) {
            new (found + i) T(std::move(first_[i]));
            first_[i].~T();
        }
        ::operator delete(first_, std::align_val_t(alignof(T)));
        first_ = found;
        room_ = room;
    }

    T *first_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

/* Elements that stay where they are as others are added. */
template <class T> class Stable {
  public:
    Stable() = default;
    Stable(Stable &&) = default;
    ~Stable() {
        for (T *each : all_)
            delete each;
    }

    T &operator[](size_t index) { return *all_[index]; }
    size_t size() const { return all_.size(); }
    T &add() { return *all_.add(new T()); }

  private:
    Vector<T *> all_;
};

template <size_t I, class T> struct Argument {
    T value;
    template <class A> explicit Argument(A &&given) : value(std::forward<A>(given)) {}
};

template <class Indices, class... P> struct ArgumentsOf;
template <size_t... I, class... P>
struct ArgumentsOf<std::index_sequence<I...>, P...> : Argument<I, P>... {
    template <class... A> explicit ArgumentsOf(A &&...given) : Argument<I, P>(std::forward<A>(given))... {}
    template <class F> void pass_to(F &&function) const {
        function(static_cast<const Argument<I, P> &>(*this).value...);
    }
};
/* Copies of a launch's arguments. */
template <class... P> using Arguments = ArgumentsOf<std::index_sequence_for<P...>, P...>;

} // namespace cudla_sim

#endif
