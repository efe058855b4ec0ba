# Defines tessera::driver when everything that it needs is found; otherwise says what is missing. Shared by the source tree
# and the installed package.

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
