# SPDX-License-Identifier: MIT
# Toolchain: 64-bit Windows from Linux, by mingw-w64. scripts/fetch_cmocka.sh puts the library that
# tests need into build-windows/root. Programs run under Wine, which ctest then uses for tests.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/../build-windows/root ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/lib/pkgconfig)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(KALLIMA_WINE NAMES wine64 wine PATHS /usr/lib/wine)
mark_as_advanced(KALLIMA_WINE)
if(KALLIMA_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${KALLIMA_WINE})
endif()
