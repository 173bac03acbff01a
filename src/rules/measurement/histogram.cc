#include "rules/measurement/histogram.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "rules/measurement/message_fields.h"
#include "rules/measurement/record_reader.h"
#include "trainyard/tensorflow/event.pb.h"

namespace trainyard::measurement {

namespace {

constexpr int kDoubleType = 2;
constexpr std::size_t kRowNumbers = 3;

/// Adds the doubles of a field, packed or one alone.
void AddDoubles(std::string_view bytes, std::vector<double>& numbers) {
  for (; bytes.size() >= sizeof(double); bytes.remove_prefix(sizeof(double)))
    numbers.push_back(LoadFrom<double>(bytes));
}

void PrintFinite(double value, std::string& out) {
  constexpr std::size_t kBytesMax = 32;
  char text[kBytesMax];
  const auto printed = std::to_chars(text, text + sizeof text, std::isfinite(value) ? value : 0);
  out.append(text, printed.ptr);
}

/// Bins without values at either end say nothing.
void DropEmptyEnds(HistogramBins& bins) {
  const auto is_empty = [](const HistogramBin& bin) { return bin.count == 0; };
  bins.erase(bins.begin(), std::ranges::find_if_not(bins, is_empty));
  while (!bins.empty() && is_empty(bins.back())) bins.pop_back();
}

}  // namespace

std::optional<HistogramBins> BinsOfProto(std::string_view message) {
  double smallest = 0;
  double largest = 0;
  std::vector<double> limits;
  std::vector<double> counts;
  for (MessageFields fields(message); fields.Next();) {
    if (fields.number == 1 && fields.bytes.size() == sizeof(double))
      smallest = LoadFrom<double>(fields.bytes);
    if (fields.number == 2 && fields.bytes.size() == sizeof(double)) largest = LoadFrom<double>(fields.bytes);
    if (fields.number == 6) AddDoubles(fields.bytes, limits);
    if (fields.number == 7) AddDoubles(fields.bytes, counts);
  }
  if (limits.empty() || limits.size() != counts.size()) return std::nullopt;
  HistogramBins bins;
  for (std::size_t i = 0; i < limits.size(); ++i)
    bins.push_back({.left = i == 0 ? smallest : limits[i - 1], .right = limits[i], .count = counts[i]});
  DropEmptyEnds(bins);
  if (bins.empty()) return bins;
  bins.front().left = std::max(bins.front().left, smallest);
  bins.back().right = std::min(bins.back().right, largest);
  return bins;
}

std::optional<HistogramBins> BinsOfTensor(std::string_view message) {
  tensorflow::Tensor tensor;
  if (!tensor.ParseFromString(std::string(message)) || tensor.dtype() != kDoubleType) return std::nullopt;
  std::vector<double> numbers(tensor.double_val().begin(), tensor.double_val().end());
  AddDoubles(tensor.tensor_content(), numbers);
  if (numbers.size() % kRowNumbers != 0) return std::nullopt;
  HistogramBins bins;
  for (std::size_t i = 0; i < numbers.size(); i += kRowNumbers)
    bins.push_back({.left = numbers[i], .right = numbers[i + 1], .count = numbers[i + 2]});
  return bins;
}

std::string PrintBins(const HistogramBins& bins) {
  const std::size_t joined = (bins.size() + kBinsShownMax - 1) / kBinsShownMax;
  std::string out = "[";
  for (std::size_t i = 0; i < bins.size(); i += joined) {
    const std::size_t end = std::min(i + joined, bins.size());
    double count = 0;
    for (std::size_t k = i; k < end; ++k) count += bins[k].count;
    out += i == 0 ? "[" : ",[";
    PrintFinite(bins[i].left, out);
    out += ',';
    PrintFinite(bins[end - 1].right, out);
    out += ',';
    PrintFinite(count, out);
    out += ']';
  }
  return out + "]";
}

}  // namespace trainyard::measurement
