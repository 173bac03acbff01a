#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/access/forwarded_rules.h"
#include "stores/audit/audit_files.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// Options about the origin of requests and the audit log: flags of `trainyard serve`.
struct AccessOptions {
  access::TrustedProxies trusted_proxies;
  audit::Retention audit;
};

/// The flags and their texts. Lifetime: from AddTo to the App's parse, then ReadInto.
class AccessFlags {
 public:
  void AddTo(CLI::App& app);
  /// Converts the texts. An error's field is the flag.
  [[nodiscard]] Status ReadInto(AccessOptions& options) const;

 private:
  std::vector<std::string> trusted_proxies_;
  std::int64_t audit_days_ = audit::Retention().days_max.count();
  std::int64_t audit_bytes_ = audit::Retention().bytes_max;
};

}  // namespace trainyard::server
