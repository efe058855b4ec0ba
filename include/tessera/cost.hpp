// What kernels cost: modelled cycles of instructions, the timeline of the pipes as text and SVG, the memory map as SVG.
#pragma once

#include "cost/memory_map_svg.hpp"
#include "cost/timeline_svg.hpp"
