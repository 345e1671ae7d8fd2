# SPDX-License-Identifier: MIT
# The CPU engine's inner loops: src/device/cpu/simd/*.c, compiled once for each SIMD level
# and precision. The level is chosen at run time, so one library serves every processor.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(simd_levels scalar sse2 avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(simd_levels scalar neon)
else()
    set(simd_levels scalar)
endif()
set(KALLIMA_MOST_SIMD "" CACHE STRING
    "The highest SIMD level that is compiled in: one of ${simd_levels}, or empty for the last")
if(KALLIMA_MOST_SIMD)
    list(FIND simd_levels "${KALLIMA_MOST_SIMD}" last)
    if(last LESS 0)
        message(FATAL_ERROR "KALLIMA_MOST_SIMD=${KALLIMA_MOST_SIMD}; must be one of ${simd_levels}")
    endif()
    math(EXPR last "${last} + 1")
    list(SUBLIST simd_levels 0 ${last} simd_levels)
endif()
set(simd_flags_scalar "")
set(simd_flags_sse2 "") # every x86-64 has it
set(simd_flags_avx2 -mavx2 -mfma)
set(simd_flags_avx512 -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
set(simd_flags_neon "")
# A codelet's places are multiples of one stride. GCC's ivopts gives each a pointer of its own,
# and they and the values of large codelets push each other from the registers.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(simd_flags_all -fno-ivopts)
    # Thousands of accesses a function: checked by calls they take 0.6 of the time to compile. Those
    # through a null pointer or past an end are AddressSanitizer's, vectors begin at any number, and
    # without these checks it takes 0.6 of that.
    if(KALLIMA_SANITIZE MATCHES address)
        list(APPEND simd_flags_all --param=asan-instrumentation-with-call-threshold=0
            -fno-sanitize=pointer-overflow,null,alignment,object-size)
    endif()
endif()

# Its inner loops for one level and precision, from some of these sources.
function(kallima_add_simd level precision flags)
    string(TOUPPER ${precision} PRECISION)
    set(target kallima-${level}-${precision})
    add_library(${target} OBJECT ${ARGN})
    target_compile_options(${target} PRIVATE ${flags} ${simd_flags_all}
        $<$<CONFIG:Release,RelWithDebInfo>:-O3>)
    target_compile_definitions(${target} PRIVATE
        KAL_SIMD_${PRECISION} KAL_SIMD_SUFFIX=${level}_${precision})
    target_include_directories(${target} PRIVATE include src
        ${CMAKE_CURRENT_BINARY_DIR}/generated)
    add_dependencies(${target} kallima-codelets)
    list(APPEND simd_objects $<TARGET_OBJECTS:${target}>)
    set(simd_objects ${simd_objects} PARENT_SCOPE)
endfunction()

file(GLOB simd_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/simd/*.c)
set(simd_objects "")
# The places of a large codelet that is put into the loop that calls it, as it is called
# once, are all found before the loop and kept in memory: of 16 points it takes 1.15 times
# as long so. Two codelets that are one function have no such loop.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    foreach(name fused kernels line)
        set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/simd/${name}.c
            PROPERTIES COMPILE_OPTIONS -fno-inline-functions-called-once)
    endforeach()
endif()
foreach(level ${simd_levels})
    string(TOUPPER ${level} LEVEL)
    target_compile_definitions(kallima-objects PRIVATE KAL_CPU_HAS_${LEVEL})
    foreach(precision f32 f64)
        kallima_add_simd(${level} ${precision} "${simd_flags_${level}}" ${simd_sources})
        target_compile_definitions(kallima-${level}-${precision} PRIVATE KAL_SIMD_${LEVEL})
    endforeach()
endforeach()

# Narrower registers, of one lane and of 16 bytes, where there are fused operations.
if("avx2" IN_LIST simd_levels)
    foreach(precision f32 f64)
        kallima_add_simd(alone ${precision} "${simd_flags_avx2}"
            ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/simd/apart.c)
        target_compile_definitions(kallima-alone-${precision} PRIVATE
            KAL_SIMD_SCALAR KAL_SIMD_FUSED)
        kallima_add_simd(narrow ${precision} "${simd_flags_avx2}"
            ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/simd/several.c)
        target_compile_definitions(kallima-narrow-${precision} PRIVATE
            KAL_SIMD_SSE2 KAL_SIMD_FUSED)
    endforeach()
endif()
