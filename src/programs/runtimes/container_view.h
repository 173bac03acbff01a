#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/image/image.h"
#include "programs/runtimes/google_channels.h"
#include "programs/runtimes/program.h"
#include "programs/runtimes/user_environment.h"
#include "rules/container/user.h"

/// What a container sees of the replica, whoever runs it.
namespace trainyard::replica {

/// "NAME=value": the image's ENV, then what every replica gets. `home`: unless the image's ENV has one.
/// `devices`: what the accelerators' driver wants. Pure but for the count of CPUs.
[[nodiscard]] std::vector<std::string> ContainerVariables(const ProgramStart& start,
                                                          const container::ImageConfig& image,
                                                          const std::string& home, const Channels& channels,
                                                          const std::vector<std::string>& devices);

/// The channels that a container has: /gcs needs no directory of the machine's.
[[nodiscard]] Channels ContainerChannels(const v1::Manifest& manifest);

/// The host names, the resolver's settings, and what the channels need. `image_has`: whether the image has a
/// file; where it has none of the places of a CA bundle it gets the first. Writes the tools that go with
/// /gcs.
[[nodiscard]] Result<std::vector<FileView::Bind>> ContainerBinds(
    const ProgramStart& start, const Channels& channels,
    const std::function<bool(const std::string& path)>& image_has);

}  // namespace trainyard::replica
