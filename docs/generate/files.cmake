# Compiles the C++ files that the pages contain (`compile: file`), each alone, and what they call mistakes.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK_DIR}")
file(GLOB pages "${DOCS_DIR}/*.md")
list(FILTER pages EXCLUDE REGEX "getting-started\\.md$")  # a project of its own, see getting_started.cmake
foreach(page IN LISTS pages)
  execute_process(COMMAND "${BLOCKS}" extract "${page}" "${WORK_DIR}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB sources "${WORK_DIR}/*/*.cpp" "${WORK_DIR}/*/*.hpp")
if(NOT sources)
  message(FATAL_ERROR "no files")
endif()
foreach(source IN LISTS sources)
  execute_process(COMMAND "${COMPILER}" "@${FLAGS_FILE}" -Wall -Wextra -Werror -fsyntax-only -x c++ -include "${source}" /dev/null
                  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(GLOB sources "${WORK_DIR}/*_mistakes.cpp")
foreach(source IN LISTS sources)
  execute_process(COMMAND ${CMAKE_COMMAND} "-DCOMPILER=${COMPILER}" "-DFLAGS_FILE=${FLAGS_FILE}" "-DSOURCE=${source}"
                          -P "${CMAKE_CURRENT_LIST_DIR}/../../cmake/TesseraCompileFail.cmake"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
