# For DPU programs. Either the toolchain file of a build,
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=${UPMEM_HOME}/share/upmem/cmake/dpu.cmake ...
#
# or included by a CMakeLists.txt whose project(... C) has found the host's compiler before.
#
# UPMEM_HOME is taken from the cache, then from the environment, then from where this file lies.

if(NOT DEFINED UPMEM_HOME)
  if(DEFINED ENV{UPMEM_HOME})
    set(UPMEM_HOME "$ENV{UPMEM_HOME}")
  else()
    get_filename_component(UPMEM_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  endif()
endif()

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR dpu)
set(DPU_TRIPLE dpu-upmem-dpurte)

# Not bin/clang: a project that replaces CMAKE_C_FLAGS would lose the target with them.
set(CMAKE_C_COMPILER "${UPMEM_HOME}/bin/dpu-upmem-dpurte-clang")
set(CMAKE_ASM_COMPILER "${UPMEM_HOME}/bin/dpu-upmem-dpurte-clang")

# A DPU program needs its number of tasklets before it links: a library is enough of a test.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX "")

if(NOT DEFINED DPU_ARCH_VERSION)
  if(DEFINED ENV{DPU_ARCH_VERSION})
    set(DPU_ARCH_VERSION "$ENV{DPU_ARCH_VERSION}")
  else()
    set(DPU_ARCH_VERSION v1A)
  endif()
endif()
set(_dpu_flags "--target=${DPU_TRIPLE} -mcpu=${DPU_ARCH_VERSION}")
if(CMAKE_C_COMPILER_LOADED)
  # too late for what the detection of a compiler reads; -rdynamic is the host's
  string(APPEND CMAKE_C_FLAGS " ${_dpu_flags}")
  set(CMAKE_SHARED_LIBRARY_LINK_C_FLAGS "")
else()
  set(CMAKE_CXX_COMPILER "${UPMEM_HOME}/bin/dpu-upmem-dpurte-clang")
  set(CMAKE_C_FLAGS_INIT "${_dpu_flags}")
  set(CMAKE_CXX_FLAGS_INIT "${_dpu_flags}")
  set(CMAKE_ASM_FLAGS_INIT "${_dpu_flags}")
endif()
unset(_dpu_flags)

# Programs and the files that find_program finds are the host's; libraries and headers are not.
set(CMAKE_FIND_ROOT_PATH "${UPMEM_HOME}/share/upmem")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
