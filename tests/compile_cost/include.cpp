#include <tessera/kernel.hpp>
