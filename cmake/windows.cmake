# SPDX-License-Identifier: MIT
# Windows: calls of POSIX that it lacks, for all that is built, and what mingw-w64 needs to be told.
set(windows_sources "") # of the library, and of programs that use such calls themselves
if(NOT WIN32)
    return()
endif()

# C99's printf() instead of msvcrt's; files of more than 2 GiB.
add_compile_definitions(__USE_MINGW_ANSI_STDIO=1 _FILE_OFFSET_BITS=64)
# gcc takes formats for msvcrt's, and cannot align the stack to more than 16 bytes: vectors there
# are moved by instructions that do not ask for more.
add_compile_options(-Wno-format -Wno-format-extra-args -Wa,-muse-unaligned-vector-move)
set(windows_dir ${CMAKE_CURRENT_SOURCE_DIR}/src/base/windows)
add_compile_options(-include ${windows_dir}/posix.h)
include_directories(${windows_dir})
# Nothing of the compiler's need be installed where programs run.
add_link_options(-static)
foreach(name gomp pthread mingwthrd)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(OpenMP_${name}_LIBRARY ${path} CACHE FILEPATH "")
endforeach()
set(windows_sources ${windows_dir}/posix.c)
