#include "control/curves/print_curves.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/wire/json.h"

namespace trainyard::curves {

namespace {

constexpr std::size_t kNumberBytesMax = 32;  ///< the shortest form of any double is shorter

template <class T>
void PrintNumber(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char text[kNumberBytesMax];
    const auto printed = std::to_chars(text, text + sizeof text, value);
    out.append(text, printed.ptr);
  }
}

void PrintName(std::string_view name, std::string& out) {
  if (!out.ends_with('{')) out += ',';
  out += '"';
  out += name;
  out += "\":";
}

template <class Column>
void PrintColumn(std::string_view name, const Column& column, std::string& out) {
  if (column.empty()) return;
  PrintName(name, out);
  char separator = '[';
  for (const auto value : column) {
    out += separator;
    PrintNumber(value, out);
    separator = ',';
  }
  out += ']';
}

void PrintCurve(const control::v1::ScalarCurves::Curve& curve, std::string& out) {
  out += '{';
  if (curve.has_name()) {
    PrintName("name", out);
    out += wire::PrintJsonCompact(curve.name());
  }
  PrintColumn("steps", curve.steps(), out);
  PrintColumn("times", curve.times(), out);
  PrintColumn("values", curve.values(), out);
  if (curve.points() != 0) {
    PrintName("points", out);
    out += '"' + std::to_string(curve.points()) + '"';
  }
  out += '}';
}

/// The approximate length of the answer.
std::size_t Length(const control::v1::ScalarCurves& curves) {
  constexpr std::size_t kPointBytes = 34;   // a step, a time in milliseconds, a value
  constexpr std::size_t kCurveBytes = 200;  // its name
  std::size_t points = 0;
  for (const auto& curve : curves.curves()) points += static_cast<std::size_t>(curve.values_size());
  return points * kPointBytes + static_cast<std::size_t>(curves.curves_size() + 1) * kCurveBytes;
}

}  // namespace

std::string PrintCurves(const control::v1::ScalarCurves& curves) {
  std::string out;
  out.reserve(Length(curves));
  out += '{';
  if (!curves.curves().empty()) {
    PrintName("curves", out);
    char separator = '[';
    for (const auto& curve : curves.curves()) {
      out += separator;
      PrintCurve(curve, out);
      separator = ',';
    }
    out += ']';
  }
  if (curves.reading()) {
    PrintName("reading", out);
    out += "true";
  }
  out += "}\n";
  return out;
}

}  // namespace trainyard::curves
