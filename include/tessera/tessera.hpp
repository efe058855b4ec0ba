// All of Tessera: kernels, passes, emitters, the simulator and the command line.
#pragma once

#include "compile.hpp"
#include "driver.hpp"
#include "kernel.hpp"
#include "simulate.hpp"
