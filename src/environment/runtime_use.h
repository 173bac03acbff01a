#pragma once

#include <filesystem>
#include <string_view>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::environment {

/// Says, for as long as it lives, that programs run in a runtime version: nobody removes it then. A shared
/// flock(2), so it ends with the process, whatever ends it. Any thread.
class RuntimeUse {
 public:
  /// Notes the time, too. To be taken before the environment is looked for. Errors: kNotFound for an unknown
  /// version, kUnavailable while it is being removed, and those of open(2).
  [[nodiscard]] static Result<RuntimeUse> Begin(const std::filesystem::path& environments_dir,
                                                std::string_view runtime_version);

 private:
  explicit RuntimeUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::environment
