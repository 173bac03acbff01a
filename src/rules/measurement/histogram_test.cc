#include "rules/measurement/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rules/measurement/event_reader.h"
#include "rules/measurement/testing/event_bytes.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

std::string Doubles(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}
std::string Bytes(char number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}
std::string Fixed(char number, double value) { return static_cast<char>(number << 3 | 1) + Doubles({value}); }

/// min, max, num, the limits and the counts of a HistogramProto.
std::string Proto() {
  return Fixed(1, -2) + Fixed(2, 3) + Fixed(3, 6) + Bytes(6, Doubles({-1.5, 0, 1, 4, 1e308})) +
         Bytes(7, Doubles({0, 1, 2, 3, 0}));
}

std::string Tensor(const std::vector<double>& numbers) {
  tensorflow::Tensor tensor;
  tensor.set_dtype(2);
  tensor.set_tensor_content(Doubles(numbers));
  return tensor.SerializeAsString();
}

TEST(Histogram, OfAProtoEndsAtTheSmallestAndTheLargestValue) {
  EXPECT_THAT(*BinsOfProto(Proto()),
              ElementsAre(HistogramBin{-1.5, 0, 1}, HistogramBin{0, 1, 2}, HistogramBin{1, 3, 3}));
}

TEST(Histogram, OfATensor) {
  EXPECT_THAT(*BinsOfTensor(Tensor({0, 1, 5, 1, 2, 7})),
              ElementsAre(HistogramBin{0, 1, 5}, HistogramBin{1, 2, 7}));
}

TEST(Histogram, WhatIsNone) {
  EXPECT_FALSE(BinsOfProto("text"));
  EXPECT_FALSE(BinsOfProto(Bytes(6, Doubles({1, 2})) + Bytes(7, Doubles({1}))));
  EXPECT_FALSE(BinsOfTensor(Tensor({0, 1})));
  EXPECT_FALSE(BinsOfTensor("\xFF\xFF"));
}

TEST(Histogram, IsPrintedWithFewBins) {
  EXPECT_EQ(PrintBins({{0, 0.5, 2}, {0.5, std::numeric_limits<double>::infinity(), std::nan("")}}),
            "[[0,0.5,2],[0.5,0,0]]");
  EXPECT_EQ(PrintBins({}), "[]");
  HistogramBins many;
  for (int i = 0; i < 150; ++i)
    many.push_back({.left = static_cast<double>(i), .right = i + 1.0, .count = 1});
  EXPECT_TRUE(PrintBins(many).starts_with("[[0,2,2],[2,4,2],"));
}

/// An event with one value: its tag, then the field.
std::string EventWith(const std::string& field) {
  const std::string value = Bytes(1, "weights") + field;
  return RecordBytes(std::string("\x10\x07", 2) + Bytes(5, Bytes(1, value)));
}

std::vector<SummaryValue> ValuesOf(const std::string& file) {
  std::vector<SummaryValue> values;
  EventReader reader;
  const FileWindow::ReadAt read_at = [&file](std::uint64_t offset, std::span<char> buffer) {
    const std::size_t got = std::min<std::size_t>(buffer.size(), file.size() - offset);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(offset), got, buffer.begin());
    return got;
  };
  reader.Read(file.size(), std::numeric_limits<std::uint64_t>::max(), read_at,
              [&values](const SummaryValue& value) { values.push_back(value); });
  return values;
}

TEST(Histogram, IsFoundInAnEventFile) {
  const std::string proto = Fixed(1, 0) + Fixed(2, 1) + Bytes(6, Doubles({1})) + Bytes(7, Doubles({5}));
  const std::string file = EventWith(Bytes(5, proto));
  const auto values = ValuesOf(file);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].kind, SummaryValue::Kind::kHistogram);
  EXPECT_EQ(values[0].step, 7);
  const std::string found = file.substr(values[0].extent.offset, values[0].extent.length);
  EXPECT_THAT(*BinsOfProto(found), ElementsAre(HistogramBin{0, 1, 5}));
}

TEST(Histogram, OfTensorFlow2IsKnownByItsPlugin) {
  const std::string metadata = Bytes(9, Bytes(1, Bytes(1, "histograms")));
  const std::string file = EventWith(Bytes(8, Tensor({0, 1, 5})) + metadata);
  const auto values = ValuesOf(file);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].kind, SummaryValue::Kind::kHistogramTensor);
  const std::string found = file.substr(values[0].extent.offset, values[0].extent.length);
  EXPECT_THAT(*BinsOfTensor(found), ElementsAre(HistogramBin{0, 1, 5}));
}

}  // namespace
}  // namespace trainyard::measurement
