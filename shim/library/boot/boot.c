/*
 * Starts Python inside the host program, or finds the one that is already there, and lets it import
 * our extension, which fills `sim_bridge`.
 *
 * libpython must be globally visible before extensions are imported: they are linked to none, and a
 * host may have loaded us with RTLD_LOCAL.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "generated/bridge.h"
#include "internal.h"
#include "leaks.h"
#include "python/api.h"
#include "python/find.h"

int sim_state_word = SIM_COLD;
int sim_below_leak_sanitizer;

static pthread_once_t boot_once = PTHREAD_ONCE_INIT;
static char problem[2 * PATH_MAX];
static int we_started_python;
/* The thread that runs boot: calls it makes while booting must not wait for itself. */
static __thread int booting_here;

const char *sim_boot_problem(void)
{
    if (__atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_CLOSED) {
        return "cudla-sim: the process is shutting down, Python has already been finalised";
    }
    return problem;
}

static void fail(const char *what, const char *detail)
{
    snprintf(problem, sizeof problem, "cudla-sim: %s%s%s; every call answers its error status. "
             "`python -m cudla_sim doctor` tells more", what, detail ? ": " : "",
             detail ? detail : "");
    fprintf(stderr, "%s\n", problem);
    __atomic_store_n(&sim_state_word, SIM_FAILED, __ATOMIC_RELEASE);
}

static void drop(PyObject *object)
{
    if (object != NULL) {
        py.Py_DecRef(object);
    }
}

/*
 * Whoever first imports Python's signal module makes SIGINT raise KeyboardInterrupt. It is imported
 * here, and the host's way of handling Ctrl-C put back.
 */
static void leave_sigint_alone(void)
{
    struct sigaction before;
    int known = sigaction(SIGINT, NULL, &before) == 0;
    PyObject *module = py.PyImport_ImportModule("_signal");
    drop(module);
    py.PyErr_Clear();
    if (known) {
        sigaction(SIGINT, &before, NULL);
    }
}

static int start_python(const char *executable)
{
    char why[1024];
    if (sim_python_start(executable, why, sizeof why) != 0) {
        char what[PATH_MAX + 64];
        snprintf(what, sizeof what, "Python could not start as %s", executable);
        fail(what, why);
        return -1;
    }
    leave_sigint_alone();
    py.PyEval_SaveThread(); /* every later call takes the interpreter lock itself */
    return 0;
}

static void on_exit_of_host(void)
{
    /* Python is never finalised in a C host, so its own atexit never runs: reports hang here. */
    if (py.Py_IsInitialized() &&
        __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY) {
        impl_sim_at_exit();
    }
}

/*
 * After the last handler of the program, libraries free what they hold; an engine that is inside
 * one (BLAS) then works on memory that is gone. This library is loaded before those that Python
 * loads, so its turn comes before theirs: the engines are told to stay out.
 */
__attribute__((destructor)) static void before_libraries_end(void)
{
    if (!we_started_python || !py.Py_IsInitialized() ||
        __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) != SIM_READY) {
        return;
    }
    PyGILState_STATE gil = py.PyGILState_Ensure();
    PyObject *module = py.PyImport_ImportModule("cudla_sim.core.closing");
    PyObject *done = module != NULL ? py.PyObject_CallMethod(module, "close", NULL) : NULL;
    py.PyErr_Clear();
    drop(done);
    drop(module);
    py.PyGILState_Release(gil);
    __atomic_store_n(&sim_state_word, SIM_CLOSED, __ATOMIC_RELEASE);
}

/*
 * A fork while another thread is inside Python would leave its child with a lock nobody holds.
 * In a host that is Python itself os.fork() does this; what the package has to reset, it registers
 * with Python in both cases (core/forks.py).
 */
static __thread PyGILState_STATE fork_state;
static __thread int fork_entered;

static void before_fork(void)
{
    fork_entered = we_started_python &&
                   __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY;
    if (fork_entered) {
        fork_state = py.PyGILState_Ensure();
        py.PyOS_BeforeFork();
    }
}

