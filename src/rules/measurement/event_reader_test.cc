#include "rules/measurement/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "rules/measurement/record_reader.h"
#include "rules/measurement/testing/event_bytes.h"
#include "trainyard/tensorflow/event.pb.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::string Contents(const std::string& name) {
  std::ifstream file(std::string(EVENT_FILES "/") + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file in memory that counts the bytes read from it.
struct Seen {
  std::string bytes;
  EventReader reader{};
  std::vector<SummaryValue> values{};
  std::uint64_t bytes_read = 0;

  bool Read(std::uint64_t size, std::uint64_t bytes_max = kAll) {
    const FileWindow::ReadAt read_at = [this](std::uint64_t offset, std::span<char> buffer) {
      const std::size_t got =
          std::min<std::size_t>(buffer.size(), bytes.size() - std::min(bytes.size(), offset));
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), got, buffer.begin());
      bytes_read += got;
      return got;
    };
    return reader.Read(size, bytes_max, read_at,
                       [this](const SummaryValue& value) { values.push_back(value); });
  }

  [[nodiscard]] std::vector<SummaryValue> Of(SummaryValue::Kind kind) const {
    std::vector<SummaryValue> some;
    for (const SummaryValue& value : values) {
      if (value.kind == kind) some.push_back(value);
    }
    return some;
  }
  [[nodiscard]] std::string At(const Extent& extent) const {
    return bytes.substr(extent.offset, extent.length);
  }
};

Seen ReadAll(std::string bytes) {
  Seen seen{.bytes = std::move(bytes)};
  EXPECT_FALSE(seen.Read(seen.bytes.size()));
  EXPECT_FALSE(seen.reader.lost());
  return seen;
}

/// The scalars in the form of the reader of tuning jobs.
std::vector<Scalar> Scalars(const Seen& seen) {
  std::vector<Scalar> scalars;
  for (const SummaryValue& value : seen.Of(SummaryValue::Kind::kScalar))
    scalars.push_back({.tag = value.tag, .step = value.step, .time_s = value.time_s, .value = value.value});
  return scalars;
}

void ExpectImages(const Seen& seen, const std::string& tag, int width, int height) {
  const std::vector<SummaryValue> images = seen.Of(SummaryValue::Kind::kImage);
  ASSERT_THAT(images, SizeIs(3));
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(images[i].tag, tag);
    EXPECT_EQ(images[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(std::pair(images[i].width, images[i].height), std::pair(width, height));
    EXPECT_TRUE(seen.At(images[i].extent).starts_with("\x89PNG\r\n\x1a\n"));
    EXPECT_TRUE(seen.At(images[i].extent)
                    .ends_with("IEND\xae"
                               "B`\x82"));
  }
}

// The files were written by the frameworks themselves.

TEST(EventReader, OfTensorFlow1WithImages) {
  const Seen seen = ReadAll(Contents("tf1.tfevents.image"));
  ExpectImages(seen, "input/image/0", 32, 24);
  EXPECT_THAT(seen.Of(SummaryValue::Kind::kScalar), SizeIs(6)) << "those before and after the image";
}

TEST(EventReader, OfTensorFlow2WithImagesTextAndHistograms) {
  const Seen seen = ReadAll(Contents("tf2.tfevents.image_text"));
  ExpectImages(seen, "samples", 24, 16);
  EXPECT_THAT(Scalars(seen), SizeIs(3));
  const std::vector<SummaryValue> texts = seen.Of(SummaryValue::Kind::kText);
  ASSERT_THAT(texts, SizeIs(3));
  EXPECT_EQ(texts[2].tag, "notes");
  EXPECT_EQ(texts[2].beginning, "# step 2\nA text with *marks* and é");
  EXPECT_EQ(seen.At(texts[2].extent), texts[2].beginning);
}

TEST(EventReader, OfTorch) {
  const Seen seen = ReadAll(Contents("torch.tfevents.image_text"));
  ExpectImages(seen, "pic", 24, 16);
  EXPECT_THAT(Scalars(seen), SizeIs(6)) << "of both styles";
  EXPECT_EQ(seen.Of(SummaryValue::Kind::kText).at(1).beginning, "hello 1");
}

TEST(EventReader, SeesTheScalarsThatTuningSees) {
  for (const char* name : {"keras2.tfevents.validation", "keras3.tfevents.train",
                           "tensorboardx.tfevents.scalars", "tf1.tfevents.graph", "tf2.tfevents.types"}) {
    const std::string bytes = Contents(name);
    std::vector<Scalar> expected;
    RecordReader records;
    records.Feed(bytes, [&expected](std::string_view record) {
      for (Scalar& scalar : ScalarsOf(record)) expected.push_back(std::move(scalar));
    });
    const std::vector<Scalar> read = Scalars(ReadAll(bytes));
    ASSERT_EQ(read.size(), expected.size()) << name;
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].tag, expected[i].tag);
      EXPECT_EQ(read[i].step, expected[i].step);
      EXPECT_TRUE(read[i].value == expected[i].value ||
                  (std::isnan(read[i].value) && std::isnan(expected[i].value)));
    }
  }
}

