# SPDX-License-Identifier: MIT
# The Vulkan device: headers at build time, the loader at run time; without headers a stub stands
# in for it. Its compiler, glslang, is linked into a module of its own, which the device loads
# when it has a kernel to compile.
include(CheckCSourceCompiles)
include(CheckIncludeFile)

set(KALLIMA_VULKAN AUTO CACHE STRING "Vulkan device: AUTO (if its headers are there), ON, OFF")
set_property(CACHE KALLIMA_VULKAN PROPERTY STRINGS AUTO ON OFF)

set(kallima_has_vulkan OFF)
set(kallima_has_spirv OFF)
if(KALLIMA_VULKAN)
    check_include_file(vulkan/vulkan_core.h KALLIMA_HAS_VULKAN_H)
    if(KALLIMA_HAS_VULKAN_H)
        set(kallima_has_vulkan ON)
    elseif(NOT KALLIMA_VULKAN STREQUAL AUTO)
        message(FATAL_ERROR "KALLIMA_VULKAN is ON, but vulkan/vulkan_core.h is missing: install "
            "libvulkan-dev or the like, or set it OFF")
    endif()
endif()

file(GLOB vulkan_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/vulkan/*.c)
if(kallima_has_vulkan)
    list(FILTER vulkan_sources EXCLUDE REGEX "/stub\\.c$")
    set(spirv_source src/device/spirv/loader.c)
else()
    list(FILTER vulkan_sources INCLUDE REGEX "/stub\\.c$")
    set(spirv_source src/device/spirv/stub.c)
endif()
target_sources(kallima-objects PRIVATE
    ${vulkan_sources} src/device/spirv/make.c ${spirv_source})
set_source_files_properties(src/device/spirv/loader.c PROPERTIES COMPILE_DEFINITIONS
    "KAL_LIBRARY_FOLDER=\"${CMAKE_INSTALL_FULL_LIBDIR}\"")

# Which static libraries glslang consists of depends on its version; whether those that are there
# are enough, a program tells.
if(kallima_has_vulkan)
    find_package(Threads REQUIRED)
    set(glslang_libraries "")
    foreach(name glslang MachineIndependent OSDependent OGLCompiler GenericCodeGen HLSL SPIRV
            SPVRemapper glslang-default-resource-limits SPIRV-Tools-opt SPIRV-Tools)
        find_library(KALLIMA_LIB_${name} ${name})
        mark_as_advanced(KALLIMA_LIB_${name})
        if(KALLIMA_LIB_${name})
            list(APPEND glslang_libraries ${KALLIMA_LIB_${name}})
        endif()
    endforeach()
    set(glslang_libraries
        -Wl,--start-group ${glslang_libraries} -Wl,--end-group stdc++ m Threads::Threads)
    set(CMAKE_REQUIRED_LIBRARIES ${glslang_libraries})
    check_c_source_compiles("
        #include <glslang/Include/glslang_c_interface.h>
        #include <glslang/Public/resource_limits_c.h>
        int main(void)
        {
            glslang_program_SPIRV_generate(glslang_program_create(), GLSLANG_STAGE_COMPUTE);
            return glslang_initialize_process() + (glslang_default_resource() != 0);
        }" KALLIMA_HAS_GLSLANG)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(kallima_has_spirv ${KALLIMA_HAS_GLSLANG})
endif()

if(kallima_has_spirv)
    add_library(kallima-spirv MODULE src/device/spirv/module/module.c)
    target_include_directories(kallima-spirv PRIVATE include src)
    target_link_libraries(kallima-spirv PRIVATE ${glslang_libraries})
    target_link_options(kallima-spirv PRIVATE LINKER:--exclude-libs,ALL)
    install(TARGETS kallima-spirv LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
elseif(kallima_has_vulkan)
    message(STATUS "glslang is missing: the Vulkan device will run what other builds compiled, "
        "but compile nothing")
endif()
