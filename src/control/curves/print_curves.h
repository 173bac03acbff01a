#pragma once

#include <string>

#include "trainyard/control/v1/curves.pb.h"

namespace trainyard::curves {

/// JSON as protobuf's own printer makes it, on one line, but many times as fast: columns of numbers are
/// printed in their shortest form. Pure: any thread.
[[nodiscard]] std::string PrintCurves(const control::v1::ScalarCurves& curves);

}  // namespace trainyard::curves
