#include "net/grpc/message_reader.h"

#include <gmock/gmock.h>

#include "net/http/gzip.h"

namespace trainyard::grpc::message_reader_test {
namespace {

using namespace std::string_literals;

constexpr std::size_t kMax = 1'000;

std::string Compressed(std::string_view text) {
  std::string body = PrintMessage(http::GzipCompress(text));
  body[0] = '\1';
  return body;
}

Result<std::string> ReadInSteps(std::string_view body, std::string_view encoding, std::size_t step) {
  MessageReader reader(kMax);
  for (; !body.empty(); body.remove_prefix(std::min(step, body.size())))
    TY_RETURN_IF_ERROR(reader.Add(body.substr(0, step)));
  return reader.Take(encoding);
}

struct Row {
  const char* name;
  std::string body;
  std::string encoding;
  std::optional<std::string> message;
  Code code = Code::kInternal;
};

TEST(MessageReader, TakesExactlyOneMessage) {
  const std::vector<Row> rows{
      {"plain", PrintMessage("abc"), "", "abc"},
      {"empty", PrintMessage(""), "identity", ""},
      {"largest", PrintMessage(std::string(kMax, 'x')), "", std::string(kMax, 'x')},
      {"gzip", Compressed("hello"), "gzip", "hello"},
      {"not compressed", PrintMessage("abc"), "gzip", "abc"},
      {"nothing", "", "", {}},
      {"part of a prefix", "\0\0\0"s, "", {}},
      {"part of a message", PrintMessage("abc").substr(0, 7), "", {}},
      {"two", PrintMessage("a") + PrintMessage("b"), "", {}},
      {"flags", "\7\0\0\0\0"s, "", {}},
      {"too large", PrintMessage(std::string(kMax + 1, 'x')), "", {}, Code::kResourceExhausted},
      {"compressed too large", Compressed(std::string(kMax + 1, 'x')), "gzip", {}, Code::kResourceExhausted},
      {"no encoding", Compressed("hello"), "", {}},
      {"identity and compressed", Compressed("hello"), "identity", {}},
      {"unknown encoding", Compressed("hello"), "snappy", {}, Code::kUnimplemented},
      {"no gzip", "\1\0\0\0\3abc"s, "gzip", {}},
      {"a part of gzip", "\1\0\0\0\2\x1f\x8b"s, "gzip", {}}};
  for (const Row& row : rows) {
    for (const std::size_t step : {1U, 4U, 5U, 6U, 100'000U}) {
      const Result<std::string> read = ReadInSteps(row.body, row.encoding, step);
      ASSERT_EQ(read.has_value(), row.message.has_value()) << row.name;
      if (read) EXPECT_EQ(*read, *row.message) << row.name;
      if (!read) EXPECT_EQ(read.error().code, row.code) << row.name;
    }
  }
}

TEST(MessageReader, HoldsNothingOfARefusedMessage) {
  MessageReader reader(kMax);
  EXPECT_TRUE(reader.Add(PrintMessage("abc")));
  EXPECT_EQ(reader.held_bytes(), 3U);
  EXPECT_FALSE(reader.Add("more"));
  EXPECT_EQ(reader.held_bytes(), 0U);
}

}  // namespace
}  // namespace trainyard::grpc::message_reader_test
