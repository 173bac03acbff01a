#include "api/batch_handlers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::api {
namespace {

constexpr std::string_view kType = "multipart/mixed; boundary=\"==b==\"";

std::string WithCrlf(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

const std::string kTwo =
    "preamble\n"
    "--==b==\n"
    "Content-Type: application/http\n"
    "Content-ID: <uuid + 1>\n"
    "\n"
    "PATCH /storage/v1/b/b/o/x?alt=json HTTP/1.1\n"
    "Content-Type: application/json\n"
    "X-Folded: one\n"
    " two\n"
    "\n"
    "{\"a\": 1}\n"
    "--==b==\n"
    "Content-Type: application/http; charset=utf-8\n"
    "\n"
    "DELETE http://host:1/storage/v1/b/b/o/y HTTP/1.1\n"
    "\n"
    "\n"
    "--==b==--\n"
    "epilogue";

TEST(ParseBatch, TakesLfAndCrlf) {
  for (const std::string& body : {kTwo, WithCrlf(kTwo)}) {
    const auto calls = ParseBatch(kType, body);
    ASSERT_TRUE(calls) << calls.error().message;
    ASSERT_EQ(calls->size(), 2U);
    const BatchCall& first = (*calls)[0];
    EXPECT_EQ(first.content_id, "<uuid + 1>");
    EXPECT_EQ(first.head.method, "PATCH");
    EXPECT_EQ(first.head.target, "/storage/v1/b/b/o/x?alt=json");
    EXPECT_EQ(first.head.headers.Get("x-folded"), "one two");
    EXPECT_EQ(first.body, "{\"a\": 1}");
    const BatchCall& second = (*calls)[1];
    EXPECT_EQ(second.content_id, "");
    EXPECT_EQ(second.head.method, "DELETE");
    EXPECT_EQ(second.head.target, "http://host:1/storage/v1/b/b/o/y");
    EXPECT_EQ(second.body, "");
  }
}

TEST(ParseBatch, EveryCutBodyIsRefused) {
  const std::string body = kTwo.substr(0, kTwo.size() - std::string("\nepilogue").size());
  ASSERT_TRUE(ParseBatch(kType, body));
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_FALSE(ParseBatch(kType, body.substr(0, length))) << length;
  }
}

struct Row {
  const char* name;
  const char* type;
  std::string body;
  const char* message;
};
class BatchRefusals : public testing::TestWithParam<Row> {};
TEST_P(BatchRefusals, SayWhy) {
  const auto calls = ParseBatch(GetParam().type, GetParam().body);
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error(), InvalidArgument({}, GetParam().message));
}

std::string PartOf(const std::string& content) { return "--b\n" + content + "\n--b--"; }

std::string Calls(std::size_t count) {
  std::string body;
  for (std::size_t i = 0; i < count; ++i)
    body += "--b\nContent-Type: application/http\n\nGET /x HTTP/1.1\n\n\n";
  return body + "--b--";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BatchRefusals,
    testing::Values(Row{"no_boundary", "multipart/mixed", kTwo,
                        "A batch needs a Content-Type of multipart/mixed with a boundary"},
                    Row{"related", "multipart/related; boundary=b", kTwo,
                        "A batch needs a Content-Type of multipart/mixed with a boundary"},
                    Row{"empty", "multipart/mixed; boundary=b", "--b--", "The batch has no calls"},
                    Row{"json_part", "multipart/mixed; boundary=b",
                        PartOf("Content-Type: application/json\n\n{}"),
                        "Failed to parse batch request: a part's Content-Type must be application/http"},
                    Row{"no_request_line", "multipart/mixed; boundary=b",
                        PartOf("Content-Type: application/http\n\nhello"),
                        "Failed to parse batch request: a part is not an HTTP request"},
                    Row{"two_words", "multipart/mixed; boundary=b",
                        PartOf("Content-Type: application/http\n\nGET HTTP/1.1"),
                        "Failed to parse batch request: a part is not an HTTP request"},
                    Row{"bad_field", "multipart/mixed; boundary=b",
                        PartOf("Content-Type application/http\n\nGET /x HTTP/1.1"),
                        "Failed to parse batch request: malformed header fields in a part"},
                    Row{"too_many", "multipart/mixed; boundary=b", Calls(kBatchCallsMax + 1),
                        "The batch has more than 1000 calls"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseBatch, TakesAsManyAsClientsSend) {
  const auto calls = ParseBatch("multipart/mixed; boundary=b", Calls(kBatchCallsMax));
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->size(), kBatchCallsMax);
}

TEST(ResponseContentId, PutsResponseInFront) {
  EXPECT_EQ(ResponseContentId("<uuid + 1>"), "<response-uuid + 1>");
  EXPECT_EQ(ResponseContentId("item"), "response-item");
  EXPECT_EQ(ResponseContentId(""), "");
}

}  // namespace
}  // namespace trainyard::api
