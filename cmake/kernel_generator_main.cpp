#include <tessera/driver.hpp>

int main(int argc, char** argv) { return tessera::driver::main(argc, argv); }
