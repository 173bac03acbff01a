#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "rules/measurement/event_scalars.h"
#include "rules/measurement/record_reader.h"
#include "rules/measurement/testing/event_bytes.h"
#include "trainyard/tensorflow/event.pb.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string Contents(const std::string& name) {
  std::ifstream file(std::string(EVENT_FILES "/") + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  std::vector<Scalar> scalars;
  std::int64_t damaged = 0;
  bool lost = false;
};

Outcome Read(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  Outcome outcome;
  RecordReader reader;
  const auto take = [&outcome](std::string_view record) {
    for (Scalar& scalar : ScalarsOf(record)) outcome.scalars.push_back(std::move(scalar));
  };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    reader.Feed(bytes.substr(0, piece), take);
  outcome.damaged = reader.damaged();
  outcome.lost = reader.lost();
  return outcome;
}

std::vector<std::pair<std::int64_t, double>> Values(const Outcome& outcome, std::string_view tag) {
  std::vector<std::pair<std::int64_t, double>> values;
  for (const Scalar& scalar : outcome.scalars) {
    if (scalar.tag == tag) values.emplace_back(scalar.step, scalar.value);
  }
  return values;
}

// The files were written by TensorFlow; the figures are from TensorBoard's reader.

TEST(EventFile, OfKeras2) {
  const Outcome seen = Read(Contents("keras2.tfevents.validation"));
  EXPECT_THAT(seen.scalars, SizeIs(12));
  EXPECT_THAT(Values(seen, "epoch_loss"),
              ElementsAre(std::pair(0, 0.55187035F), std::pair(1, 0.55190456F), std::pair(2, 0.55191517F)));
  EXPECT_EQ(seen.scalars[3], (Scalar{"epoch_accuracy", 0, 1795272425.322152, 0.75}));
}

TEST(EventFile, OfKeras3) {
  const Outcome seen = Read(Contents("keras3.tfevents.train"));
  EXPECT_THAT(seen.scalars, SizeIs(9));
  EXPECT_THAT(Values(seen, "epoch_loss"),
              ElementsAre(std::pair(0, 0.68332905F), std::pair(1, 0.6824363F), std::pair(2, 0.68147856F)));
}

TEST(EventFile, OfTensorFlow1WithItsGraphAndHistograms) {
  const Outcome seen = Read(Contents("tf1.tfevents.graph"));
  EXPECT_THAT(seen.scalars, SizeIs(7));
  EXPECT_THAT(Values(seen, "accuracy"), ElementsAre(std::pair(0, 0), std::pair(1, 0.25), std::pair(2, 0.5)));
  EXPECT_THAT(Values(seen, "accuracy_1"), ElementsAre(std::pair(0, 0), std::pair(1, 0.5), std::pair(2, 1)));
  EXPECT_THAT(Values(seen, "training/hptuning/metric"), ElementsAre(std::pair(7, 0.75)));
}

TEST(EventFile, OfTensorFlow2WithTextAndHistograms) {
  const Outcome seen = Read(Contents("tf2.tfevents.types"));
  EXPECT_THAT(Values(seen, "loss"),
              ElementsAre(std::pair(0, 1), std::pair(1, 0.5), std::pair(2, 1.0F / 3), std::pair(3, 0.25)));
  EXPECT_THAT(Values(seen, "raw64"),
              ElementsAre(std::pair(0, 0), std::pair(1, 1.5), std::pair(2, 3), std::pair(3, 4.5)));
  EXPECT_THAT(Values(seen, "inf"), ElementsAre(std::pair(2, HUGE_VAL)));
  ASSERT_THAT(Values(seen, "nan"), SizeIs(1));
  EXPECT_TRUE(std::isnan(Values(seen, "nan")[0].second));
  EXPECT_THAT(Values(seen, "words"), IsEmpty());
  EXPECT_THAT(Values(seen, "weights"), IsEmpty());
}

