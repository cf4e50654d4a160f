/* What flows.c does; the tests read the names. */
enum {
    SINGLE,
    DOUBLE,
    CIRCULAR,
    UNIFIED,
    ACQUIRE_TWICE,
    TENSOR,
    SEQUENCE,
    LEAVE_SEQUENCE_OPEN,
    GATHER,
};
