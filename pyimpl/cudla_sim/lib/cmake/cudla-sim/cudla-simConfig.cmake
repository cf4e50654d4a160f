# find_package(cudla-sim CONFIG): imported targets for the simulated libraries.
#
#   cudla-sim::cudla  cudla-sim::nvscibuf  cudla-sim::nvscisync  cudla-sim::cudart
#   cudla-sim::nvdla_runtime  cudla-sim::dpu  cudla-sim::cupva_host

get_filename_component(_cudla_sim_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

function(_cudla_sim_target name library)
  if(NOT TARGET cudla-sim::${name})
    get_filename_component(soname "${library}" NAME)
    add_library(cudla-sim::${name} SHARED IMPORTED)
    set_target_properties(cudla-sim::${name} PROPERTIES
      IMPORTED_LOCATION "${_cudla_sim_prefix}/lib/${library}"
      IMPORTED_SONAME "${soname}"
      INTERFACE_INCLUDE_DIRECTORIES "${ARGN}")
  endif()
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/cudla-simTargets.cmake")

set(cudla-sim_INCLUDE_DIRS "${_cudla_sim_prefix}/include")
set(cudla-sim_LIBRARY_DIRS "${_cudla_sim_prefix}/lib")
unset(_cudla_sim_prefix)
