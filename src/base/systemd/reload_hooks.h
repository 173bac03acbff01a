#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::systemd {

/// Files that the server can reload while it runs: `trainyard admin reload`, the unit's ExecReload. Loop
/// thread only; a hook may block as long as reading a small file takes.
class ReloadHooks {
 public:
  /// `hook` must replace the state completely, or keep the old one and return the reason. `what`: "the
  /// certificate".
  void Add(std::string what, std::function<Status()> hook) {
    hooks_.emplace_back(std::move(what), std::move(hook));
  }

  /// Runs all hooks, also after one fails, and returns the names of what was reloaded. kFailedPrecondition
  /// names what was not, each with its reason.
  [[nodiscard]] Result<std::vector<std::string>> RunAll() const;

 private:
  std::vector<std::pair<std::string, std::function<Status()>>> hooks_;
};

}  // namespace trainyard::systemd
