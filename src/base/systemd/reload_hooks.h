#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::systemd {

/// What can be read again while the server runs: `trainyard admin reload`, the unit's ExecReload. Loop thread
/// only; a hook may block for the time of reading a small file.
class ReloadHooks {
 public:
  /// `hook` puts the new state in place whole, or keeps the old one and says why. `what`: "the certificate".
  void Add(std::string what, std::function<Status()> hook) {
    hooks_.emplace_back(std::move(what), std::move(hook));
  }

  /// Runs all of them, also after one that fails. The names of those that were read again;
  /// kFailedPrecondition names those that were not, each with its reason.
  [[nodiscard]] Result<std::vector<std::string>> RunAll() const;

 private:
  std::vector<std::pair<std::string, std::function<Status()>>> hooks_;
};

}  // namespace trainyard::systemd
