# SPDX-License-Identifier: MIT
# Toolchain: 64-bit ARM from another Debian machine. scripts/fetch_sysroot.sh puts the
# libraries into build-neon/sysroot; without them only the library can be built. Programs
# run under qemu-user, which ctest then uses for tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build-neon/sysroot ABSOLUTE)
if(EXISTS ${sysroot}/complete)
    set(CMAKE_SYSROOT ${sysroot})
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
    set(ENV{PKG_CONFIG_LIBDIR}
        ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)
else()
    set(sysroot /usr/aarch64-linux-gnu)
    set(CMAKE_FIND_ROOT_PATH ${sysroot})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${sysroot})

# The references compute in quad precision, which has another name here.
set(CMAKE_C_FLAGS_INIT -D__float128=_Float128)
