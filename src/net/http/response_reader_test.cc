#include "net/http/response_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::http {
namespace {

struct Outcome {
  int status = 0;
  std::string body;
  std::size_t used = 0;  ///< up to the end of the response
  bool done = false;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.status << " '" << outcome.body << "' " << outcome.used << " " << outcome.done << " "
             << outcome.error;
}

/// Feeds the text in pieces of that size, then the connection's end.
Outcome Read(std::string_view text, std::size_t piece_size, bool to_head = false) {
  ResponseReader reader(to_head);
  Outcome outcome;
  const auto keep = [&outcome](std::string_view bytes) -> Status {
    outcome.body.append(bytes);
    return {};
  };
  while (outcome.used < text.size() && !reader.done()) {
    const std::string_view piece = text.substr(outcome.used, piece_size);
    const auto used = reader.Feed(piece, keep);
    if (!used) return {.error = used.error().message};
    outcome.used += *used;
    if (*used < piece.size()) break;
  }
  outcome.done = reader.done();
  if (const Status ended = reader.End(); !ended) outcome.error = ended.error().message;
  outcome.status = reader.head().status;
  return outcome;
}

struct Row {
  const char* name;
  std::string text;
  bool to_head;
  Outcome outcome;
};
class ResponseReaderTable : public testing::TestWithParam<Row> {};

TEST_P(ResponseReaderTable, SameHoweverTheBytesAreCut) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100'000}})
    EXPECT_EQ(Read(GetParam().text, piece, GetParam().to_head), GetParam().outcome) << piece;
}

const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    Answers, ResponseReaderTable,
    testing::Values(
        Row{"counted",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 ",
            false,
            {200, "abc", 41, true, ""}},
        Row{"chunked", kChunked + "x", false, {200, "abcd", kChunked.size(), true, ""}},
        Row{"until_close", "HTTP/1.0 404 No\r\n\r\nabc", false, {404, "abc", 22, false, ""}},
        Row{"no_content", "HTTP/1.1 204 No Content\r\n\r\n", false, {204, "", 27, true, ""}},
        Row{"to_head", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true, {200, "", 38, true, ""}},
        Row{"interim",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
            false,
            {200, "a", 64, true, ""}},
        Row{"switches", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nframes", false, {101, "", 38, true, ""}},
        Row{"nothing", "", false, {0, "", 0, false, "the server closed the connection without an answer"}},
        Row{"cut_head", "HTTP/1.1 200 OK\r\nA: b", false, {0, "", 21, false, "the server's answer is cut"}},
        Row{"cut_body",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
            false,
            {200, "ab", 40, false, "the server's answer is cut"}},
        Row{"cut_chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            false,
            {200, "abc", 55, false, "the server's answer is cut"}},
        Row{"no_http", "hello\n\n", false, {.error = "the server's answer is not HTTP"}},
        Row{"bad_status",
            "HTTP/1.1 2x0 OK\r\n\r\n",
            false,
            {.error = "the server's answer: malformed status line"}},
        Row{"bad_chunk",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            false,
            {.error = "the server's answer: malformed chunk in the body"}},
        Row{"two_framings",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            false,
            {.error = "the server's answer: both Transfer-Encoding and Content-Length"}}),
    [](const auto& row) { return row.param.name; });

TEST(ResponseReader, BoundsTheHead) {
  const std::string endless = "HTTP/1.1 200 OK\r\nA: " + std::string(ResponseReader::kHeadBytesMax, 'a');
  EXPECT_EQ(Read(endless, 65536).error, "the server's answer is not HTTP");
}

TEST(ResponseReader, AnErrorOfTheSinkEndsIt) {
  ResponseReader reader;
  const Error full{Code::kResourceExhausted, "full", ""};
  const auto refuse = [&full](std::string_view) -> Status { return std::unexpected(full); };
  EXPECT_EQ(reader.Feed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", refuse).error(), full);
}

TEST(ResponseReader, SaysWhetherTheConnectionCanBeKept) {
  const auto drop = [](std::string_view) { return Status(); };
  for (const auto& [text, keep] : {std::pair("HTTP/1.1 204 No\r\n\r\n", true),
                                   std::pair("HTTP/1.1 204 No\r\nConnection: close\r\n\r\n", false),
                                   std::pair("HTTP/1.1 200 OK\r\n\r\n", false)}) {
    ResponseReader reader;
    ASSERT_TRUE(reader.Feed(text, drop));
    EXPECT_EQ(reader.keep_alive(), keep) << text;
  }
}

}  // namespace
}  // namespace trainyard::http
