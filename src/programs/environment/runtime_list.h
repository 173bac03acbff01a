#pragma once

#include <filesystem>
#include <string_view>

#include "programs/environment/available_pythons.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/runtime_version.h"
#include "trainyard/control/v1/runtimes.pb.h"

/// What is said of runtime versions, by a server and by commands without one. Blocking: reads notes of
/// those that are built; any thread.
namespace trainyard::environment {

/// One version or tool; whether it is the default is the list's to say.
[[nodiscard]] control::v1::Runtime DescribeRuntime(const std::filesystem::path& environments_dir,
                                                   const RuntimeVersion& runtime,
                                                   const AvailablePythons& available);

/// All versions of the catalogue, then the tools that they refer to. `default_version`: what jobs get that
/// name none.
[[nodiscard]] control::v1::RuntimeList ListRuntimes(const std::filesystem::path& environments_dir,
                                                    const Catalogue& catalogue,
                                                    std::string_view default_version,
                                                    const AvailablePythons& available);

}  // namespace trainyard::environment
