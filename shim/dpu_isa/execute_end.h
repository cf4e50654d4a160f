/* Takes back what execute.h defines for one way to go on. */
#undef EXECUTE
#undef PIPELINE
#undef MOST_AHEAD
#undef WATCHED
#undef NEXT
#undef WAITS
#undef SYNC
#undef GO_TO_SLEEP
