#include "api/ml/job_request.h"

#include <gtest/gtest.h>

namespace trainyard::api {
namespace {

TEST(SafeFileName, KeepsWhatIsHarmless) {
  EXPECT_EQ(SafeFileName("census_1.log"), "census_1.log");
  EXPECT_EQ(SafeFileName("a b\"; filename=\"x.sh"), "a_b___filename__x.sh");
  EXPECT_EQ(SafeFileName("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(SafeFileName("a\r\nSet-Cookie: b"), "a__Set-Cookie__b");
  EXPECT_EQ(SafeFileName("\u202egpj.exe"), "___gpj.exe");
  EXPECT_EQ(SafeFileName(""), "_");
  EXPECT_EQ(SafeFileName(std::string(1 << 20, '.')).size(), kFileNameBytesMax);
}

TEST(SetAttachment, IsNoPage) {
  http::Headers headers;
  SetAttachment("text/plain; charset=utf-8", "j.log", headers);
  EXPECT_EQ(headers.Get("Content-Disposition"), "attachment; filename=\"j.log\"");
  EXPECT_EQ(headers.Get("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_TRUE(headers.Get("Content-Security-Policy").contains("sandbox"));
}

}  // namespace
}  // namespace trainyard::api
