#pragma once

/// Everything that the library offers.
#include "espalier/convolution_2d.hpp"
#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/options.hpp"
#include "espalier/version.hpp"
