#include "stores/metrics/prometheus_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::metrics {
namespace {

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Print(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

void PrometheusText::Family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void PrometheusText::Add(const Labels& labels, double value) {
  text_ += family_;
  if (!labels.empty()) {
    char separator = '{';
    for (const auto& [name, text] : labels) {
      text_.append(1, separator).append(name).append("=\"").append(Escape(text)).append("\"");
      separator = ',';
    }
    text_ += '}';
  }
  text_.append(" ").append(Print(value)).append("\n");
}

}  // namespace trainyard::metrics
