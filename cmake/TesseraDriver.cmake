# Defines tessera::driver when everything that it needs is found; otherwise says what is missing. Also tessera::compiled, with
# which compile.hpp and simulate.hpp are compiled once for all files of a program. Shared by the source tree and the installed
# package.

set(missing)
foreach(package IN ITEMS fmt CLI11 Eigen3 nlohmann_json)
  find_package(${package} QUIET GLOBAL)
  if(NOT ${package}_FOUND)
    list(APPEND missing ${package})
  endif()
endforeach()
set_property(GLOBAL PROPERTY TESSERA_DRIVER_MISSING "${missing}")

if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "tessera: no tessera::driver (simulator, command line, tessera_add_kernels); not found: ${missing}")
elseif(NOT TARGET tessera::driver)
  add_library(tessera_driver INTERFACE)
  add_library(tessera::driver ALIAS tessera_driver)
  target_link_libraries(tessera_driver INTERFACE tessera::tessera fmt::fmt CLI11::CLI11 Eigen3::Eigen
                                                 nlohmann_json::nlohmann_json)
endif()
unset(missing)

# Where the project has C++ by then: the first directory that finds or adds tessera with it.
get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(TARGET tessera::driver AND NOT TARGET tessera::compiled AND "CXX" IN_LIST languages)
  add_library(tessera_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled.cpp")
  add_library(tessera::compiled ALIAS tessera_compiled)
  target_link_libraries(tessera_compiled PUBLIC tessera::driver)
  target_compile_definitions(tessera_compiled PUBLIC TESSERA_COMPILED)
  set_target_properties(tessera_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()
unset(languages)
