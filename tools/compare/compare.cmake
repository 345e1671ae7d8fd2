# SPDX-License-Identifier: MIT
# What `kallima compare` is made of, and the commit that its results name.
set(compare_folder ${CMAKE_CURRENT_LIST_DIR})
set(KALLIMA_COMMIT "" CACHE STRING "The commit that results name, where there is no git")

# Looked up with each build, written where it is another.
function(kallima_add_compare target)
    file(GLOB sources CONFIGURE_DEPENDS ${compare_folder}/*.c)
    if(WIN32) # no processes of POSIX
        list(FILTER sources EXCLUDE REGEX "/(child|machine)\\.c$")
    else()
        list(FILTER sources EXCLUDE REGEX "/absent\\.c$")
    endif()
    target_sources(${target} PRIVATE ${sources})
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/compare)
    add_custom_target(${target}-commit BYPRODUCTS ${folder}/compare_commit.h
        COMMAND ${CMAKE_COMMAND} -DOUT=${folder}/compare_commit.h -DROOT=${compare_folder}
            -DCOMMIT=${KALLIMA_COMMIT} -P ${compare_folder}/commit.cmake)
    add_dependencies(${target} ${target}-commit)
    target_include_directories(${target} PRIVATE ${folder} ${compare_folder}/..)
endfunction()
