# SPDX-License-Identifier: MIT
# What `make check` runs beside the suites of tests/: checks of the source, and builds of
# the suites by other means. All but the quick checks run only with `ctest -C Check`.
set(source_dir ${CMAKE_CURRENT_SOURCE_DIR})
set(scripts ${source_dir}/scripts)

function(kallima_check name)
    add_test(NAME check.${name} COMMAND ${ARGN})
    set_tests_properties(check.${name} PROPERTIES
        LABELS check TIMEOUT 120 SKIP_RETURN_CODE 77)
endfunction()

if(KALLIMA_SANITIZE OR CMAKE_CROSSCOMPILING)
    return()
endif()

kallima_check(format ${scripts}/check_format.sh)
kallima_check(layers ${scripts}/check_layers.py)
kallima_check(docs ${scripts}/check_docs.py)
kallima_check(symbols ${scripts}/check_symbols.sh
    $<TARGET_FILE:kallima> $<TARGET_FILE:kallima-static>)
kallima_check(headers ${scripts}/check_headers.sh)

# Builds of their own, of half of the processors each: what one of them does on a single one
# leaves the others to the other half.
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR build_jobs "(${processors} + 1) / 2")
function(kallima_build_check name timeout)
    add_test(NAME ${name} CONFIGURATIONS Check COMMAND ${ARGN} WORKING_DIRECTORY ${source_dir})
    string(REPLACE "-long" "" folder ${name})
    set_tests_properties(${name} PROPERTIES
        LABELS build TIMEOUT ${timeout} PROCESSORS ${build_jobs} SKIP_RETURN_CODE 77
        ENVIRONMENT JOBS=${build_jobs} RESOURCE_LOCK build-${folder})
endfunction()

kallima_build_check(install 600 ${scripts}/check_install.sh ${CMAKE_CURRENT_BINARY_DIR})
kallima_build_check(asan 2400 ${scripts}/check_build.sh asan)
kallima_build_check(asan-long 6000 ${scripts}/check_build.sh asan-long)
set_tests_properties(asan-long PROPERTIES LABELS "build;long")
kallima_build_check(tsan 1200 ${scripts}/check_build.sh tsan)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    kallima_build_check(windows 1800 ${scripts}/check_windows.sh quick $<TARGET_FILE:kallima-gen>)
    kallima_build_check(windows-long 10800 ${scripts}/check_windows.sh long
        $<TARGET_FILE:kallima-gen>)
    set_tests_properties(windows-long PROPERTIES LABELS "build;long")
    kallima_build_check(neon 1200 ${scripts}/check_build.sh neon)
    kallima_build_check(neon-long 3600 ${scripts}/check_build.sh neon-long)
    set_tests_properties(neon-long PROPERTIES LABELS "build;long")
endif()
