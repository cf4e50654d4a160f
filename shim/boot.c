/*
 * Starts Python inside the host program, or finds the one that is already there.
 *
 * The order matters: libpython must be globally visible before _cffi_backend is imported (a host
 * may have loaded us with RTLD_LOCAL), and our own initialisation must run before cffi's, because
 * cffi's would take whatever python3 is on PATH and exit() the host when that fails.
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "internal.h"

#ifndef CUDLA_SIM_BAKED_PYTHON
#error "build_ffi.py passes the interpreter that the library was built for"
#endif

int sim_state_word = SIM_COLD;

static pthread_once_t boot_once = PTHREAD_ONCE_INIT;
static char problem[512];
static int we_started_python;
/* The thread that runs boot: calls it makes while booting must not wait for itself. */
static __thread int booting_here;

extern int sim_cffi_start(void); /* in the cffi-generated file */

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

static int is_executable(const char *path)
{
    return path[0] != '\0' && access(path, X_OK) == 0;
}

/* <prefix>/bin/python3 of the installation this library lies in, when it lies in one. */
static int python_beside_library(char *path, size_t size)
{
    Dl_info self;
    char here[PATH_MAX];
    if (dladdr((void *)&sim_boot, &self) == 0 || realpath(self.dli_fname, here) == NULL) {
        return 0;
    }
    for (char *slash = strrchr(here, '/'); slash != NULL && slash != here;
         slash = strrchr(here, '/')) {
        *slash = '\0';
        const char *name = strrchr(here, '/');
        if (name != NULL && strcmp(name, "/lib") == 0) {
            snprintf(path, size, "%.*s/bin/python3", (int)(name - here), here);
            if (is_executable(path)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Which interpreter decides sys.prefix: the user's word, then where we lie, then the build's. */
static void choose_python(char *path, size_t size)
{
    const char *wish = getenv("CUDLA_SIM_PYTHON");
    if (wish != NULL && wish[0] != '\0') {
        snprintf(path, size, "%s", wish);
    } else if (!python_beside_library(path, size)) {
        snprintf(path, size, "%s", CUDLA_SIM_BAKED_PYTHON);
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
    PyObject *module = PyImport_ImportModule("_signal");
    Py_XDECREF(module);
    PyErr_Clear();
    if (known) {
        sigaction(SIGINT, &before, NULL);
    }
}

static int start_python(void)
{
    char executable[PATH_MAX];
    choose_python(executable, sizeof executable);
    if (!is_executable(executable)) {
        fail("no Python interpreter there (CUDLA_SIM_PYTHON names another)", executable);
        return -1;
    }

    /*
     * Isolated: PYTHONPATH and PYTHONHOME of the host's environment are meant for its own Python
     * programs (ROS sets one), not for the interpreter inside this library. It leaves the locale
     * alone too, which is the host's business.
     */
    PyPreConfig pre;
    PyPreConfig_InitIsolatedConfig(&pre);
    pre.utf8_mode = 1;
    const char *allocator = getenv("PYTHONMALLOC"); /* the one that valgrind and ASan need */
    if (allocator != NULL && strcmp(allocator, "malloc") == 0) {
        pre.allocator = PYMEM_ALLOCATOR_MALLOC;
    }
    PyStatus status = Py_PreInitialize(&pre);
    if (PyStatus_Exception(status)) {
        fail("Python could not be pre-initialised", status.err_msg);
        return -1;
    }

    PyConfig config;
    PyConfig_InitIsolatedConfig(&config); /* and no signal handlers: Ctrl-C kills the host */
    status = PyConfig_SetBytesString(&config, &config.program_name, executable);
    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(&config);
    }
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        fail("Python could not start (CUDLA_SIM_PYTHON names another)", status.err_msg);
        return -1;
    }
    leave_sigint_alone();
    PyEval_SaveThread(); /* every later call takes the interpreter lock itself */
    return 0;
}

static void on_exit_of_host(void)
{
    /* Python is never finalised in a C host, so its own atexit never runs: reports hang here. */
    if (Py_IsInitialized() && __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY) {
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
    if (!we_started_python || !Py_IsInitialized() ||
        __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) != SIM_READY) {
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("cudla_sim.core.closing");
    PyObject *done = module != NULL ? PyObject_CallMethod(module, "close", NULL) : NULL;
    PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(module);
    PyGILState_Release(gil);
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
        fork_state = PyGILState_Ensure();
        PyOS_BeforeFork();
    }
}

static void after_fork_parent(void)
{
    if (fork_entered) {
        PyOS_AfterFork_Parent();
        PyGILState_Release(fork_state);
    }
}

static void after_fork_child(void)
{
    sim_dpu_fast_after_fork();
    if (fork_entered) {
        PyOS_AfterFork_Child();
        PyGILState_Release(fork_state);
    }
}

/* A Python host finalises Python while C code may still call us: answer failures from then on. */
static PyObject *close_gate(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    impl_sim_at_exit();
    __atomic_store_n(&sim_state_word, SIM_CLOSED, __ATOMIC_RELEASE);
    Py_RETURN_NONE;
}

static PyMethodDef close_gate_method = {"_cudla_sim_close", close_gate, METH_NOARGS, NULL};

static int register_python_atexit(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *atexit_module = PyImport_ImportModule("atexit");
    PyObject *function = PyCFunction_New(&close_gate_method, NULL);
    PyObject *done = NULL;
    if (atexit_module != NULL && function != NULL) {
        done = PyObject_CallMethod(atexit_module, "register", "O", function);
    }
    PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(atexit_module);
    PyGILState_Release(gil);
    return done != NULL ? 0 : -1;
}

/*
 * A Python host may live in another environment than the one this library was installed for. Then
 * the folder of our package, and that of what it imports, are added behind the host's own.
 */
static const char find_package_text[] =
    "def find(*folders):\n"
    "    import importlib.util, site\n"
    "    for folder in folders:\n"
    "        names = ('cudla_sim', 'numpy', '_cffi_backend', 'elftools')\n"
    "        if all(importlib.util.find_spec(name) for name in names):\n"
    "            return\n"
    "        site.addsitedir(folder)\n";

static void find_package(void)
{
    char package[PATH_MAX], others[PATH_MAX], executable[PATH_MAX];
    Dl_info self;
    if (dladdr((void *)&sim_boot, &self) == 0 || realpath(self.dli_fname, package) == NULL) {
        return;
    }
    for (int up = 0; up < 3; up++) { /* <folder>/cudla_sim/lib/libcudla_sim.so */
        char *slash = strrchr(package, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    choose_python(executable, sizeof executable);
    char *name = strrchr(executable, '/');
    if (name != NULL) {
        *name = '\0';
    }
    snprintf(others, sizeof others, "%.*s/../lib/python%d.%d/site-packages", PATH_MAX - 64,
             executable, PY_MAJOR_VERSION, PY_MINOR_VERSION);

    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *names = PyDict_New();
    PyObject *defined = NULL, *done = NULL;
    if (names != NULL &&
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0 &&
        (defined = PyRun_String(find_package_text, Py_file_input, names, names)) != NULL) {
        done = PyObject_CallFunction(PyDict_GetItemString(names, "find"), "ss", package, others);
    }
    PyErr_Clear(); /* what is missing is said when it is imported */
    Py_XDECREF(done);
    Py_XDECREF(defined);
    Py_XDECREF(names);
    PyGILState_Release(gil);
}

static int same_minor_version(void)
{
    char built[16];
    snprintf(built, sizeof built, "%d.%d.", PY_MAJOR_VERSION, PY_MINOR_VERSION);
    return strncmp(Py_GetVersion(), built, strlen(built)) == 0;
}

static void boot(void)
{
    booting_here = 1;
    Dl_info python;
    if (dladdr((void *)&Py_IsInitialized, &python) != 0 && python.dli_fname != NULL) {
        dlopen(python.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    }
    /* One thread by default: results and timings do not depend on the machine's core count. */
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (!same_minor_version()) {
        fail("built for Python " PY_VERSION ", but this process runs", Py_GetVersion());
    } else if (Py_IsInitialized() || (we_started_python = start_python() == 0)) {
        if (!we_started_python) {
            find_package();
        }
        if (sim_cffi_start() != 0) {
            fail("the package cudla_sim could not be imported (see the traceback above)", NULL);
        } else {
            __atomic_store_n(&sim_state_word, SIM_READY, __ATOMIC_RELEASE);
            pthread_atfork(before_fork, after_fork_parent, after_fork_child);
            if (we_started_python) {
                atexit(on_exit_of_host);
            } else {
                register_python_atexit();
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
    return __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY ? 0 : -1;
}

int sim_started_python(void)
{
    return we_started_python;
}
