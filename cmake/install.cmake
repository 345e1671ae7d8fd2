# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: libraries, headers, kallima.pc, the CMake package, the
# licence and the manual page. tools/ installs the program itself.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kallima)

install(TARGETS kallima kallima-static EXPORT kallima-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/kallima DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/kallima.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

install(EXPORT kallima-targets NAMESPACE kallima:: DESTINATION ${package_dir})
configure_package_config_file(cmake/kallima-config.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/kallima-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kallima-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/kallima-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/kallima-config-version.cmake
    DESTINATION ${package_dir})

# The way from kallima.pc up to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pc_dl "")
if(CMAKE_DL_LIBS)
    set(pc_dl -l${CMAKE_DL_LIBS})
endif()
configure_file(cmake/kallima.pc.in ${CMAKE_CURRENT_BINARY_DIR}/kallima.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kallima.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
