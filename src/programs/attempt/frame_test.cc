#include "programs/attempt/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {
namespace {

TEST(Frame, ComesBackHoweverTheStreamIsCut) {
  std::vector<std::string> contents = {"", "a", std::string(127, 'b'), std::string(128, 'c'),
                                       std::string(70'000, 'd')};
  std::string stream;
  for (const std::string& content : contents) AppendFrame(content, stream);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    FrameReader reader;
    std::vector<std::string> read;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.Feed(std::string_view(stream).substr(at, step));
      std::string_view content;
      for (;;) {
        const auto next = reader.Next(content);
        ASSERT_TRUE(next.has_value());
        if (!*next) break;
        read.emplace_back(content);
      }
    }
    EXPECT_EQ(read, contents) << step;
  }
}

TEST(Frame, LogFrameIsAFromReplica) {
  v1::LogChunk chunk;
  chunk.set_first_line(7);
  chunk.set_lines(std::string(300, 'x'));
  std::string stream;
  AppendLogFrame(chunk.SerializeAsString(), stream);
  FrameReader reader;
  reader.Feed(stream);
  std::string_view content;
  ASSERT_EQ(reader.Next(content), true);
  v1::FromReplica frame;
  ASSERT_TRUE(frame.ParseFromString(std::string(content)));
  EXPECT_EQ(frame.log().SerializeAsString(), chunk.SerializeAsString());
}

struct Row {
  const char* name;
  std::string bytes;
};
class Refuses : public testing::TestWithParam<Row> {};
TEST_P(Refuses, Stream) {
  FrameReader reader;
  reader.Feed(GetParam().bytes);
  std::string_view content;
  const auto next = reader.Next(content);
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code, Code::kInvalidArgument);
}
INSTANTIATE_TEST_SUITE_P(Rules, Refuses,
                         testing::Values(Row{"endless_varint", "\xFF\xFF\xFF\xFF\xFF"},
                                         Row{"http", "\xC8\xD4\xD4\xD0/1.1"},
                                         Row{"over_the_limit", "\x81\x80\x80\x08"}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::replica