TEST(EventFile, OfTensorboardX) {
  EXPECT_THAT(Values(Read(Contents("tensorboardx.tfevents.scalars")), "val/acc"),
              ElementsAre(std::pair(0, 0.5), std::pair(1, 0.6F), std::pair(2, 0.7F)));
}

TEST(EventFile, ComesInAnyPieces) {
  const std::string whole = Contents("keras2.tfevents.validation");
  const Outcome at_once = Read(whole);
  for (std::size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(Read(whole, piece).scalars, at_once.scalars);
}

TEST(EventFile, ATornTailIsWaitedFor) {
  const std::string whole = Contents("tensorboardx.tfevents.scalars");
  std::size_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome seen = Read(whole.substr(0, size));
    EXPECT_FALSE(seen.lost);
    EXPECT_EQ(seen.damaged, 0);
    EXPECT_GE(seen.scalars.size(), before);
    before = seen.scalars.size();
  }
  EXPECT_EQ(before, 2U);
}

TEST(EventFile, ADamagedRecordIsPassedOver) {
  std::string bytes = EventBytes({"a", 1, 10, 0.25});
  const std::size_t second = bytes.size();
  bytes += EventBytes({"a", 2, 11, 0.5});
  bytes += EventBytes({"a", 3, 12, 0.75});
  bytes[second + 20] ^= 1;
  const Outcome seen = Read(bytes);
  EXPECT_THAT(Values(seen, "a"), ElementsAre(std::pair(1, 0.25), std::pair(3, 0.75)));
  EXPECT_EQ(seen.damaged, 1);
  EXPECT_FALSE(seen.lost);
}

TEST(EventFile, AWrongLengthIsTheEnd) {
  std::string bytes = EventBytes({"a", 1, 10, 0.25});
  const std::size_t second = bytes.size();
  bytes += EventBytes({"a", 2, 11, 0.5});
  bytes[second] ^= 1;
  const Outcome seen = Read(bytes);
  EXPECT_THAT(Values(seen, "a"), ElementsAre(std::pair(1, 0.25)));
  EXPECT_TRUE(seen.lost);
}

TEST(EventFile, WhatIsNoEventFileIsLostAtOnce) {
  EXPECT_TRUE(Read("PK\x03\x04 a zip file of some kind, or anything else").lost);
  EXPECT_TRUE(Read(std::string(100, '\0')).lost);
  EXPECT_FALSE(Read("").lost);
}

TEST(EventFile, ARecordTooLongIsPassedOver) {
  tensorflow::Event event;
  tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag("a");
  value.set_simple_value(1);
  value.mutable_tensor()->set_tensor_content(std::string(kRecordBytesMax, 'x'));
  const Outcome seen = Read(RecordBytes(event.SerializeAsString()) + EventBytes({"a", 2, 11, 0.5}));
  EXPECT_THAT(Values(seen, "a"), ElementsAre(std::pair(2, 0.5)));
  EXPECT_EQ(seen.damaged, 0);
}

// --- Tensors of other kinds than TensorFlow's scalar() makes

