/*
 * The part of Python's C API that starts an interpreter and imports our extension. This library is
 * linked to no libpython: the functions are looked up in the one that the process has or gets.
 * All of them exist, with these signatures, in CPython 3.10 and later.
 */
#ifndef CUDLA_SIM_PYTHON_API_H
#define CUDLA_SIM_PYTHON_API_H

#include <stddef.h>
#include <wchar.h>

typedef struct _object PyObject;
typedef int PyGILState_STATE;

/* The layout that CPython 3.8 to 3.13 have on Linux; from 3.14 on nobody needs it. */
typedef struct {
    int config_init, parse_argv, isolated, use_environment, configure_locale, coerce_c_locale,
        coerce_c_locale_warn, utf8_mode, dev_mode, allocator;
    int spare[16];
} PyPreConfig;

enum { PYMEM_ALLOCATOR_MALLOC = 3 };

typedef struct {
    int type; /* 0: fine */
    const char *function, *message;
    int exit_code;
} PyStatus;

typedef struct {
    const char *name;
    PyObject *(*function)(PyObject *, PyObject *);
    int flags;
    const char *doc;
} PyMethodDef;

enum { METH_NOARGS = 4, PY_FILE_INPUT = 257 };

/* X(result, name, arguments) */
#define SIM_PYTHON_FUNCTIONS(X)                                                                    \
    X(int, Py_IsInitialized, (void))                                                               \
    X(const char *, Py_GetVersion, (void))                                                         \
    X(void *, PyEval_SaveThread, (void))                                                           \
    X(PyGILState_STATE, PyGILState_Ensure, (void))                                                 \
    X(void, PyGILState_Release, (PyGILState_STATE))                                                \
    X(PyObject *, PyImport_ImportModule, (const char *))                                           \
    X(void, PyErr_Clear, (void))                                                                   \
    X(void, PyErr_Print, (void))                                                                   \
    X(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                                  \
    X(void, PyErr_NormalizeException, (PyObject **, PyObject **, PyObject **))                     \
    X(void, PyErr_Restore, (PyObject *, PyObject *, PyObject *))                                   \
    X(void, Py_DecRef, (PyObject *))                                                               \
    X(PyObject *, PyObject_Repr, (PyObject *))                                                     \
    X(const char *, PyUnicode_AsUTF8AndSize, (PyObject *, ptrdiff_t *))                            \
    X(PyObject *, Py_BuildValue, (const char *, ...))                                              \
    X(PyObject *, PyObject_CallMethod, (PyObject *, const char *, const char *, ...))              \
    X(PyObject *, PyObject_CallFunction, (PyObject *, const char *, ...))                          \
    X(PyObject *, PyCFunction_NewEx, (PyMethodDef *, PyObject *, PyObject *))                      \
    X(PyObject *, PyDict_New, (void))                                                              \
    X(int, PyDict_SetItemString, (PyObject *, const char *, PyObject *))                           \
    X(PyObject *, PyDict_GetItemString, (PyObject *, const char *))                                \
    X(PyObject *, PyEval_GetBuiltins, (void))                                                      \
    X(PyObject *, Py_CompileString, (const char *, const char *, int))                             \
    X(PyObject *, PyEval_EvalCode, (PyObject *, PyObject *, PyObject *))                           \
    X(void, PyOS_BeforeFork, (void))                                                               \
    X(void, PyOS_AfterFork_Parent, (void))                                                         \
    X(void, PyOS_AfterFork_Child, (void))

/* Starting: one of the two groups is there. */
#define SIM_PYTHON_STARTERS(X)                                                                     \
    X(void, PyPreConfig_InitIsolatedConfig, (PyPreConfig *))                                       \
    X(PyStatus, Py_PreInitialize, (const PyPreConfig *))                                           \
    X(void, PyConfig_InitIsolatedConfig, (void *))                                                 \
    X(wchar_t *, Py_DecodeLocale, (const char *, size_t *))                                        \
    X(void, Py_SetProgramName, (const wchar_t *))                                                  \
    X(void, PyMem_RawFree, (void *))                                                               \
    X(PyStatus, Py_InitializeFromConfig, (const void *))                                           \
    X(void, PyConfig_Clear, (void *))                                                              \
    X(void *, PyInitConfig_Create, (void))                                                         \
    X(void, PyInitConfig_Free, (void *))                                                           \
    X(int, PyInitConfig_SetInt, (void *, const char *, long long))                                 \
    X(int, PyInitConfig_SetStr, (void *, const char *, const char *))                              \
    X(int, PyInitConfig_GetError, (void *, const char **))                                         \
    X(int, Py_InitializeFromInitConfig, (void *))

struct sim_python_api {
#define X(result, name, arguments) result(*name) arguments;
    SIM_PYTHON_FUNCTIONS(X) SIM_PYTHON_STARTERS(X)
#undef X
};

extern struct sim_python_api py;

/* Fills `py` from a library (or RTLD_DEFAULT); the name of a function that is missing, or NULL. */
const char *sim_python_resolve(void *library);

/*
 * Starts an isolated interpreter as `executable` would; 0, or -1 and `why`. The calling thread holds
 * the interpreter lock afterwards.
 */
int sim_python_start(const char *executable, char *why, size_t size);

/* "3.11" of Py_GetVersion(): 311; 0 when it is not understood. */
int sim_python_version(const char *text);

#endif
