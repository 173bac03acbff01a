#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/placement/project_weight.h"
#include "rules/placement/quota.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// How projects and principals share the installation.
struct ShareOptions {
  placement::Quotas quotas;
  placement::ProjectWeights weights;
};

/// The texts of the flags before they are checked.
struct ShareFlags {
  std::vector<std::string> quotas;
  std::vector<std::string> weights;

  /// Adds the flags. This object must outlive the App's parse.
  void AddTo(CLI::App& app);
  /// Converts the texts. An error's field is the flag.
  [[nodiscard]] Status ReadInto(ShareOptions& options) const;
};

}  // namespace trainyard::server
