#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::metrics {

/// Prometheus' text format, version 0.0.4. Families in the order of their declaration, each once. Pure; one
/// thread.
class PrometheusText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  /// Begins a family; `type` is "gauge" or "counter".
  void Family(std::string_view name, std::string_view type, std::string_view help);
  /// Adds a value to the family begun last.
  void Add(const Labels& labels, double value);
  void Add(double value) { Add({}, value); }

  [[nodiscard]] std::string Take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
  std::string family_;
};

inline constexpr std::string_view kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace trainyard::metrics
