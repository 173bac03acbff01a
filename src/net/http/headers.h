#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What requests and answers begin with, as values. Pure; any thread.
namespace trainyard::http {

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };

/// Header fields in order; names compare without case.
class Headers {
 public:
  void Add(std::string name, std::string value);
  /// Replaces all fields of that name.
  void Set(std::string name, std::string value);
  /// The first field of that name; empty if there is none.
  [[nodiscard]] std::string_view Get(std::string_view name) const noexcept;
  [[nodiscard]] bool Has(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const noexcept {
    return fields_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// Makes contents that anybody may have written harmless where a browser opens them: they run no script, are
/// what their type says, and no other site's page can include them. Replaces fields of those names. Source:
/// the Fetch standard, "X-Content-Type-Options" and "Cross-Origin-Resource-Policy"; Content Security Policy
/// Level 3, "sandbox".
void ConfineContent(Headers& headers);

}  // namespace trainyard::http
