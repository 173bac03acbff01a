#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Methods and header fields of requests and responses. Pure; any thread.
namespace trainyard::http {

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };
inline constexpr std::size_t kMethodCount = 7;
/// "GET".
[[nodiscard]] std::string_view MethodName(Method method) noexcept;
/// Nullopt: unknown. Case-sensitive.
[[nodiscard]] std::optional<Method> ParseMethod(std::string_view name) noexcept;

/// Header fields in order; names are case-insensitive.
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

/// Makes content from untrusted users safe to open in a browser: it runs no script, its declared type is not
/// second-guessed, and no other site's page can include it. Replaces fields of those names. Source: the Fetch
/// standard, "X-Content-Type-Options" and "Cross-Origin-Resource-Policy"; Content Security Policy Level 3,
/// "sandbox".
void ConfineContent(Headers& headers);

}  // namespace trainyard::http
