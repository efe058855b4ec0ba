// Two units that include everything, and a header with a kernel, make one program with one kernel.
#include "shared.hpp"
#include "support/catch.hpp"

TEST_CASE("a kernel in a header is one object in all units") { REQUIRE(odr::twice_in_two() == &odr::twice); }
