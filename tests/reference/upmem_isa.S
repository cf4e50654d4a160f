// A program in the DPU's own instructions, for the functions that look into them. It begins at
// __bootstrap, so that no runtime comes before it and one tasklet runs.
    .text
    .globl __bootstrap
    .type __bootstrap, @function
__bootstrap:
    lw r2, zero, held               // the host lets it go
    jnz r2, __bootstrap
    lw r0, zero, count
    move r1, 0
    .globl again
again:
    add r1, r1, r0
    add r0, r0, -1, nz, again
    .globl store
store:
    sw zero, sum, r1                // 1 + 2 + ... + count
    stop
    .size __bootstrap, .-__bootstrap

    .section .data.__sys_host, "aw", @progbits
#define HOST(name, value) .globl name; .type name, @object; .size name, 4; name: .long value
    HOST(held, 0)
    HOST(count, 5)
    HOST(sum, 0)
