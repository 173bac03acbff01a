#pragma once

#include <string>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// replica::PreparationOutput, for what knows no files of attempts. Blocks.
[[nodiscard]] std::string PreparationOutput(const replica::v1::Manifest& manifest);

}  // namespace trainyard::engine
