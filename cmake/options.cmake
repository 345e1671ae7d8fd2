# SPDX-License-Identifier: MIT
# Flags that every target gets: warnings, sanitizers, and the build type when none is given.
get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Fused operations are written out where they are wanted; anywhere else they would make
# results depend on the compiler.
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -ffp-contract=off)
if(KALLIMA_WERROR)
    # The last two depend on how far the optimiser sees, so not on the source alone.
    add_compile_options(-Werror -Wno-error=maybe-uninitialized -Wno-error=format-truncation)
endif()

if(KALLIMA_SANITIZE)
    string(REPLACE ";" "," sanitizers "${KALLIMA_SANITIZE}")
    add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${sanitizers})
endif()
