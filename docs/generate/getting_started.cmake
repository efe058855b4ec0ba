# Follows docs/getting-started.md: installs tessera, writes the files of the page into an empty folder, builds them, and
# compares what the generator prints with what the page says.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
run("${BLOCKS}" extract "${PAGE}" "${WORK_DIR}")
set(build "${WORK_DIR}/getting_started/build")
run(${CMAKE_COMMAND} -S "${WORK_DIR}/getting_started" -B "${build}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix")
run(${CMAKE_COMMAND} --build "${build}" --parallel 2)
run("${build}/softmax_test")

set(generator "${build}/my_kernels_gen")
run("${BLOCKS}" output "${PAGE}" emitted "cat ${build}/my_kernels/softmax.pto")
run("${BLOCKS}" output "${PAGE}" manifest "cat ${build}/my_kernels/manifest.json")
run(${generator} emit --emit cpp --out "${WORK_DIR}/cpp")
run("${BLOCKS}" output "${PAGE}" emitted_cpp "cat ${WORK_DIR}/cpp/softmax.cpp")
run("${BLOCKS}" output "${PAGE}" list "${generator} list")
run("${BLOCKS}" output "${PAGE}" emit "${generator} emit --arch a5 --out ${WORK_DIR}/gen")
run("${BLOCKS}" output "${PAGE}" lower "${generator} lower softmax --print-after convert_tensor_to_tile_ops")
run("${BLOCKS}" output "${PAGE}" map "${generator} lower softmax --memory-map")
run("${BLOCKS}" output "${PAGE}" timeline "${generator} lower softmax --timeline --svg ${WORK_DIR}/softmax.svg")
run("${BLOCKS}" output "${PAGE}" check "${generator} check")
