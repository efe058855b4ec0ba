# Installs the headers and a package for find_package(tessera), which provides the targets and tessera_add_kernels.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/tessera")
configure_package_config_file(cmake/tesseraConfig.cmake.in tesseraConfig.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS tessera EXPORT tesseraTargets)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION "${package_dir}")
install(DIRECTORY include/tessera TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
install(FILES "${PROJECT_BINARY_DIR}/tesseraConfig.cmake" "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
              cmake/TesseraDriver.cmake cmake/TesseraKernels.cmake cmake/compiled.cpp cmake/kernel_generator_main.cpp
        DESTINATION "${package_dir}")
install(FILES LICENSE TYPE DOC)
