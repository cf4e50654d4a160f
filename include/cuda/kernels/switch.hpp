/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/switch.hpp - from one stack to another, without a system call. How numbers are rounded is no part of
 * it: who changes that changes it back before anyone waits.
 */
#ifndef CUDLA_SIM_KERNELS_SWITCH_H
#define CUDLA_SIM_KERNELS_SWITCH_H

extern "C" void cudla_sim_switch(void **save, void *to);

/* Each object file has it; the linker keeps one. */
#if defined(__x86_64__)
asm(".pushsection .text.cudla_sim_switch,\"axG\",@progbits,cudla_sim_switch,comdat\n"
    ".weak cudla_sim_switch\n"
    ".type cudla_sim_switch,@function\n"
    "cudla_sim_switch:\n"
    "  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp\n"
    "  ret\n" /* where the thread before went on, too: the processor guesses well */
    ".size cudla_sim_switch,.-cudla_sim_switch\n"
    ".popsection\n");

static inline void *cudla_sim_fresh_stack(char *top, void (*entry)()) {
    void **at = reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
    *--at = nullptr; /* entry begins as after a call */
    *--at = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; i++)
        *--at = nullptr;
    return at;
}
#elif defined(__aarch64__)
asm(".pushsection .text.cudla_sim_switch,\"axG\",@progbits,cudla_sim_switch,comdat\n"
    ".weak cudla_sim_switch\n"
    ".type cudla_sim_switch,@function\n"
    "cudla_sim_switch:\n"
    "  stp x19, x20, [sp, #-160]!\n"
    "  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  ldp x19, x20, [sp], #160\n"
    "  ret\n"
    ".size cudla_sim_switch,.-cudla_sim_switch\n"
    ".popsection\n");

static inline void *cudla_sim_fresh_stack(char *top, void (*entry)()) {
    uintptr_t at = (reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) - 160;
    void **words = reinterpret_cast<void **>(at);
    for (int i = 0; i < 20; i++)
        words[i] = nullptr;
    words[11] = reinterpret_cast<void *>(entry); /* x30 */
    return words;
}
#else
#error "kernels run on x86-64 and aarch64"
#endif

#endif
