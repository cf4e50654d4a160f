/* What races.c does; the tests read the names. */
enum {
    WAITS,
    NEVER_WAITS,
    DOUBLE_BUFFERED,
    WRITES_TOO_SOON,
    WRITES_WHAT_COMES,
    GATHERS,
    GATHERS_UNSYNCED,
    SEQUENCE,
    UNIFIED,
    TWO_AHEAD,
};