static void after_fork_parent(void)
{
    if (fork_entered) {
        py.PyOS_AfterFork_Parent();
        py.PyGILState_Release(fork_state);
    }
}

static void after_fork_child(void)
{
    if (fork_entered) {
        py.PyOS_AfterFork_Child();
        py.PyGILState_Release(fork_state);
    }
}

/* A Python host finalises Python while C code may still call us: answer failures from then on. */
static PyObject *close_gate(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    impl_sim_at_exit();
    __atomic_store_n(&sim_state_word, SIM_CLOSED, __ATOMIC_RELEASE);
    return py.Py_BuildValue(""); /* None */
}

static PyMethodDef close_gate_method = {"_cudla_sim_close", close_gate, METH_NOARGS, NULL};

static int register_python_atexit(void)
{
    PyGILState_STATE gil = py.PyGILState_Ensure();
    PyObject *atexit_module = py.PyImport_ImportModule("atexit");
    PyObject *function = py.PyCFunction_NewEx(&close_gate_method, NULL, NULL);
    PyObject *done = NULL;
    if (atexit_module != NULL && function != NULL) {
        done = py.PyObject_CallMethod(atexit_module, "register", "O", function);
    }
    py.PyErr_Clear();
    drop(done);
    drop(function);
    drop(atexit_module);
    py.PyGILState_Release(gil);
    return done != NULL ? 0 : -1;
}

/*
 * A Python host may live in another environment than the one this library was installed for, and a
 * package in ~/.local is outside of an isolated interpreter's path. Then the folder of our package,
 * and that of what it imports, are added behind the rest.
 */
static const char find_package_text[] =
    "def find(*folders):\n"
    "    import importlib.util, os, site\n"
    "    for folder in folders:\n"
    "        names = ('cudla_sim', 'numpy', '_cffi_backend', 'elftools')\n"
    "        if all(importlib.util.find_spec(name) for name in names):\n"
    "            return\n"
    "        if os.path.isdir(folder):\n"
    "            site.addsitedir(folder)\n";

static void find_package(void)
{
    char package[PATH_MAX] = "", others[PATH_MAX + 64] = "", executable[PATH_MAX], why[256];
    if (sim_python_package_folder(package, sizeof package) != 0) {
        return;
    }
    if (sim_python_choose(executable, sizeof executable, why, sizeof why) == 0) {
        int version = sim_python_version(py.Py_GetVersion());
        char *name = strrchr(executable, '/');
        if (name != NULL) {
            *name = '\0';
        }
        snprintf(others, sizeof others, "%s/../lib/python%d.%d/site-packages", executable,
                 version / 100, version % 100);
    }
    PyObject *names = py.PyDict_New();
    PyObject *code = NULL, *defined = NULL, *done = NULL;
    if (names != NULL &&
        py.PyDict_SetItemString(names, "__builtins__", py.PyEval_GetBuiltins()) == 0 &&
        (code = py.Py_CompileString(find_package_text, "<cudla-sim>", PY_FILE_INPUT)) != NULL &&
        (defined = py.PyEval_EvalCode(code, names, names)) != NULL) {
        done = py.PyObject_CallFunction(py.PyDict_GetItemString(names, "find"), "ss", package,
                                        others);
    }
    py.PyErr_Clear(); /* what is missing is said when it is imported */
    drop(done);
    drop(defined);
    drop(code);
    drop(names);
}

/* The error that Python has now, as one line. */
static void describe_error(char *text, size_t size)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    py.PyErr_Fetch(&type, &value, &trace);
    py.PyErr_NormalizeException(&type, &value, &trace);
    PyObject *shown = value != NULL ? py.PyObject_Repr(value) : NULL;
    const char *line = shown != NULL ? py.PyUnicode_AsUTF8AndSize(shown, NULL) : NULL;
    snprintf(text, size, "%s", line != NULL ? line : "unknown");
    drop(shown);
    py.PyErr_Restore(type, value, trace);
}

