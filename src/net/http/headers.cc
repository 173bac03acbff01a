#include "net/http/headers.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace trainyard::http {

namespace {

constexpr std::array<std::string_view, kMethodCount> kMethodNames{"GET",   "HEAD",   "POST",   "PUT",
                                                                  "PATCH", "DELETE", "OPTIONS"};

}  // namespace

std::string_view MethodName(Method method) noexcept { return kMethodNames[static_cast<std::size_t>(method)]; }

std::optional<Method> ParseMethod(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kMethodNames, name);
  if (found == kMethodNames.end()) return std::nullopt;
  return static_cast<Method>(found - kMethodNames.begin());
}

void Headers::Add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::Set(std::string name, std::string value) {
  std::erase_if(fields_, [&name](const auto& field) { return EqualsIgnoringCase(field.first, name); });
  Add(std::move(name), std::move(value));
}

std::string_view Headers::Get(std::string_view name) const noexcept {
  for (const auto& [field, value] : fields_) {
    if (EqualsIgnoringCase(field, name)) return value;
  }
  return {};
}

bool Headers::Has(std::string_view name) const noexcept {
  return std::ranges::any_of(fields_,
                             [name](const auto& field) { return EqualsIgnoringCase(field.first, name); });
}

void ConfineContent(Headers& headers) {
  headers.Set("X-Content-Type-Options", "nosniff");
  headers.Set("Content-Security-Policy", "sandbox");
  headers.Set("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace trainyard::http
