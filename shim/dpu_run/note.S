/* How dpu_load recognises a program of ours. */
    .section .note.cudla_sim, "a", @note
    .balign 4
    .long 10, 4, 1
    .asciz "cudla-sim"
    .balign 4
    .long 1
    .section .note.GNU-stack, "", @progbits
