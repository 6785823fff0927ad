#include "espalier/version.hpp"

const char* espalier::library_version() { return kVersion; }