/// Two values of the oneof, one after the other on the wire.
SummaryValue LastOf(const std::string& first, const std::string& second) {
  const std::string value = std::string("\x0a\x01t", 3) + first + second;
  const std::string summary = std::string("\x0a") + static_cast<char>(value.size()) + value;
  const Seen seen = ReadAll(RecordBytes(std::string("\x2a") + static_cast<char>(summary.size()) + summary));
  EXPECT_LE(seen.values.size(), 1U);
  return seen.values.empty() ? SummaryValue{} : seen.values.front();
}

TEST(EventReader, TakesTheLastOfSeveralValues) {
  const std::string simple("\x15\x00\x00\x80\x3f", 5);                  // 1.0
  const std::string tensor("\x42\x07\x08\x01\x2d\x00\x00\x00\x40", 9);  // a float, 2.0
  const std::string text("\x42\x06\x08\x07\x42\x02hi\x4a\x08\x0a\x06\x0a\x04text", 18);
  const std::string image("\x22\x07\x08\x02\x10\x03\x22\x01x", 9);
  const std::string histogram("\x2a\x00", 2);
  EXPECT_EQ(LastOf(simple, tensor).value, 2);
  EXPECT_EQ(LastOf(tensor, simple).value, 1);
  EXPECT_EQ(LastOf(simple, text).kind, SummaryValue::Kind::kText);
  EXPECT_EQ(LastOf(image, text).beginning, "hi");
  EXPECT_EQ(LastOf(text, image).kind, SummaryValue::Kind::kImage);
  EXPECT_EQ(LastOf(image, simple).value, 1);
  EXPECT_EQ(LastOf(simple, histogram), SummaryValue{});
}

TEST(EventReader, JumpsOverImagesWithoutReadingThem) {
  tensorflow::Event event;
  event.set_step(7);
  tensorflow::Summary::Value& before = *event.mutable_summary()->add_value();
  before.set_tag("before");
  before.set_simple_value(1);
  tensorflow::Summary::Value& large = *event.mutable_summary()->add_value();
  large.set_tag("large");
  large.mutable_tensor()->set_tensor_content(std::string(10 << 20, 'x'));
  tensorflow::Summary::Value& after = *event.mutable_summary()->add_value();
  after.set_tag("after");
  after.set_simple_value(2);
  const Seen seen = ReadAll(RecordBytes(event.SerializeAsString()) + EventBytes({"next", 8, 10, 3}));
  EXPECT_THAT(Scalars(seen),
              ElementsAre(Scalar{"before", 7, 0, 1}, Scalar{"after", 7, 0, 2}, Scalar{"next", 8, 10, 3}));
  EXPECT_LT(seen.bytes_read, 100'000U);
}

TEST(EventReader, ReadsOnWhereAFileGrows) {
  Seen seen{.bytes = EventBytes({"a", 1, 1, 1}) + EventBytes({"a", 2, 2, 2})};
  const std::size_t whole = seen.bytes.size();
  for (std::size_t size = 0; size <= whole; ++size) EXPECT_FALSE(seen.Read(size));
  EXPECT_THAT(Scalars(seen), ElementsAre(Scalar{"a", 1, 1, 1}, Scalar{"a", 2, 2, 2}));
  EXPECT_EQ(seen.reader.offset(), whole);
}

TEST(EventReader, StopsWhenEnoughIsRead) {
  Seen seen;
  for (int i = 0; i < 20'000; ++i) seen.bytes += EventBytes({"a", i, 1, 1});
  EXPECT_TRUE(seen.Read(seen.bytes.size(), 10'000));
  EXPECT_LT(seen.values.size(), 10'000U);
  while (seen.Read(seen.bytes.size(), 100'000)) {
  }
  EXPECT_THAT(seen.values, SizeIs(20'000));
}

TEST(EventReader, SkipsADamagedRecordAndStopsAtADamagedLength) {
  const std::string good = EventBytes({"a", 1, 1, 1});
  std::string damaged = good;
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  Seen seen = ReadAll(damaged + good);
  EXPECT_EQ(seen.reader.damaged(), 1);
  EXPECT_THAT(seen.values, SizeIs(1));
  std::string lost = good + good;
  lost[good.size()] = static_cast<char>(lost[good.size()] ^ 1);
  Seen cut{.bytes = lost};
  EXPECT_FALSE(cut.Read(lost.size()));
  EXPECT_TRUE(cut.reader.lost());
  EXPECT_THAT(cut.values, SizeIs(1));
}

TEST(EventReader, TakesAnyBytesAndALengthBeyondTheFile) {
  const std::uint64_t huge = kAll - 3;
  const std::string head(reinterpret_cast<const char*>(&huge), sizeof huge);
  Seen seen{.bytes = head + MaskedCrc(head) + "0123456789"};
  EXPECT_FALSE(seen.Read(seen.bytes.size()));
  EXPECT_FALSE(seen.reader.lost()) << "it may still come";
  for (int length : {1, 7, 100, 70'000}) {
    Seen noise{.bytes = RecordBytes(std::string(static_cast<std::size_t>(length), '\x2a')) +
                        EventBytes({"a", 1, 1, 1})};
    EXPECT_FALSE(noise.Read(noise.bytes.size()));
    EXPECT_EQ(noise.reader.damaged(), 1) << length;
    EXPECT_THAT(noise.values, SizeIs(1));
  }
}

}  // namespace
}  // namespace trainyard::measurement
