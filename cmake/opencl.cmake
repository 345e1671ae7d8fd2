# SPDX-License-Identifier: MIT
# The OpenCL device: headers at build time, the library itself at run time. Without headers
# a stub stands in for it, and the rest of the library is the same.
include(CheckIncludeFile)

set(KALLIMA_OPENCL AUTO CACHE STRING "OpenCL device: AUTO (if its headers are there), ON, OFF")
set_property(CACHE KALLIMA_OPENCL PROPERTY STRINGS AUTO ON OFF)

set(opencl_sources src/device/opencl/stub.c)
if(KALLIMA_OPENCL)
    check_include_file(CL/cl.h KALLIMA_HAS_CL_H)
    if(KALLIMA_HAS_CL_H)
        file(GLOB opencl_sources CONFIGURE_DEPENDS src/device/opencl/*.c)
        list(FILTER opencl_sources EXCLUDE REGEX "stub\\.c$")
    elseif(NOT KALLIMA_OPENCL STREQUAL AUTO)
        message(FATAL_ERROR "KALLIMA_OPENCL is ON, but CL/cl.h is missing: install "
            "opencl-headers or the like, or set it OFF")
    endif()
endif()
