# SPDX-License-Identifier: MIT
# The Direct3D 11 device: Windows has all that it needs. Elsewhere a stub stands in for it.
set(d3d11_sources src/device/d3d11/stub.c)
if(WIN32)
    file(GLOB d3d11_sources CONFIGURE_DEPENDS src/device/d3d11/*.c)
    list(FILTER d3d11_sources EXCLUDE REGEX "stub\\.c$")
endif()
