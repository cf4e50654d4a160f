"""The rewriter: real tokens, lines kept, kernels found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.cuda_kernels.kernels import GLOBAL, SHARED, kernels
from cudla_sim.cuda_kernels.rewrite import CannotRewrite, rewrite
from cudla_sim.cuda_kernels.tokens import tokens

KERNEL = f"{GLOBAL} void k(int *x, int n) {{ }}\n"


@given(st.text(alphabet=" \n\tab1.'\"\\<>:#(){};RuU8L_-\x80", max_size=60))
@settings(deadline=None)
def test_every_character_belongs_to_a_token(text: str) -> None:
    found = "".join(token.text for token in tokens(text))
    if "#" in text:  # which begins its line, whatever blanks a macro has left before it
        found, text = (re.sub("[ \t]", "", each) for each in (found, text))
    assert found == text


def test_strings_are_left_alone() -> None:
    for literal in (
        '"a<<<b>>>c"',
        r'"\"<<<"',
        "'<'",
        'R"x(k<<<1, 2>>>(y) )" )x"',
        'u8R"(<<<)"',
        'L"<<<"',
    ):
        text = f"auto s = {literal};"
        assert rewrite(text) == text


@pytest.mark.parametrize(
    ("launch", "grid", "call"),
    [
        ("k<<<g, b>>>(x, 3)", "g, b", ".call(k, "),
        ("k <<< g,\n b >>> (x, 3)", "g,\n b", ".call(k, "),
        ("::k<<<f(a, b), dim3(1 << 2, y)>>>(x)", "f(a, b), dim3(1 << 2, y)", ".call(::k, "),
        ("(*p)<<<g, b>>>(x)", "g, b", ".call_pointer((*p), x"),
        ("table[i]<<<g, b>>>(x)", "g, b", ".call_pointer(table[i], x"),
        ("ns::other<A, B<C>><<<g, b>>>()", "g, b", ".call_pointer(ns::other<A, B<C>>"),
        ("object->run<<<g, b, 0, s>>>(x)", "g, b, 0, s", ".call_pointer(object->run, x"),
    ],
)
def test_forms_of_launches(launch: str, grid: str, call: str) -> None:
    text = f"{KERNEL}void f() {{ if (a < b) {launch}; }}\n"
    made = rewrite(text)
    assert made.count("\n") == text.count("\n")
    assert f"::cudla_sim::Launch({grid})".replace(" ", "") in made.replace(" ", "")
    assert call.replace(" ", "") in made.replace(" ", "")
    assert "<<<" not in made


def test_templates_keep_their_own_types() -> None:
    kernel = f"template <class T, int N = 2> {GLOBAL} void k(T *x) {{ }}\n"
    text = kernel + "void f() { k<float><<<1, 2>>>(p); }"
    made = rewrite(text)
    assert "{ static_cast<void>(k<float>(" in made
    assert "::cudla_sim::Registered<&k<T, N>>::asked()" in made


def test_shared_memory() -> None:
    text = (
        f"extern {SHARED} int whole[];\n"
        f"{GLOBAL} void k() {{\n {SHARED} float tile[16][17];\n"
        f" extern {SHARED} __attribute__((aligned(16))) float4 s[];\n"
        f" static {SHARED} int n; }}"
    )
    made = rewrite(text)
    assert "static ::cudla_sim::Dynamic<int> whole;" in made
    aligned = "__attribute__((aligned(128)))"
    assert f"{aligned} static thread_local float tile[16][17];" in made
    assert "float4 *s = ::cudla_sim::Dynamic<float4>::start();" in made
    assert f"static {aligned} thread_local int n;" in made
    assert made.count("\n") == text.count("\n")
    with pytest.raises(CannotRewrite, match="a type and one name"):
        rewrite(f"void f() {{ extern {SHARED} s[]; }}")


def test_words_inside_attributes_stay() -> None:
    text = "__attribute__((__noinline__)) void f(); __noinline__ void g();"
    made = rewrite(text)
    assert made == "__attribute__((__noinline__)) void f(); __attribute__((noinline)) void g();"


def test_kernels_are_found() -> None:
    text = (
        f"{GLOBAL} void a(int);"
        f'extern "C" {GLOBAL} void __attribute__((x(1))) b(int n = 3) {{ }}'
        f"template <typename T, unsigned N, class... U> {GLOBAL} void c(T) {{ }}"
        f"template <class A, int B> {GLOBAL} void d() {{ }}"
        f"template <class... A, class B> {GLOBAL} void e(B, A...) {{ }}"
    )
    found = {k.name: (k.parameters, k.defaults, k.body >= 0) for k in kernels(tokens(text))}
    assert found == {
        "a": (None, False, False),
        "b": (None, True, True),
        "c": (["T", "N", "U..."], False, True),
        "d": (["A", "B"], False, True),
        "e": ([], False, True),
    }


@given(st.text(alphabet="k<>(){}[]; \n=:,.x\"'", max_size=40))
@settings(deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    try:
        made = rewrite(KERNEL + text)
    except CannotRewrite:
        return
    assert made.count("\n") >= 1


def test_launches_with_spaces_in_their_brackets() -> None:
    text = rewrite("__cudla_sim_global__ void k(int *x) {}\nvoid f() { k << < 1, 2 >> > (p); }")
    assert "::cudla_sim::Launch(" in text
    assert "<" not in text.split("void f()")[1].replace("static_cast<", "")
    assert "operator<< <" in rewrite("std::ostream &operator<< <int>(std::ostream &, int);")
    shift = "int f(int a) { return a << 1 >> 1; }"
    assert rewrite(shift) == shift


def test_a_zero_among_the_arguments_is_a_number_or_a_pointer() -> None:
    text = "__cudla_sim_global__ void k(int *x, int n) {}\nvoid f() { k<<<1, 2>>>(%s); }"
    zero = "::cudla_sim::Zero()"
    assert f"{zero}, {zero}" in rewrite(text % "0, __null")
    marked = '\n# 2 "a.cu" 3 4\n__null\n# 2 "a.cu"\n, 0'
    assert rewrite(text % marked).count(zero) == 2
    assert zero not in rewrite(text % "(int *)0, f(0, 0) + 0, 0 + a[0], { 0 }")


def test_a_kernel_with_an_overload_that_is_only_declared() -> None:
    text = rewrite(
        "__cudla_sim_global__ void k(int *x, int n);\n"
        "__cudla_sim_global__ void k(int *x) {}\n"
        "__cudla_sim_global__ void other(int *x);\n"
        "__cudla_sim_global__ void other(int *y) {}\n"
        "void f() { k<<<1, 2>>>(p); other<<<1, 2>>>(p); }"
    )
    assert "Registered<static_cast<void (*)(int *x)>(&k)>" in text
    assert ".call_any([&]" in text
    assert "Registered<&other>" in text
    assert ".call(other," in text


def test_instances_of_a_template_are_no_kernels_of_their_own() -> None:
    text = (
        f"template <typename T> {GLOBAL} void k(T *x) {{ }}\n"
        f"template <> {GLOBAL} void k<float>(float *x) {{ }}\n"
        f"template {GLOBAL} void k<int>(int *x);\n"
        "typedef float (*function)(float);\n"
    )
    assert [kernel.name for kernel in kernels(tokens(text))] == ["k"]
    made = rewrite(text)
    assert "Registered<&k<T>>" in made
    assert "&float" not in made


def test_what_is_put_in_makes_no_other_signs() -> None:
    """``%:`` is a sign of C++ as well, and ``:::`` is ``::`` and ``:``."""
    text = f"{GLOBAL} void k(int *x) {{ x[0] = 7%gridDim.x; x[1] = x ? 1:blockIdx.y; }}\n"
    made = rewrite(text)
    assert "%:" not in made
    assert ":::" not in made


def test_shared_memory_outside_of_functions_in_both_orders() -> None:
    for words in (f"extern {SHARED}", f"{SHARED} extern"):
        assert rewrite(f"{words} int s[];").strip() == "static ::cudla_sim::Dynamic<int> s;"


def test_a_pragma_in_a_header_of_the_system_ends_nothing() -> None:
    text = (
        '# 1 "/usr/include/lib.h" 1 3\n'
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
        'namespace lib __attribute__((__visibility__("default"))) {\n'
        "inline void store(int *p) { *p = 1; }\n"
        "}\n"
    )
    assert rewrite(text) == text
