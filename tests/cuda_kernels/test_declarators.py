"""Members of templates as nvcc takes them where they are defined."""

from __future__ import annotations

import pytest

from cudla_sim.cuda_kernels.declarators import as_nvcc_reads, types
from cudla_sim.cuda_kernels.tokens import tokens

from .conftest import Run, compiled

declared = compiled("declared")


def test_they_compile(declared: Run) -> None:
    each = 5 + (1 + 2 + 5) + 5
    done = declared()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"cudaSuccess {64 * each} {64 * each * 1001} 1 7 42 54 14 42 99\n"


HEAD = "template <class T, int N> "


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("A<T>::type A<T>::f() {}", "typename A<T>::type A<T>::f() {}"),
        ("static const A<(N > 1)>::B *f();", "static const typename A<(N > 1)>::B *f();"),
        ("inline ::n::A<T>::B<N> & g;", "inline typename ::n::A<T>::B<N> & g;"),
        ("auto A<T>::f() -> A<T>::B {}", "auto A<T>::f() -> typename A<T>::B {}"),
        (
            "int A<T>::f(int a = (N < 2), B<1, 2> c = {1, 2}) {}",
            "int A<T>::f(int a , B<1, 2> c ) {}",
        ),
        ("A<T>::A(int a) : b{a} {}", None),
        ("A<T>::operator bool() const {}", None),
        ("typename A<T>::type f(int a = 1) {}", None),
        ("n::type f(A<T> a) {}", None),
        ("struct A<T>::B {};", None),
        (
            "int f() { return a.operator()<N>(1); }",
            "int f() { return a.template operator()<N>(1); }",
        ),
        ("int f() { return a.operator()(1) < N; }", None),
        ("int f() { return a->f<B<N>, 2>(1); }", "int f() { return a->template f<B<N>, 2>(1); }"),
        ("int f() { return a.b < N && c > (d); }", None),
        ("int f() { return a.template b<N>(d); }", None),
        ("int f() { return A<N>(a).b < N; }", None),
    ],
)
def test_what_is_changed(given: str, made: str | None) -> None:
    found = tokens(HEAD + given)
    as_nvcc_reads(found)
    shown = "".join(token.text for token in found)
    assert shown.split() == (HEAD + (given if made is None else made)).split()


def test_names_that_are_types() -> None:
    said = "a.cu:3:1: error: dependent-name ‘H::inner’ is parsed as a non-type, but instantiation"
    assert types(said) == {"H::inner"}
    text = "auto a = H::inner(1), b = H::other(2), c = typename H::inner(3), d = A::H::inner(4);"
    found = tokens(text)
    as_nvcc_reads(found, types(said))
    made = "".join(token.text for token in found)
    assert made == text.replace("a = H::inner", "a = typename H::inner")


def test_what_is_no_template_stays() -> None:
    text = "A<int>::type A<int>::f(int a = 1) {}\nusing B = A<int>::type;\n"
    found = tokens(text)
    as_nvcc_reads(found)
    assert "".join(token.text for token in found) == text
