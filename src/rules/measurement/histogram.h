#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::measurement {

struct HistogramBin {
  double left = 0;
  double right = 0;
  double count = 0;
  friend bool operator==(const HistogramBin&, const HistogramBin&) = default;
};
using HistogramBins = std::vector<HistogramBin>;

/// More bins are joined by neighbours.
inline constexpr std::size_t kBinsShownMax = 100;

/// The bins of a HistogramProto (TensorFlow 1, torch), whose outermost ends are the smallest and the largest
/// value. Pure. Source: TensorFlow's histogram.proto.
[[nodiscard]] std::optional<HistogramBins> BinsOfProto(std::string_view message);
/// The bins of a tensor of rows "left, right, count" of doubles (TensorFlow 2's plugin "histograms"). Pure.
[[nodiscard]] std::optional<HistogramBins> BinsOfTensor(std::string_view message);

/// [[left, right, count], ...] with at most kBinsShownMax bins. Numbers that JSON cannot have are 0. Pure.
[[nodiscard]] std::string PrintBins(const HistogramBins& bins);

}  // namespace trainyard::measurement
