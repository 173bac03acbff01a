#pragma once

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// `images ...` and `registries ...`: the container images of a data folder, and the passwords of registries.
/// They work on its files, by the locks of those who pull and run images, so no server needs to run, and one
/// that runs is not disturbed.
namespace trainyard::cli {

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
