# SPDX-License-Identifier: MIT
# The CUDA device: needs the headers cuda.h and nvrtc.h of CUDA 11.8 or later to build, and
# nothing of CUDA to link; driver and compiler are loaded at run time.
set(KALLIMA_CUDA AUTO CACHE STRING "The CUDA device: AUTO (where its headers are), ON or OFF")
set_property(CACHE KALLIMA_CUDA PROPERTY STRINGS AUTO ON OFF)

set(kallima_has_cuda OFF)
if(NOT KALLIMA_CUDA STREQUAL OFF)
    set(cuda_roots ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH} $ENV{CUDA_HOME}
        /usr/local/cuda)
    find_path(KALLIMA_CUDA_INCLUDE nvrtc.h HINTS ${cuda_roots} PATH_SUFFIXES include)
    set(cuda_version 0)
    if(EXISTS "${KALLIMA_CUDA_INCLUDE}/cuda.h")
        file(STRINGS ${KALLIMA_CUDA_INCLUDE}/cuda.h cuda_version
            REGEX "^#define CUDA_VERSION [0-9]+" LIMIT_COUNT 1)
        string(REGEX REPLACE "[^0-9]" "" cuda_version "${cuda_version}")
    endif()
    if(cuda_version GREATER_EQUAL 11080)
        set(kallima_has_cuda ON)
    elseif(KALLIMA_CUDA STREQUAL ON)
        message(FATAL_ERROR "KALLIMA_CUDA=ON, but there is no cuda.h and nvrtc.h of CUDA 11.8 "
            "or later; CUDAToolkit_ROOT says where to look")
    endif()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cuda/*.c)
if(kallima_has_cuda)
    list(FILTER cuda_sources EXCLUDE REGEX "/stub\\.c$")
    set_source_files_properties(${cuda_sources} PROPERTIES
        COMPILE_OPTIONS "-isystem;${KALLIMA_CUDA_INCLUDE}")
else()
    list(FILTER cuda_sources INCLUDE REGEX "/stub\\.c$")
endif()
target_sources(kallima-objects PRIVATE ${cuda_sources})
