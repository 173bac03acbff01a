#pragma once

#include <string>

#include "trainyard/control/v1/curves.pb.h"

namespace trainyard::curves {

/// The JSON of protobuf's own mapping, in one line, many times as fast as its printer: columns of numbers are
/// printed in their shortest form. Pure: any thread.
[[nodiscard]] std::string PrintCurves(const control::v1::ScalarCurves& curves);

}  // namespace trainyard::curves
