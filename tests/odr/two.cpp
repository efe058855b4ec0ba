#include "shared.hpp"

const void* odr::twice_in_two() { return &twice; }
