#include "base/systemd/reload_hooks.h"

namespace trainyard::systemd {

Result<std::vector<std::string>> ReloadHooks::RunAll() const {
  std::vector<std::string> done;
  std::string failures;
  for (const auto& [what, hook] : hooks_) {
    const Status read = hook();
    if (read) {
      done.push_back(what);
    } else {
      failures += (failures.empty() ? "" : "; ") + what + " stays as it was: " + read.error().message;
    }
  }
  if (failures.empty()) return done;
  return std::unexpected(FailedPrecondition(failures));
}

}  // namespace trainyard::systemd
