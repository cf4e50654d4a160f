/* What the headers need of <stdbool.h>, for the parser only. */
#ifndef CUDLA_SIM_PARSE_STDBOOL_H
#define CUDLA_SIM_PARSE_STDBOOL_H
#define bool _Bool
#define true 1
#define false 0
#endif
