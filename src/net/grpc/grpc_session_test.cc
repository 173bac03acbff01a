#include "net/grpc/grpc_session.h"

#include "net/grpc/testing/grpc_fixture.h"
#include "net/http/gzip.h"

namespace trainyard::grpc::grpc_session_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST_F(GrpcTest, AUnaryCall) {
  Start();
  const TestAnswer& answer = AnswerTo(Ask("/echo", "hello", {{"authorization", "Bearer x"}}));
  EXPECT_THAT(answer.fields,
              UnorderedElementsAre(Pair(":status", "200"), Pair("content-type", "application/grpc")));
  EXPECT_EQ(answer.body, PrintMessage("echo hello"));
  EXPECT_THAT(answer.trailers, testing::Contains(Pair("grpc-status", "0")));
  EXPECT_EQ(answer.closed, 0U);
  EXPECT_EQ(last_->path, "/echo");
  EXPECT_EQ(last_->authority, "aiplatform.example:443");
  EXPECT_EQ(last_->metadata.Get("authorization"), "Bearer x");
  EXPECT_EQ(last_->deadline, std::nullopt);
  EXPECT_EQ(last_->peer, &channel_->peer());
}

TEST_F(GrpcTest, LargeMessagesBothWays) {
  Start();
  const std::string message(options_.message_bytes_max, 'm');
  const std::int32_t up = Ask("/echo", message);
  const std::int32_t down = Ask("/large");
  EXPECT_EQ(AnswerTo(up).body.size(), kPrefixBytes + 5 + message.size());
  EXPECT_EQ(AnswerTo(down).body, PrintMessage(std::string(3'000'000, 'l')));
  EXPECT_EQ(StatusOf(down), "0 ");
}

TEST_F(GrpcTest, AnErrorWithDetails) {
  Start();
  const std::int32_t id = Ask("/fail");
  EXPECT_EQ(StatusOf(id), "9 not \xe2\x9c\x93 yet");
  EXPECT_EQ(ParseBinary(client_->At(id).fields.at("grpc-status-details-bin")), "\1\2\xff");
  EXPECT_EQ(client_->At(id).body, "");
}

TEST_F(GrpcTest, AnExceptionOfALibraryIsAnInternalError) {
  Start();
  EXPECT_EQ(StatusOf(Ask("/throw")), "13 Internal error encountered.");
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
}

TEST_F(GrpcTest, ACallThatWaitsDelaysNoOther) {
  Start();
  const std::int32_t waits = Ask("/wait", "first");
  const std::int32_t other = Ask("/echo", "second");
  EXPECT_EQ(AnswerTo(other).body, PrintMessage("echo second"));
  EXPECT_FALSE(client_->IsClosed(waits));
  release_.Set();
  EXPECT_EQ(AnswerTo(waits).body, PrintMessage("echo first"));
}

TEST_F(GrpcTest, ADeadlineEndsTheCallAndNotItsHandler) {
  Start();
  EXPECT_EQ(StatusOf(Ask("/wait", "", {{"grpc-timeout", "100m"}})), "4 the deadline of the call has passed");
  EXPECT_EQ(ended_, 0);
  release_.Set();
  EXPECT_TRUE(RunUntil([&] { return ended_ == waiting_; }));
  const int begun = waiting_;
  EXPECT_EQ(StatusOf(Ask("/wait", "", {{"grpc-timeout", "0S"}})), "4 the deadline of the call has passed");
  EXPECT_EQ(waiting_, begun) << "a call that is late before it begins does not begin";
  EXPECT_EQ(StatusOf(Ask("/echo", "", {{"grpc-timeout", "1H"}})), "0 ");
  EXPECT_TRUE(last_->deadline);
  EXPECT_EQ(StatusOf(Ask("/echo", "", {{"grpc-timeout", "soon"}})),
            "3 the value of grpc-timeout is malformed");
}

TEST_F(GrpcTest, AClientThatGivesUpDoesNotEndTheHandler) {
  Start();
  const std::int32_t id = Ask("/wait");
  ASSERT_TRUE(RunUntil([&] { return waiting_ == 1; }));
  client_->Reset(id);
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
  EXPECT_EQ(ended_, 0);
  release_.Set();
  EXPECT_TRUE(RunUntil([&] { return ended_ == 1; }));
}

