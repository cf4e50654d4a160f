/* Hints of the VPU's compiler; they change nothing here. */
#ifndef VPU_NATIVE_CHESS_H
#define VPU_NATIVE_CHESS_H

#define chess_prepare_for_pipelining
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_unroll_loop(...)
#define chess_no_unroll
#define chess_flatten_loop
#define chess_modulo_scheduling_budget_ratio(...)
#define chess_allocate(...)
#define chess_storage(...)
#define chess_frequent_path
#define chess_infrequent_path
#define chess_protect_access
#define chess_output
#define chess_separator() ((void)0)
#define chess_separator_scheduler(...) ((void)0)
#define chess_memory_fence() __asm__ volatile("" ::: "memory")
#define chess_copy(value) (value)
#define chess_const(value) (value)
#define chess_manifest(value) __builtin_constant_p(value)
#define chess_report(value) ((void)0)
#define chess_error(text) ((void)0)
#define chess_warning(text) ((void)0)

/* A value that does not matter: zero, so that runs are alike. */
#define chess_dont_care(type) (type{})

/* Elements of a vector type. */
#define pva_elementsof(type) ((int32_t)pva::traits<type>::lanes)

#endif
