// A program of named cases. CASE(name) { ... }; all run in the order of the file.
#ifndef CASES_HPP
#define CASES_HPP

#include <cupva_host.hpp>
#include <cupva_platform.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

PVA_DECLARE_EXECUTABLE(subject)

using namespace cupva;

struct Case {
    char const *name;
    void (*run)();
};

inline std::vector<Case> &all()
{
    static std::vector<Case> cases;
    return cases;
}

struct Registration {
    Registration(char const *name, void (*run)()) { all().push_back({name, run}); }
};

#define CASE(name) \
    static void case_##name(); \
    static Registration registered_##name(#name, case_##name); \
    static void case_##name()

#define EXPECT(condition) \
    do { \
        if (!(condition)) \
            throw std::runtime_error("line " + std::to_string(__LINE__) + ": " #condition); \
    } while (0)

// The call must throw this Error, with the words somewhere in its explanation.
#define REFUSED(error, words, ...) \
    refused(__LINE__, #__VA_ARGS__, error, words, [&] { static_cast<void>(__VA_ARGS__); })

template <typename Call>
void refused(int line, char const *text, Error error, char const *words, Call const &call)
{
    std::ostringstream said;
    said << "line " << line << ": " << text << ": ";
    try {
        call();
    } catch (Exception const &e) {
        if (e.getErrorCode() == error && std::strstr(e.what(), words) != nullptr)
            return;
        said << static_cast<uint32_t>(e.getErrorCode()) << " " << e.what() << "; expected "
             << static_cast<uint32_t>(error) << " ..." << words << "...";
        throw std::runtime_error(said.str());
    }
    said << "not refused";
    throw std::runtime_error(said.str());
}

// Device memory that is freed at the end of a case.
template <typename T>
struct Buffer {
    explicit Buffer(int64_t count) : device(static_cast<T *>(mem::Alloc(count * sizeof(T)))),
                                     host(static_cast<T *>(mem::GetHostPointer(device)))
    {
    }
    ~Buffer() { static_cast<void>(CupvaMemFree(device)); }
    Buffer(Buffer const &) = delete;
    Buffer &operator=(Buffer const &) = delete;

    T *device, *host;
};

inline Executable &subject()
{
    static Executable made =
        Executable::Create(PVA_EXECUTABLE_DATA(subject), PVA_EXECUTABLE_SIZE(subject));
    return made;
}

// Submits, waits, and gives the status of the first command.
inline Error outcome(std::vector<BaseCmd const *> cmds, int32_t executionTimeout = -1,
                     OrderType order = IN_ORDER)
{
    SyncObj sync = SyncObj::Create();
    Fence fence{sync};
    CmdRequestFences rf{fence};
    cmds.push_back(&rf);
    std::vector<CmdStatus> status(cmds.size());
    Stream stream = Stream::Create();
    stream.submit(cmds.data(), status.data(), static_cast<int32_t>(cmds.size()), order,
                  executionTimeout);
    if (!fence.wait(30 * 1000 * 1000))
        throw std::runtime_error("the submission did not end");
    return CheckCommandStatus(status[0]);
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (Case const &one : all()) {
        if (argc > 1 && std::strcmp(argv[1], one.name) != 0)
            continue;
        try {
            one.run();
            std::cout << "ok " << one.name << std::endl;
        } catch (std::exception const &e) {
            failed = 1;
            std::cout << "FAILED " << one.name << ": " << e.what() << std::endl;
        }
    }
    return failed;
}

#endif
