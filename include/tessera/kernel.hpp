// What a kernel source includes: types, operations, and the recording front end. Kept light: no printer, no passes.
#pragma once

#include "dsl/kernel.hpp"
#include "dsl/precision.hpp"
#include "dsl/simt.hpp"
#include "dsl/tileop.hpp"
