#pragma once

/// Everything that the library offers.
#include "espalier/coherent_sum.hpp"
#include "espalier/convolution_2d.hpp"
#include "espalier/device.hpp"
#include "espalier/distance.hpp"
#include "espalier/dot.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/histogram.hpp"
#include "espalier/knn.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"
#include "espalier/smallest_k.hpp"
#include "espalier/version.hpp"
