// All of Tessera: kernels, passes, emitters, the cost model, the simulator and the command line.
#pragma once

#include "compile.hpp"
#include "cost.hpp"
#include "driver.hpp"
#include "kernel.hpp"
#include "simulate.hpp"
