# tessera_add_kernels(<target> SOURCES <file>... [ARCH a3|a5] [EMIT pto|cpp...] [LEVEL 2|3] [NO_PIPELINING]
#                     [OUTPUT_DIRECTORY <dir>])
#
# Builds the generator <target>_gen from the kernel sources and runs it, so that the emitted files and manifest.json stand in
# <dir> (default: ${CMAKE_CURRENT_BINARY_DIR}/<target>; also the property TESSERA_OUTPUT_DIRECTORY of <target>). With ARCH the
# generator is built for that target alone, so what the target cannot do is a compile error; without it, a3 is emitted. LEVEL and
# NO_PIPELINING are the generator's options of these names. The generator runs again only when it or a source changed; a run
# that fails leaves the previous outputs as they were.

function(_tessera_kernels_error target what value hint)
  # The leading spaces keep CMake from wrapping the lines.
  message(FATAL_ERROR " tessera_add_kernels(${target}): ${what} (${value})\n   hint: ${hint}")
endfunction()

# The generator's main function does not depend on the kernels: it is compiled once in each directory. Options that change
# the binary interface belong to the directory, where they reach both.
function(_tessera_generator_main result)
  get_property(main DIRECTORY PROPERTY TESSERA_GENERATOR_MAIN)
  if(NOT main)
    get_property(number GLOBAL PROPERTY TESSERA_GENERATOR_MAINS)
    math(EXPR number "0${number} + 1")
    set_property(GLOBAL PROPERTY TESSERA_GENERATOR_MAINS ${number})
    set(main "tessera_generator_main_${number}")
    add_library(${main} OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernel_generator_main.cpp")
    target_link_libraries(${main} PRIVATE tessera::driver)
    set_property(DIRECTORY PROPERTY TESSERA_GENERATOR_MAIN ${main})
  endif()
  set(${result} ${main} PARENT_SCOPE)
endfunction()

# Refuses in the list of this name what cmake_parse_arguments lets pass: an empty value, a second value of what has one, and a
# path that no list can hold.
function(_tessera_check_arguments target list)
  set(seen)
  set(keyword "<target>")
  foreach(word IN LISTS ${list})
    if(word MATCHES "^(SOURCES|ARCH|EMIT|LEVEL|OUTPUT_DIRECTORY)$")
      set(keyword "${word}")
      if(word MATCHES "^(ARCH|LEVEL|OUTPUT_DIRECTORY)$" AND word IN_LIST seen)
        _tessera_kernels_error(${target} "keyword given twice" "${word}" "it has one value")
      endif()
      list(APPEND seen "${word}")
    elseif(word STREQUAL "")
      _tessera_kernels_error(${target} "empty value" "${keyword}" "leave the keyword out, or set the variable that stands there")
    elseif(word MATCHES ";" AND keyword MATCHES "^(SOURCES|OUTPUT_DIRECTORY)$")
      _tessera_kernels_error(${target} "a path with ';'" "${keyword} ${word}"
                             "CMake's lists cannot hold it; of a list, give each element as an argument of its own")
    endif()
  endforeach()
endfunction()

function(tessera_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PIPELINING" "ARCH;LEVEL;OUTPUT_DIRECTORY" "SOURCES;EMIT")

  set(usage "tessera_add_kernels(<target> SOURCES <file>... [ARCH a3|a5] [EMIT pto|cpp...] [LEVEL 2|3] [NO_PIPELINING] [OUTPUT_DIRECTORY <dir>])")
  if(NOT target MATCHES "^[A-Za-z0-9_.+-]+$")
    _tessera_kernels_error("${target}" "not a target name" "${target}" "use letters, digits, '_', '.', '+' and '-'")
  endif()
  if(target MATCHES "^(all|ALL_BUILD|help|install|INSTALL|preinstall|clean|edit_cache|rebuild_cache|test|RUN_TESTS|package|PACKAGE|package_source|ZERO_CHECK|list_install_components)$")
    _tessera_kernels_error(${target} "the target name is CMake's own" "${target}" "use another name")
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 all "" "" "")
  _tessera_check_arguments(${target} all_UNPARSED_ARGUMENTS)
  if(arg_UNPARSED_ARGUMENTS)
    _tessera_kernels_error(${target} "unknown argument" "${arg_UNPARSED_ARGUMENTS}" "${usage}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    _tessera_kernels_error(${target} "keyword without a value" "${arg_KEYWORDS_MISSING_VALUES}" "${usage}")
  endif()
  if(TARGET ${target} OR TARGET ${target}_gen)
    _tessera_kernels_error(${target} "the target exists" "${target}" "give each call a target name of its own")
  endif()
  if(NOT arg_SOURCES)
    _tessera_kernels_error(${target} "no kernel sources" "SOURCES" "${usage}")
  endif()
  if(DEFINED arg_ARCH AND NOT arg_ARCH MATCHES "^(a3|a5)$")
    _tessera_kernels_error(${target} "unknown ARCH" "${arg_ARCH}" "a3 or a5")
  endif()
  foreach(form IN LISTS arg_EMIT)
    if(NOT form MATCHES "^(pto|cpp)$")
      _tessera_kernels_error(${target} "unknown EMIT" "${form}" "EMIT pto, EMIT cpp or EMIT pto cpp")
    endif()
  endforeach()
  if(DEFINED arg_LEVEL AND NOT arg_LEVEL MATCHES "^[23]$")
    _tessera_kernels_error(${target} "unknown LEVEL" "${arg_LEVEL}" "2: the assembler plans memory; 3: tiles have addresses")
  endif()
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "\\$<")
      _tessera_kernels_error(${target} "a generator expression in place of a source" "${source}" "name the file")
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_source_file_property(generated "${source}" GENERATED)
    if(NOT generated AND NOT EXISTS "${source}")
      _tessera_kernels_error(${target} "no such source" "${source}"
                             "paths are relative to the directory of the calling CMakeLists.txt")
    elseif(IS_DIRECTORY "${source}" OR NOT source MATCHES "\\.(cpp|cc|cxx|C|c\\+\\+|cppm)$")
      _tessera_kernels_error(${target} "not a C++ source" "${source}" "SOURCES takes files that are compiled: .cpp, .cc or .cxx")
    endif()
    list(APPEND sources "${source}")
  endforeach()
  set(directory "${target}")
  if(arg_OUTPUT_DIRECTORY)
    set(directory "${arg_OUTPUT_DIRECTORY}")
  endif()
  cmake_path(ABSOLUTE_PATH directory BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  string(REGEX REPLACE "(.)/$" "\\1" directory "${directory}")
  get_property(taken GLOBAL PROPERTY TESSERA_OUTPUT_OF_${directory})
  if(taken)
    _tessera_kernels_error(${target} "the output directory belongs to another target" "${directory}, ${taken}"
                           "give each target an OUTPUT_DIRECTORY of its own")
  endif()
  if(NOT TARGET tessera::driver)
    get_property(missing GLOBAL PROPERTY TESSERA_DRIVER_MISSING)
    _tessera_kernels_error(${target} "tessera::driver is not available, not found" "${missing}"
                           "install these packages and configure again")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    _tessera_kernels_error(${target} "C++ is no language of the project, which has" "${languages}"
                           "name it: project(... LANGUAGES CXX), or enable_language(CXX)")
  endif()

  if(NOT arg_EMIT)
    set(arg_EMIT pto)
  endif()
  list(REMOVE_DUPLICATES arg_EMIT)
  list(JOIN arg_EMIT "," emit)
  set(arch a3)
  if(DEFINED arg_ARCH)
    set(arch ${arg_ARCH})
  endif()
  set(options)
  if(DEFINED arg_LEVEL)
    list(APPEND options --level ${arg_LEVEL})
  endif()
  if(arg_NO_PIPELINING)
    list(APPEND options --no-pipelining)
  endif()
  set_property(GLOBAL PROPERTY TESSERA_OUTPUT_OF_${directory} ${target})

  set(generator ${target}_gen)
  _tessera_generator_main(main)
  add_executable(${generator} ${sources})
  target_link_libraries(${generator} PRIVATE ${main} tessera::driver)
  if(DEFINED arg_ARCH)
    string(TOUPPER ${arch} upper)
    target_compile_definitions(${generator} PRIVATE TESSERA_TARGET_${upper})
  endif()
  list(LENGTH sources count)
  if(count GREATER 1)
    target_precompile_headers(${generator} PRIVATE <tessera/kernel.hpp>)
  endif()

  # The set of emitted files is known only to the generator, and it leaves unchanged files untouched: a stamp records the run.
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.kernels")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS "${directory}/manifest.json"
    COMMAND ${generator} emit --arch ${arch} --emit ${emit} ${options} --out "${directory}"
    COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
    DEPENDS ${generator} ${sources}
    COMMENT "Generating the kernels of ${target} (${arch}: ${emit})"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${stamp}" SOURCES ${sources})
  set_target_properties(${target} PROPERTIES TESSERA_OUTPUT_DIRECTORY "${directory}")
endfunction()
