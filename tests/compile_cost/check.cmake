# Compares what clang counts while it compiles a few files with limits.txt: template instantiations and constraint checks cost
# compile time, and unlike time their number is the same in every run.
#   cmake -DCOMPILER=<clang++> "-DFLAGS=<flag;...>" [-DUPDATE=ON] -P check.cmake
# UPDATE writes new limits, a tenth above what is counted now.
cmake_minimum_required(VERSION 3.25)

# The name of a count here, and the lines of clang's statistics that it adds up.
set(counts class_templates variable_templates concepts functions)
set(lines_class_templates "ClassTemplateSpecialization")
set(lines_variable_templates "VarTemplateSpecialization")
set(lines_concepts "ImplicitConceptSpecialization")
set(lines_functions "Function|CXXMethod|CXXConstructor|CXXDestructor|CXXConversion")

set(limits "${CMAKE_CURRENT_LIST_DIR}/limits.txt")
set(text "# <source> <count> <limit>; written by check.cmake -DUPDATE=ON\n")
set(above)
file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM stem)
  execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only -Xclang -print-stats ${source}
                  RESULT_VARIABLE failed ERROR_VARIABLE statistics OUTPUT_QUIET)
  if(failed)
    message(FATAL_ERROR "${stem}.cpp does not compile:\n${statistics}")
  endif()
  foreach(count IN LISTS counts)
    string(REGEX MATCHALL "[0-9]+ (${lines_${count}}) decls, " found "${statistics}")
    if(NOT found)
      message(FATAL_ERROR "${COMPILER} prints no count of ${count} (-Xclang -print-stats)")
    endif()
    set(number 0)
    foreach(line IN LISTS found)
      string(REGEX MATCH "^[0-9]+" n "${line}")
      math(EXPR number "${number} + ${n}")
    endforeach()
    math(EXPR limit "${number} + ${number} / 10")
    string(APPEND text "${stem} ${count} ${limit}\n")
    if(UPDATE)
      continue()
    endif()
    file(STRINGS "${limits}" known REGEX "^${stem} ${count} [0-9]+$")
    string(REGEX MATCH "[0-9]+$" limit "${known}")
    message(STATUS "${stem}: ${number} ${count}, limit ${limit}")
    if(limit STREQUAL "" OR number GREATER limit)
      list(APPEND above "${stem}: ${number} ${count}, limit ${limit}")
    endif()
  endforeach()
endforeach()

if(UPDATE)
  file(WRITE "${limits}" "${text}")
elseif(above)
  list(JOIN above "\n  " above)
  message(FATAL_ERROR "kernels cost more to compile than they may:\n  ${above}\n"
                      "hint: find out which change made it so; where it is worth its cost, state new limits with\n"
                      "  cmake -DCOMPILER=${COMPILER} \"-DFLAGS=${FLAGS}\" -DUPDATE=ON -P ${CMAKE_CURRENT_LIST_FILE}")
endif()
