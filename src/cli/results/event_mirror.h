#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wire/resource_name.h"
#include "cli/command_session.h"

namespace trainyard::cli {

/// The path below a folder at which TensorBoard looks for an object: the object's name, for event
/// files and what plugins keep beside them; empty for all else, and for names that lead elsewhere. Pure: any
/// thread.
[[nodiscard]] std::filesystem::path MirroredPath(std::string_view below);

/// The event files of a bucket's folder, copied into a folder of this machine and kept as long as they are:
/// TensorBoard reads files that grow at their end. One thread.
class EventMirror {
 public:
  /// `session` outlives it. @param folder  without a slash at its end
  EventMirror(const CommandSession& session, wire::ObjectUri folder, std::filesystem::path into);

  /// Fetches what is new. Errors: those of the server; what is mirrored stays.
  [[nodiscard]] Status Update();

 private:
  [[nodiscard]] Status Fetch(const wire::ObjectUri& object, const std::filesystem::path& path,
                             std::int64_t size);

  const CommandSession& session_;
  wire::ObjectUri folder_;
  std::filesystem::path into_;
  std::map<std::string, std::int64_t> sizes_;  ///< of what is here, by object
};

}  // namespace trainyard::cli
