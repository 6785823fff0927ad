#pragma once

namespace espalier::bench::learn {

/// A number t with a <= t < b that a person would choose to part a from b: near their geometric mean (sizes
/// grow by factors) with as few digits as fit well between the two, whole where both are.
double readable_threshold(double a, double b);

}  // namespace espalier::bench::learn
