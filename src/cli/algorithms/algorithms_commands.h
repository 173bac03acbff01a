#pragma once

#include <span>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

struct Command;

/// The table of `algorithms ...`.
[[nodiscard]] std::span<const Command> AlgorithmsCommands();

/// `algorithms list`: name, images, what it is.
[[nodiscard]] ExitStatus ListAlgorithms(const LocalSession& session);
/// `algorithms describe NAME`: for people arguments, data, metrics and a first job; with --format the table
/// as it is. NAME may be an image.
[[nodiscard]] ExitStatus DescribeAlgorithm(const LocalSession& session);

}  // namespace trainyard::cli
