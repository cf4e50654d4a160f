# find_package(pva-sdk): build programs for the simulated PVA. May come before project().
#
#   cupva_host                                          the host library and its headers
#   pva_device(target sources... [BCF file])            a VPU executable named as the target
#   cupva_device(...)                                   the same
#   add_executable_pva(name HOST sources... DEVICE targets...)
#   add_library_pva(name HOST sources... DEVICE targets... [STATIC_HOST])
#
# Include directories, definitions and options of a device target are those of its kernels.

get_filename_component(PVA_SDK_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(PVA_BUILD_MODE NATIVE CACHE STRING "How programs are built; only NATIVE exists here")
if(NOT PVA_BUILD_MODE STREQUAL "NATIVE")
  message(WARNING "PVA_BUILD_MODE is ${PVA_BUILD_MODE}; this is a simulator, it builds NATIVE")
endif()

# The command that knows our Python, or any Python that can import the package.
set(PVA_CC "${PVA_SDK_ROOT}/sdk/bin/pva-cc")
if(NOT EXISTS "${PVA_CC}")
  find_program(PVA_PYTHON NAMES python3 python DOC "Python with the package cudla-sim")
  get_filename_component(_pva_path "${PVA_SDK_ROOT}" DIRECTORY)
  set(PVA_CC "${CMAKE_COMMAND}" -E env "PYTHONPATH=${_pva_path}" "${PVA_PYTHON}"
    -m cudla_sim.cupva.toolchain)
  unset(_pva_path)
endif()

foreach(_name cupva_host pva-sdk::cupva_host)
  if(NOT TARGET ${_name})
    add_library(${_name} INTERFACE IMPORTED GLOBAL)
    set_target_properties(${_name} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${PVA_SDK_ROOT}/include/cupva"
      INTERFACE_COMPILE_DEFINITIONS "CUPVA_DEVICE=0"
      INTERFACE_LINK_LIBRARIES
        "${PVA_SDK_ROOT}/lib/libcupva_host.so;-Wl,-rpath,${PVA_SDK_ROOT}/lib")
  endif()
endforeach()
unset(_name)

# BCF files describe the memory of the vendor's linker; they are accepted and not read.
function(pva_device target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "BCF" "SOURCES")
  set(sources "")
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS ARG_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${source}")
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "pva_device(${target}): no sources")
  endif()
  # Never built: it holds what target_include_directories() and its siblings say.
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}_exe.o")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(options "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${PVA_CC} --name ${target} -o "${object}" -MMD -MF "${object}.d"
      "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      "${options}" ${sources}
    DEPENDS ${sources}
    DEPFILE "${object}.d"
    COMMENT "Building VPU executable ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${target}_exe DEPENDS "${object}")
  set_target_properties(${target} PROPERTIES PVA_OBJECT "${object}")
endfunction()

macro(cupva_device)
  pva_device(${ARGN})
endmacro()

# Adds the objects of device targets to a host target.
function(_pva_attach name)
  foreach(device IN LISTS ARGN)
    get_target_property(object ${device} PVA_OBJECT)
    if(NOT object)
      message(FATAL_ERROR "${name}: DEVICE ${device} was not made with pva_device()")
    endif()
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(${name} PRIVATE "${object}")
    add_dependencies(${name} ${device}_exe)
  endforeach()
  target_link_libraries(${name} PUBLIC cupva_host)
endfunction()

function(add_executable_pva name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HOST;DEVICE")
  add_executable(${name} ${ARG_HOST} ${ARG_UNPARSED_ARGUMENTS})
  _pva_attach(${name} ${ARG_DEVICE})
endfunction()

function(add_library_pva name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC_HOST" "" "HOST;DEVICE")
  set(kind SHARED)
  if(ARG_STATIC_HOST)
    set(kind STATIC)
  endif()
  add_library(${name} ${kind} ${ARG_HOST} ${ARG_UNPARSED_ARGUMENTS})
  _pva_attach(${name} ${ARG_DEVICE})
endfunction()
