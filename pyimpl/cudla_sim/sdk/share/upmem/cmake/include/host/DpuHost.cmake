# For host programs: include("${UPMEM_HOME}/share/upmem/cmake/include/host/DpuHost.cmake"), then
#
#   include_directories(${DPU_HOST_INCLUDE_DIRECTORIES})
#   link_directories(${DPU_HOST_LINK_DIRECTORIES})
#   target_link_libraries(program ${DPU_HOST_LIBRARIES})

get_filename_component(_dpu_host_prefix "${CMAKE_CURRENT_LIST_DIR}/../../../../.." ABSOLUTE)
set(DPU_HOST_INCLUDE_DIRECTORIES "${_dpu_host_prefix}/include/dpu")
set(DPU_HOST_LINK_DIRECTORIES "${_dpu_host_prefix}/lib")
set(DPU_HOST_LIBRARIES dpu)
unset(_dpu_host_prefix)
