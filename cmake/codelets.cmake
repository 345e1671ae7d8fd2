# SPDX-License-Identifier: MIT
# The generator of the CPU engine's codelets, and the files that it writes at build time.
# A cross build names the generator of the building machine in KALLIMA_GENERATOR.
if(KALLIMA_GENERATOR)
    set(generator ${KALLIMA_GENERATOR})
    set(generator_depends ${KALLIMA_GENERATOR})
elseif(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "A cross build needs KALLIMA_GENERATOR: the path of kallima-gen, "
        "built for this machine")
else()
    file(GLOB generator_sources CONFIGURE_DEPENDS
        src/gen/*.c src/base/*.c src/math/*.c src/codelet/*.c src/emit/emit.c
        src/emit/dialect.c)
    add_executable(kallima-gen ${generator_sources})
    target_include_directories(kallima-gen PRIVATE include src)
    target_link_libraries(kallima-gen PRIVATE m)
    set(generator $<TARGET_FILE:kallima-gen>)
    set(generator_depends kallima-gen)
endif()

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})
set(codelet_files "")
foreach(form plain fma plain_r2c fma_r2c plain_c2r fma_c2r fma_numbers)
    add_custom_command(
        OUTPUT ${generated}/codelets_${form}.h
        COMMAND ${generator} ${form} ${generated}/codelets_${form}.h
        DEPENDS ${generator_depends}
        COMMENT "Writing the ${form} codelets"
        VERBATIM)
    list(APPEND codelet_files ${generated}/codelets_${form}.h)
endforeach()
add_custom_target(kallima-codelets DEPENDS ${codelet_files})
