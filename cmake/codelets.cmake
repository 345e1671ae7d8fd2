# SPDX-License-Identifier: MIT
# The generator of the CPU engine's codelets, and the files that it writes at build time.
# Cross builds name a generator of the building machine in KALLIMA_GENERATOR.
set(KALLIMA_GENERATOR "" CACHE FILEPATH "kallima-gen of the building machine, for cross builds")

if(NOT KALLIMA_GENERATOR)
    file(GLOB gen_sources CONFIGURE_DEPENDS
        src/gen/*.c src/base/*.c src/math/*.c src/codelet/*.c src/emit/*.c)
    add_executable(kallima-gen ${gen_sources})
    target_include_directories(kallima-gen PRIVATE include src)
    target_link_libraries(kallima-gen PRIVATE m)
    set(KALLIMA_GENERATOR $<TARGET_FILE:kallima-gen>)
    set(gen_depends kallima-gen)
endif()

set(generated ${CMAKE_BINARY_DIR}/generated)
foreach(form plain fma)
    add_custom_command(
        OUTPUT ${generated}/codelets_${form}.h
        COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
        COMMAND ${KALLIMA_GENERATOR} ${form} ${generated}/codelets_${form}.h
        DEPENDS ${gen_depends}
        COMMENT "Writing the ${form} codelets"
        VERBATIM)
endforeach()
add_custom_target(kallima-codelets
    DEPENDS ${generated}/codelets_plain.h ${generated}/codelets_fma.h)