TEST_F(GrpcTest, TheEndOfTheConnectionWaitsForItsHandlers) {
  Start();
  Ask("/wait");
  Ask("/wait");
  ASSERT_TRUE(RunUntil([&] { return waiting_ == 2; }));
  client_->Close();
  loop_.run_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(served_);
  release_.Set();
  EXPECT_TRUE(RunUntilServed());
  EXPECT_EQ(ended_, 2);
}

TEST_F(GrpcTest, ACancelledServerEndsItsHandlers) {
  Start();
  Ask("/wait");
  ASSERT_TRUE(RunUntil([&] { return waiting_ == 1; }));
  tasks_.reset();
  EXPECT_EQ(ended_, 1);
}

TEST_F(GrpcTest, TooLargeIsRefused) {
  options_.held_bytes_max = 3'000'000;
  Start();
  EXPECT_THAT(StatusOf(Ask("/echo", std::string(options_.message_bytes_max + 1, 'x'))),
              testing::StartsWith("8 the message is larger"));
  EXPECT_THAT(StatusOf(Ask("/echo", "", {{"long", std::string(20'000, 'x')}})),
              testing::StartsWith("8 the metadata of the call is larger"));
  const std::string part = PrintMessage(std::string(2'000'000, 'x')).substr(0, 1'400'000);
  std::vector<std::int32_t> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(client_->Ask({.path = "/echo", .body = part, .ends = false}));
  const auto one = [&] {
    return std::ranges::find_if(parts, [&](auto id) { return client_->IsClosed(id); });
  };
  ASSERT_TRUE(RunUntil([&] { return one() != parts.end(); }));
  EXPECT_EQ(StatusOf(*one()), "8 the connection has too many large calls at once");
  EXPECT_EQ(StatusOf(Ask("/echo", "small")), "0 ");
}

TEST_F(GrpcTest, ACompressedMessage) {
  Start();
  const auto ask = [&](std::string_view text, const char* encoding) {
    std::string body = PrintMessage(http::GzipCompress(text));
    body[0] = '\1';
    return client_->Ask({.path = "/echo", .body = body, .fields = {{"grpc-encoding", encoding}}});
  };
  EXPECT_EQ(AnswerTo(ask("hello", "gzip")).body, PrintMessage("echo hello"));
  EXPECT_THAT(StatusOf(ask(std::string(options_.message_bytes_max + 1, 'x'), "gzip")),
              testing::StartsWith("8 "));
  const std::int32_t unknown = ask("hello", "zstd");
  EXPECT_THAT(StatusOf(unknown), testing::StartsWith("12 the server does not know the compression"));
  EXPECT_EQ(client_->At(unknown).fields.at("grpc-accept-encoding"), "identity,gzip");
}

TEST_F(GrpcTest, OnlyUnaryCalls) {
  Start();
  EXPECT_THAT(StatusOf(client_->Ask({.path = "/echo"})), testing::StartsWith("13 the request ended before"));
  EXPECT_THAT(StatusOf(client_->Ask({.path = "/echo", .body = PrintMessage("a") + PrintMessage("b")})),
              testing::StartsWith("13 the request has more than one message"));
  EXPECT_FALSE(last_);
}

TEST_F(GrpcTest, OtherRequestsAreRefused) {
  Start();
  const TestAnswer& json =
      AnswerTo(client_->Ask({.path = "/v1", .body = "{}", .content_type = "application/json"}));
  EXPECT_EQ(json.fields.at(":status"), "415");
  EXPECT_THAT(json.body, testing::HasSubstr("Use HTTP/1.1"));
  const TestAnswer& open = AnswerTo(client_->Ask({.path = "/", .content_type = "text/plain", .ends = false}));
  EXPECT_EQ(open.fields.at(":status"), "415");
  EXPECT_EQ(AnswerTo(client_->Ask({.path = "/", .method = "GET"})).fields.at(":status"), "405");
  const TestAnswer& head =
      AnswerTo(client_->Ask({.path = "/", .content_type = "text/plain", .method = "HEAD"}));
  EXPECT_EQ(head.fields.at(":status"), "415");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
}

TEST_F(GrpcTest, AServerThatStopsAnswersWhatIsInFlight) {
  Start();
  std::vector<bool> busy;
  channel_->signals().on_busy = [&](bool is_busy) { busy.push_back(is_busy); };
  const std::int32_t waits = Ask("/wait", "last");
  ASSERT_TRUE(RunUntil([&] { return waiting_ == 1; }));
  channel_->signals().on_stop();
  const std::int32_t late = Ask("/echo");
  ASSERT_TRUE(RunUntil([&] { return client_->goaway().has_value(); }));
  EXPECT_EQ(client_->goaway(), NGHTTP2_NO_ERROR);
  release_.Set();
  EXPECT_EQ(AnswerTo(waits).body, PrintMessage("echo last"));
  EXPECT_TRUE(RunUntilServed());
  EXPECT_FALSE(client_->At(late).fields.contains(":status"));
  EXPECT_THAT(busy, ElementsAre(true, false));
}

TEST_F(GrpcTest, AnIdleConnectionIsEnded) {
  options_.ping_pause = milliseconds(5);
  options_.idle_wait_max = milliseconds(20);
  Start();
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
  EXPECT_TRUE(RunUntilServed());
  EXPECT_EQ(client_->goaway(), NGHTTP2_NO_ERROR);
}

TEST_F(GrpcTest, WhoSendsNothingIsGivenUp) {
  options_.start_wait_max = milliseconds(5);
  tasks_->Spawn(Serve(channel_, options_));
  EXPECT_TRUE(RunUntil([&] { return tasks_->size() == 0; }));
}

TEST_F(GrpcTest, APingIsAnswered) {
  Start();
  client_->Ping();
  EXPECT_TRUE(RunUntil([&] { return client_->pongs() == 1; }));
}

TEST_F(GrpcTest, AMessageThatDoesNotComeIsGivenUp) {
  options_.message_wait_max = milliseconds(20);
  Start();
  EXPECT_EQ(StatusOf(client_->Ask({.path = "/echo", .body = std::string(1, '\0'), .ends = false})),
            "4 the message of the call took too long to arrive");
}

TEST_F(GrpcTest, TooManyCallsAtOnceAreRefused) {
  options_.streams_max = 2;
  Start();
  for (int i = 1; i <= 2; ++i) {
    const std::int32_t id = Ask("/stubborn");
    ASSERT_TRUE(RunUntil([&] { return waiting_ == i; }));
    client_->Reset(id);
  }
  EXPECT_EQ(AnswerTo(Ask("/echo")).closed, NGHTTP2_REFUSED_STREAM) << "the handlers have not ended";
  release_.Set();
  ASSERT_TRUE(RunUntil([&] { return ended_ == 2; }));
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
}

TEST_F(GrpcTest, ManyResetsEndTheConnection) {
  options_.failed_streams_max = 50;
  Start();
  for (int i = 1; i <= 51; ++i) {
    const std::int32_t id = Ask("/wait");
    ASSERT_TRUE(RunUntil([&] { return waiting_ == i; }));
    client_->Reset(id);
  }
  ASSERT_TRUE(RunUntil([&] { return client_->goaway().has_value(); }));
  EXPECT_EQ(client_->goaway(), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_FALSE(served_) << "the handlers run to their end";
  release_.Set();
  EXPECT_TRUE(RunUntilServed());
  EXPECT_EQ(ended_, 51);
}

TEST_F(GrpcTest, ManyMalformedStreamsEndTheConnection) {
  Start();
  for (int i = 0; i < 300 && !client_->over(); ++i) {
    // The library resets it: the length that the head gives is not that of the body.
    const std::int32_t id = Ask("/echo", "x", {{"content-length", "1"}});
    ASSERT_TRUE(RunUntil([&] { return client_->IsClosed(id) || client_->over(); }));
  }
  EXPECT_TRUE(RunUntilServed());
  EXPECT_EQ(client_->goaway(), NGHTTP2_ENHANCE_YOUR_CALM);
}

}  // namespace
}  // namespace trainyard::grpc::grpc_session_test
