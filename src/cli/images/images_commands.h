#pragma once

#include <span>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// `images ...` and `registries ...`: the container images of a data directory, and the credentials of
/// registries. The commands work on its files and take the same locks as a server, so a server may run or
/// not.
namespace trainyard::cli {

struct Command;

/// The table of `images ...` and `registries ...`.
[[nodiscard]] std::span<const Command> ImagesCommands();

[[nodiscard]] ExitStatus ListImages(const Arguments& arguments, const SettingSources& sources,
                                    const Console& console);
[[nodiscard]] ExitStatus InspectImage(const Arguments& arguments, const SettingSources& sources,
                                      const Console& console);
[[nodiscard]] ExitStatus PullImage(const Arguments& arguments, const SettingSources& sources,
                                   const Console& console);
[[nodiscard]] ExitStatus LoadImages(const Arguments& arguments, const SettingSources& sources,
                                    const Console& console);
[[nodiscard]] ExitStatus PushImage(const Arguments& arguments, const SettingSources& sources,
                                   const Console& console);
[[nodiscard]] ExitStatus RemoveImages(const Arguments& arguments, const SettingSources& sources,
                                      const Console& console);

[[nodiscard]] ExitStatus ListRegistries(const Arguments& arguments, const SettingSources& sources,
                                        const Console& console);
[[nodiscard]] ExitStatus LogInToRegistry(const Arguments& arguments, const SettingSources& sources,
                                         const Console& console);
[[nodiscard]] ExitStatus LogOutOfRegistry(const Arguments& arguments, const SettingSources& sources,
                                          const Console& console);

}  // namespace trainyard::cli
