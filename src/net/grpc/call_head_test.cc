#include "net/grpc/call_head.h"

#include <gmock/gmock.h>

namespace trainyard::grpc::call_head_test {
namespace {

CallHead HeadOf(std::vector<std::pair<std::string, std::string>> fields) {
  CallHead head(400);
  for (const auto& [name, value] : fields) head.Add(name, value);
  return head;
}

TEST(CallHead, OfACall) {
  const CallHead head = HeadOf({{":method", "POST"},
                                {":path", "/a.B/C"},
                                {":authority", "host:443"},
                                {"content-type", "application/grpc"},
                                {"grpc-timeout", "10S"},
                                {"authorization", "Bearer x"}});
  EXPECT_EQ(head.Check(), std::nullopt);
  EXPECT_EQ(head.path(), "/a.B/C");
  EXPECT_EQ(head.authority(), "host:443");
  EXPECT_EQ(head.Timeout(), std::chrono::seconds(10));
  EXPECT_EQ(head.fields().Get("authorization"), "Bearer x");
  EXPECT_FALSE(head.fields().Has(":path"));
}

TEST(CallHead, OfWhatIsNoCall) {
  const auto checked = [](std::vector<std::pair<std::string, std::string>> fields) {
    const auto refusal = HeadOf(std::move(fields)).Check();
    return refusal ? std::pair(refusal->http_status, refusal->error.code) : std::pair(0, Code::kUnknown);
  };
  using testing::Pair;
  const std::pair<std::string, std::string> grpc{"content-type", "application/grpc"};
  EXPECT_THAT(checked({{":method", "POST"}, {"content-type", "application/json"}}),
              Pair(415, Code::kInvalidArgument));
  EXPECT_THAT(checked({{":method", "POST"}}), Pair(415, Code::kInvalidArgument));
  EXPECT_THAT(checked({{":method", "GET"}, grpc}), Pair(405, Code::kInvalidArgument));
  EXPECT_THAT(checked({{":method", "POST"}, grpc, {"grpc-timeout", "soon"}}),
              Pair(200, Code::kInvalidArgument));
  EXPECT_THAT(checked({{":method", "POST"}, grpc, {"x", std::string(400, 'x')}}),
              Pair(200, Code::kResourceExhausted));
}

}  // namespace
}  // namespace trainyard::grpc::call_head_test
