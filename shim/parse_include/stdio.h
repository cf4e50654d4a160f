/* Empty for the parser: no declaration of ours depends on it. */
#include <stddef.h>
