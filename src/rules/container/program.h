#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The program that a container runs. Pure: any thread.

namespace trainyard::container {

/// An image's settings for its program. Source: OCI image spec, config.md.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;      ///< CMD
  std::vector<std::string> environment;  ///< NAME=value
  std::string working_dir;               ///< empty: /
  std::string user;                      ///< "1000:1000", "nobody", or empty: root
  std::string stop_signal;               ///< "SIGINT", "2", or empty: SIGTERM
  std::map<std::string, std::string> labels;
};

/// ENTRYPOINT, CMD, containerCommand, containerArgs and args: four cases, as in Kubernetes; in each case the
/// service's own args (tuned flags, --job-dir) come last.
/// @return kFailedPrecondition if there is nothing to run: neither the image nor the job has a command.
/// Source: spec api.md section 4.1, environment.md section 8.
[[nodiscard]] Result<std::vector<std::string>> ProgramOf(const ImageConfig& image,
                                                         const replica::v1::Manifest::Container& container);

// Pure: any thread.

/// The size of the part of a program's file that the checks read.
inline constexpr std::size_t kBeginningBytes = 4096;

/// Why this machine's kernel cannot run an executable file with this beginning: it is built for another
/// architecture, its interpreter or loader is missing, or it is not a program. Empty: nothing is wrong with
/// its beginning. `has_file`: whether the image has the file. Source: elf(5), execve(2).
[[nodiscard]] std::string WhyNotRunnable(std::string_view beginning,
                                         const std::function<bool(const std::string& path)>& has_file);

}  // namespace trainyard::container
