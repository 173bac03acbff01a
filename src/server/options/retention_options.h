#pragma once

#include <string>

#include "base/result.h"
#include "rules/retention/disk_marks.h"
#include "rules/retention/keep.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// Options about what is kept for how long, and about low disk space: flags of `trainyard serve`.
struct RetentionOptions {
  retention::Policy policy;
  retention::DiskMarks marks;
};

/// The flags and their texts. Lifetime: from AddTo to the App's parse, then ReadInto.
class RetentionFlags {
 public:
  void AddTo(CLI::App& app);
  /// Converts the texts. An error's field is the flag.
  [[nodiscard]] Status ReadInto(RetentionOptions& options) const;

 private:
  std::string jobs_ = retention::KeepText(retention::Policy().jobs);
  std::string logs_ = retention::KeepText(retention::Policy().logs);
  std::string scratch_ = retention::KeepText(retention::Policy().scratch);
  std::string environments_ = retention::KeepText(retention::Policy().environments);
  double environments_gb_max_ = 0;
  std::string queue_below_ = "1GiB";     ///< kQueueBelowDefault
  std::string refuse_below_ = "256MiB";  ///< kRefuseBelowDefault
};

}  // namespace trainyard::server
