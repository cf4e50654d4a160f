/*
 * ErrorMacros.h - reporting and handing on NvDlaError, as NVDLA applications write it.
 *
 * Define NVDLA_UTILS_ERROR_TAG (a string that names the program) or NVDLA_UTILS_LOG_ERROR (a macro
 * of your own) before including this. Every macro takes an error and, optionally, a printf format
 * with arguments. The ..._FAIL forms need a variable `e` and a label `fail`.
 *
 *     REPORT_ERROR             print
 *     ORIGINATE_ERROR          print, return the error
 *     ORIGINATE_ERROR_FAIL     print, e = error, goto fail
 *     PROPAGATE_ERROR          when it is an error: print, return it
 *     PROPAGATE_ERROR_FAIL     e = it; when that is an error: print, goto fail
 *     PROPAGATE_ERROR_CONTINUE when it is an error: print, keep the first one in e, go on
 *     THROW_ERROR              print, throw NvErrorException          (C++)
 *     PROPAGATE_ERROR_THROW    when it is an error: print, throw      (C++)
 *     CATCH_PROPAGATE_ERROR_FAIL, CATCH_ERROR_FAIL   catch that, print, goto fail (C++)
 */
#ifndef NVDLA_UTILS_ERROR_MACROS_H
#define NVDLA_UTILS_ERROR_MACROS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlaerror.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NVDLA_UNUSED(expr) \
    do { \
        (void)(expr); \
    } while (0)

/* The name of an error, as "BadParameter"; NULL for a number that is none. */
const char *NvDlaUtilsGetNvErrorString(NvDlaError e);

/* Prints one line through NvDlaDebugPrintf. `path` is where the shown part of `file` begins. */
void NvDlaUtilsLogError(const char *tag, const char *path, NvDlaError e, const char *file,
                        const char *func, uint32_t line, bool propagating, const char *format,
                        ...);

#ifdef __cplusplus
}
#endif

#if defined(NVDLA_UTILS_ERROR_TAG)
#ifndef NVDLA_UTILS_ERROR_PATH
#define NVDLA_UTILS_ERROR_PATH "dla"
#endif
#define NVDLA_UTILS_LOG_ERROR(error_, file_, func_, line_, propagating_, ...) \
    NvDlaUtilsLogError(NVDLA_UTILS_ERROR_TAG, NVDLA_UTILS_ERROR_PATH, (error_), (file_), (func_), \
                       (line_), (propagating_), __VA_ARGS__)
#elif !defined(NVDLA_UTILS_LOG_ERROR) && !defined(CUDLA_SIM_PARSE)
#error "define NVDLA_UTILS_ERROR_TAG or NVDLA_UTILS_LOG_ERROR before including ErrorMacros.h"
#endif

/* The first of the arguments, and the rest: "0" stands for a format that is not there. */
#define NVDLA_UTILS_FIRST(...) NVDLA_UTILS_FIRST_(__VA_ARGS__, 0)
#define NVDLA_UTILS_FIRST_(first_, ...) first_
#define NVDLA_UTILS_PICK(_1, _2, _3, _4, _5, _6, _7, _8, chosen_, ...) chosen_
#define NVDLA_UTILS_FORMAT(...) \
    NVDLA_UTILS_PICK(__VA_ARGS__, NVDLA_UTILS_SOME, NVDLA_UTILS_SOME, NVDLA_UTILS_SOME, \
                     NVDLA_UTILS_SOME, NVDLA_UTILS_SOME, NVDLA_UTILS_SOME, NVDLA_UTILS_SOME, \
                     NVDLA_UTILS_NONE, 0) \
    (__VA_ARGS__)
#define NVDLA_UTILS_NONE(error_) (const char *)0
#define NVDLA_UTILS_SOME(error_, ...) __VA_ARGS__

#define NVDLA_UTILS_PRINT(error_, propagating_, ...) \
    NVDLA_UTILS_LOG_ERROR(error_, __FILE__, __FUNCTION__, __LINE__, propagating_, \
                          NVDLA_UTILS_FORMAT(__VA_ARGS__))

#define REPORT_ERROR(...) \
    do { \
        NVDLA_UTILS_PRINT((NVDLA_UTILS_FIRST(__VA_ARGS__)), false, __VA_ARGS__); \
    } while (0)

#define ORIGINATE_ERROR(...) \
    do { \
        NvDlaError originated_ = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        NVDLA_UTILS_PRINT(originated_, false, __VA_ARGS__); \
        return originated_; \
    } while (0)

#define ORIGINATE_ERROR_FAIL(...) \
    do { \
        e = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        NVDLA_UTILS_PRINT(e, false, __VA_ARGS__); \
        goto fail; \
    } while (0)

#define PROPAGATE_ERROR(...) \
    do { \
        NvDlaError propagated_ = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        if (propagated_ != NvDlaSuccess) { \
            NVDLA_UTILS_PRINT(propagated_, true, __VA_ARGS__); \
            return propagated_; \
        } \
    } while (0)

#define PROPAGATE_ERROR_FAIL(...) \
    do { \
        e = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        if (e != NvDlaSuccess) { \
            NVDLA_UTILS_PRINT(e, true, __VA_ARGS__); \
            goto fail; \
        } \
    } while (0)

#define PROPAGATE_ERROR_CONTINUE(...) \
    do { \
        NvDlaError propagated_ = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        if (propagated_ != NvDlaSuccess) { \
            NVDLA_UTILS_PRINT(propagated_, true, __VA_ARGS__); \
            if (e == NvDlaSuccess) { \
                e = propagated_; \
            } \
        } \
    } while (0)

#ifdef __cplusplus

#define THROW_ERROR(...) \
    do { \
        e = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        NVDLA_UTILS_PRINT(e, true, __VA_ARGS__); \
        throw(nvdla::priv::NvErrorException(e, __FILE__, __FUNCTION__, __LINE__)); \
    } while (0)

#define PROPAGATE_ERROR_THROW(...) \
    do { \
        e = (NVDLA_UTILS_FIRST(__VA_ARGS__)); \
        if (e != NvDlaSuccess) { \
            NVDLA_UTILS_PRINT(e, true, __VA_ARGS__); \
            throw(nvdla::priv::NvErrorException(e, __FILE__, __FUNCTION__, __LINE__)); \
        } \
    } while (0)

#define NVDLA_UTILS_CAUGHT(caught_, ...) \
    do { \
        NVDLA_UTILS_LOG_ERROR(caught_.m_e, caught_.m_file, caught_.m_function, caught_.m_line, \
                              true, NVDLA_UTILS_FORMAT(__VA_ARGS__)); \
        e = caught_.m_e; \
        goto fail; \
    } while (0)

#define CATCH_PROPAGATE_ERROR_FAIL(...) \
    try { \
        PROPAGATE_ERROR_FAIL(__VA_ARGS__); \
    } catch (const NvErrorException &caught_) { \
        NVDLA_UTILS_CAUGHT(caught_, __VA_ARGS__); \
    }

#define CATCH_ERROR_FAIL(...) \
    try { \
        NVDLA_UTILS_FIRST(__VA_ARGS__); \
    } catch (const NvErrorException &caught_) { \
        NVDLA_UTILS_CAUGHT(caught_, __VA_ARGS__); \
    }

#endif /* __cplusplus */

#endif
