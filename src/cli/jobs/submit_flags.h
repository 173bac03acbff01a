#pragma once

#include <array>

#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// The flags of `jobs submit training`, all of gcloud's (alpha and beta included), and the rules between
/// them.
[[nodiscard]] std::span<const FlagSpec> SubmitTrainingFlags();
[[nodiscard]] std::span<const FlagGroup> SubmitTrainingGroups();

}  // namespace trainyard::cli