template <class T>
std::string Bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct TensorRow {
  const char* name;
  int dtype;
  void (*fill)(tensorflow::Tensor&);
  std::optional<double> value;
};
class TensorOf : public testing::TestWithParam<TensorRow> {};
TEST_P(TensorOf, OneNumber) {
  tensorflow::Event event;
  tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag("a");
  value.mutable_tensor()->set_dtype(GetParam().dtype);
  GetParam().fill(*value.mutable_tensor());
  const auto scalars = ScalarsOf(event.SerializeAsString());
  ASSERT_EQ(scalars.size(), GetParam().value ? 1U : 0U);
  if (GetParam().value) {
    EXPECT_EQ(scalars[0].value, *GetParam().value);
  }
}
using tensorflow::Tensor;
INSTANTIATE_TEST_SUITE_P(
    Types, TensorOf,
    testing::Values(
        TensorRow{"float_val", 1, [](Tensor& t) { t.add_float_val(0.5); }, 0.5},
        TensorRow{"float_content", 1, [](Tensor& t) { t.set_tensor_content(Bytes(0.5F)); }, 0.5},
        TensorRow{"float_zero", 1, [](Tensor&) {}, 0},
        TensorRow{"float_two",
                  1,
                  [](Tensor& t) {
                    t.add_float_val(0.5);
                    t.add_float_val(1);
                  },
                  {}},
        TensorRow{"float_short", 1, [](Tensor& t) { t.set_tensor_content("abc"); }, {}},
        TensorRow{"float_vector",
                  1,
                  [](Tensor& t) {
                    t.add_float_val(1);
                    t.mutable_tensor_shape()->add_dim()->set_size(3);
                  },
                  {}},
        TensorRow{"float_vector_of_one", 1,
                  [](Tensor& t) {
                    t.add_float_val(1);
                    t.mutable_tensor_shape()->add_dim()->set_size(1);
                  },
                  1},
        TensorRow{"double_val", 2, [](Tensor& t) { t.add_double_val(0.1); }, 0.1},
        TensorRow{"double_content", 2, [](Tensor& t) { t.set_tensor_content(Bytes(0.1)); }, 0.1},
        TensorRow{"int32_val", 3, [](Tensor& t) { t.add_int_val(-7); }, -7},
        TensorRow{"int32_content", 3, [](Tensor& t) { t.set_tensor_content(Bytes(std::int32_t{-7})); }, -7},
        TensorRow{"uint8_val", 4, [](Tensor& t) { t.add_int_val(200); }, 200},
        TensorRow{"int16_content", 5, [](Tensor& t) { t.set_tensor_content(Bytes(std::int16_t{-300})); },
                  -300},
        TensorRow{"int8_val", 6, [](Tensor& t) { t.add_int_val(-5); }, -5},
        TensorRow{"int64_val", 9, [](Tensor& t) { t.add_int64_val(1LL << 40); }, 1099511627776.0},
        TensorRow{"bool_val", 10, [](Tensor& t) { t.add_bool_val(true); }, 1},
        TensorRow{"bfloat16_val", 14, [](Tensor& t) { t.add_half_val(0x3FC0); }, 1.5},
        TensorRow{"bfloat16_content", 14,
                  [](Tensor& t) { t.set_tensor_content(Bytes(std::uint16_t{0xBFC0})); }, -1.5},
        TensorRow{"uint16_val", 17, [](Tensor& t) { t.add_int_val(65535); }, 65535},
        TensorRow{"half_val", 19, [](Tensor& t) { t.add_half_val(0x3E00); }, 1.5},
        TensorRow{"half_smallest", 19, [](Tensor& t) { t.add_half_val(1); }, 0x1p-24},
        TensorRow{"half_minus_infinity", 19, [](Tensor& t) { t.add_half_val(0xFC00); }, -HUGE_VAL},
        TensorRow{"uint32_val", 22, [](Tensor& t) { t.add_uint32_val(4000000000U); }, 4e9},
        TensorRow{"uint64_content", 23,
                  [](Tensor& t) { t.set_tensor_content(Bytes(std::uint64_t{1} << 63)); }, 0x1p63},
        TensorRow{"text", 7, [](Tensor&) {}, {}}, TensorRow{"no_type", 0, [](Tensor&) {}, {}}),
    [](const auto& row) { return row.param.name; });

TEST(EventScalars, AnotherPluginsTensorIsNoScalar) {
  tensorflow::Event event;
  tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag("a");
  value.mutable_tensor()->set_dtype(1);
  value.mutable_tensor()->add_float_val(1);
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("hparams");
  EXPECT_THAT(ScalarsOf(event.SerializeAsString()), IsEmpty());
}

}  // namespace
}  // namespace trainyard::measurement
