#include "api/storage/storage_handlers_multipart.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::api::storage_api::storage_handlers_multipart_test {
namespace {

struct Parts {
  std::string resource;
  std::string media_type;
  std::string media;
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// Feeds the body in pieces of `step` bytes.
Result<Parts> Read(std::string_view content_type, std::string_view body, std::size_t step) {
  TY_TRY(MultipartUpload upload, MultipartUpload::Create(content_type));
  std::string media;
  for (std::size_t at = 0; at < body.size(); at += step) {
    TY_RETURN_IF_ERROR(upload.Feed(body.substr(at, step)));
    media += upload.TakeMedia();
  }
  if (!upload.complete()) return std::unexpected(InvalidArgument({}, "incomplete"));
  return Parts{*upload.resource(), upload.media_type(), media};
}

struct Row {
  const char* name;
  std::string content_type;
  std::string body;
  Parts parts;
};
class Multipart : public testing::TestWithParam<Row> {};
TEST_P(Multipart, IsTakenApartAtAnyCut) {
  for (std::size_t step = 1; step <= GetParam().body.size(); ++step) {
    ASSERT_EQ(Read(GetParam().content_type, GetParam().body, step), GetParam().parts) << "pieces of " << step;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Clients, Multipart,
    testing::Values(
        Row{"apitools",
            "multipart/related; boundary='==1=='",
            "--==1==\nContent-Type: application/json\nMIME-Version: 1.0\n\n{\"size\": \"3\"}\n--==1==\n"
            "Content-Type: application/x-tar\nMIME-Version: 1.0\nContent-Transfer-Encoding: "
            "binary\n\na\r\n\n--==1==--",
            {"{\"size\": \"3\"}", "application/x-tar", "a\r\n"}},
        Row{"python",
            "multipart/related; boundary=\"==2==\"",
            "--==2==\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n{}\r\n--==2==\r\n"
            "content-type: text/plain\r\n\r\nline\n\r\n--==2==--",
            {"{}", "text/plain", "line\n"}},
        Row{"epilogue",
            "Multipart/Related;boundary=b;type=x",
            "--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--\r\nignored",
            {"{}", "", "x"}},
        Row{"preamble",
            "multipart/related; boundary=b",
            "hello\r\n--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--",
            {"{}", "", "x"}},
        Row{"empty_media",
            "multipart/related; boundary=b",
            "--b\r\n\r\n{}\r\n--b\r\n\r\n\r\n--b--",
            {"{}", "", ""}},
        Row{"empty_media_lf", "multipart/related; boundary=b", "--b\n\n{}\n--b\n\n\n--b--", {"{}", "", ""}},
        Row{"no_line_at_all",
            "multipart/related; boundary=b",
            "--b\n\n{}\n--b\nContent-Type: a/b\n\n--b--",
            {"{}", "a/b", ""}},
        Row{"almost_boundary",
            "multipart/related; boundary=bound",
            "--bound\n\n{}\n--bound\n\nx\n--boun\n--bo\n\n--bound--",
            {"{}", "", "x\n--boun\n--bo\n"}},
        Row{"carriage_return_is_content",
            "multipart/related; boundary=b",
            "--b\n\n{}\n--b\n\nx\r\n--b--",
            {"{}", "", "x\r"}}),
    [](const auto& row) { return row.param.name; });

TEST(Multipart, Refusals) {
  for (const char* type :
       {"", "multipart/related", "multipart/form-data; boundary=b", "multipart/related; boundary=\"\"",
        "multipart/related; boundary=''", "multipart/related; boundary=\"", "application/json"}) {
    EXPECT_FALSE(MultipartUpload::Create(type)) << type;
  }
  for (const std::string& body :
       {std::string("--b\n\n{}\n--b--"), std::string("--b\n\n{}\n--b\n\nx\n--b\n\ny\n--b--"),
        std::string(10'000, 'x'), "--b\n" + std::string(10'000, 'h'),
        "--b\n\n" + std::string((1 << 20) + 100, 'j') + "\n--b\n\nx\n--b--"}) {
    const auto parts = Read("multipart/related; boundary=b", body, 4096);
    ASSERT_FALSE(parts);
    EXPECT_TRUE(parts.error().message.starts_with("Malformed multipart body: ")) << parts.error().message;
  }
  for (const char* body : {"", "--b\n\n{}\n--b\n\nx", "--b\n\n{}\n--b\n\nx\n--b", "--b\n\n{}"}) {
    EXPECT_EQ(Read("multipart/related; boundary=b", body, 3),
              std::unexpected(InvalidArgument({}, "incomplete")))
        << body;
  }
}

}  // namespace
}  // namespace trainyard::api::storage_api::storage_handlers_multipart_test
