# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.20)

# Write COMMIT, else git's name of the sources in ROOT, to the header OUT, if it is another.
set(commit "${COMMIT}")
if(NOT commit)
    execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${ROOT}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[A-Za-z0-9._-]+$")
    set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define COMPARE_COMMIT \"@commit@\"\n" @ONLY)
