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
#include "espalier/options.hpp"
#include "espalier/plan.hpp"
#include "espalier/polyphase.hpp"
#include "espalier/smallest_k.hpp"
#include "espalier/stream.hpp"
#include "espalier/travel_time.hpp"
#include "espalier/version.hpp"
