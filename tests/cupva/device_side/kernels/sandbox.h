/* What sandbox.c tries; the tests read the names. */
enum {
    WRITE_FILE,
    APPEND_FILE,
    REMOVE_FILE,
    MAKE_FOLDER,
    RENAME_FILE,
    CHANGE_MODE,
    CUT_FILE,
    READ_FILE,
    OPEN_SOCKET,
    OPEN_LOCAL_SOCKET,
    SIGNAL_HOST,
    LEAVE_GROUP,
    FORK_AND_WRITE,
    SAY,
    THREAD,
};