static int installed_for_another(char *text, size_t size)
{
    char folder[PATH_MAX], version[SIM_PYTHON_VERSION_SIZE];
    int here = sim_python_version(py.Py_GetVersion());
    if (sim_python_package_folder(folder, sizeof folder) != 0 ||
        !sim_python_version_in(folder, version) || sim_python_version(version) == here) {
        return 0;
    }
    snprintf(text, size, "%s is for Python %s, but this process runs %d.%d (CUDLA_SIM_PYTHON names "
             "an interpreter)", folder, version, here / 100, here % 100);
    return 1;
}

/* Python is there and nobody's thread holds its lock. */
static int import_package(void)
{
    static const char name[] = "cudla_sim.abi.attach";
    PyGILState_STATE gil = py.PyGILState_Ensure();
    if (!we_started_python) {
        find_package();
    }
    PyObject *module = py.PyImport_ImportModule(name);
    if (module == NULL && we_started_python && sim_bridge.size == 0) {
        py.PyErr_Clear(); /* perhaps it was not found; a second failure is told */
        find_package();
        module = py.PyImport_ImportModule(name);
    }
    if (module == NULL) {
        char line[PATH_MAX + 512];
        if (installed_for_another(line, sizeof line)) {
            py.PyErr_Clear();
        } else {
            describe_error(line, sizeof line);
            py.PyErr_Print();
        }
        fail("the package cudla_sim could not be imported", line);
    } else if (sim_bridge.size != sizeof sim_bridge) {
        fail("its extension is of another version than libcudla_sim.so; install cudla-sim again",
             NULL);
        drop(module);
        module = NULL;
    }
    drop(module); /* sys.modules keeps it */
    py.PyGILState_Release(gil);
    return module != NULL ? 0 : -1;
}

/* Finds the interpreter's functions; 0 when `py` can be used. `executable` is empty in a Python. */
static int find_python(char *executable, size_t size)
{
    char why[PATH_MAX + 512] = "";
    void *library = sim_python_here();
    executable[0] = '\0';
    if (library == NULL) {
        if (sim_python_choose(executable, size, why, sizeof why) != 0) {
            fail("no Python interpreter", why);
            return -1;
        }
        library = sim_python_library(executable, why, sizeof why);
        if (library == NULL) {
            fail("no Python library", why);
            return -1;
        }
    }
    const char *missing = sim_python_resolve(library);
    int version = py.Py_GetVersion != NULL ? sim_python_version(py.Py_GetVersion()) : 0;
    if (version < 310) {
        fail("needs Python 3.10 or later, but this process has",
             version ? py.Py_GetVersion() : "something else");
        return -1;
    }
    if (missing != NULL) {
        fail("this Python lacks a function of its C API", missing);
        return -1;
    }
    return 0;
}

static void boot(void)
{
    char executable[PATH_MAX], why[PATH_MAX];
    booting_here = 1;
    sim_below_leak_sanitizer = sim_has_leak_sanitizer();
    /* One thread by default: results and timings do not depend on the machine's core count. */
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (find_python(executable, sizeof executable) == 0) {
        int there = py.Py_IsInitialized();
        if (!there && executable[0] == '\0' && /* a host that is linked to Python */
            sim_python_choose(executable, sizeof executable, why, sizeof why) != 0) {
            fail("no Python interpreter", why);
        } else if (there || (we_started_python = start_python(executable) == 0)) {
            if (import_package() == 0) {
                __atomic_store_n(&sim_state_word, SIM_READY, __ATOMIC_RELEASE);
                pthread_atfork(before_fork, after_fork_parent, after_fork_child);
                if (we_started_python) {
                    atexit(on_exit_of_host);
                } else {
                    register_python_atexit();
                }
            }
        }
    }
    booting_here = 0;
}

int sim_boot(void)
{
    if (booting_here) {
        return -1; /* the import of our own package called back into the API */
    }
    pthread_once(&boot_once, boot);
    if (sim_below_leak_sanitizer) {
        sim_clear_of_page_starts();
    }
    return __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY ? 0 : -1;
}

int sim_started_python(void)
{
    return we_started_python;
}
