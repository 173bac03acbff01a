#include <gmock/gmock.h>

#include <random>

#include "net/grpc/testing/grpc_fixture.h"
#include "net/grpc/testing/scripted_transport.h"
#include "net/http/gzip.h"

namespace trainyard::grpc::grpc_garbage_test {
namespace {

constexpr int kConnections = 2'000;
constexpr unsigned kSeed = 42;

class GrpcGarbage : public GrpcTest {
 protected:
  /// The bytes of a client that makes several calls.
  std::string Recorded() {
    Start();
    std::string compressed = PrintMessage(http::GzipCompress("text"));
    compressed[0] = '\1';
    std::vector<std::int32_t> ids{Ask("/echo", "hello", {{"grpc-timeout", "10S"}}), Ask("/fail"),
                                  Ask("/echo", std::string(3'000, 'x'), {{"authorization", "Bearer x"}})};
    ids.push_back(client_->Ask({.path = "/echo", .body = compressed, .fields = {{"grpc-encoding", "gzip"}}}));
    ids.push_back(client_->Ask({.path = "/json", .body = "{}", .content_type = "application/json"}));
    client_->Ping();
    for (const std::int32_t id : ids) AnswerTo(id);
    return client_->sent();
  }
  /// Returns the bytes that the server sends to a client that sends `bytes`.
  std::string Exchange(std::string bytes, std::size_t step) {
    std::string received;
    const auto channel = std::make_shared<http::Channel>(
        loop_.get_executor(), std::make_unique<ScriptedTransport>(std::move(bytes), step, received));
    TaskGroup task(loop_.get_executor());
    task.Spawn(Serve(channel, options_));
    EXPECT_TRUE(RunUntil([&] { return task.size() == 0; }));
    return received;
  }
};

std::string Mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 2: bytes.erase(at, 1 + below(20)); break;
      case 3: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(60))); break;
      default: bytes.resize(at); break;
    }
  }
  return bytes;
}

/// Whether the bytes are whole frames (RFC 9113 section 4.1); the last may be cut where the client closed.
bool AreFrames(std::string_view bytes) {
  constexpr std::size_t kHeadBytes = 9;
  constexpr std::size_t kFrameBytesMax = 16'384;
  while (bytes.size() >= kHeadBytes) {
    const auto at = [&bytes](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
    };
    const std::size_t size = at(0) << 16U | at(1) << 8U | at(2);
    if (size > kFrameBytesMax || at(3) > 9) return false;
    bytes.remove_prefix(std::min(bytes.size(), kHeadBytes + size));
  }
  return true;
}

TEST_F(GrpcGarbage, NoConnectionHarmsTheServer) {
  const std::string recorded = Recorded();
  ASSERT_THAT(Exchange(recorded, 1'000), testing::HasSubstr("echo hello"));
  std::mt19937 random(kSeed);
  for (int i = 0; i < kConnections; ++i) {
    const std::string bytes = Mutated(recorded, random);
    ASSERT_TRUE(AreFrames(Exchange(bytes, 1 + random() % 2'000))) << "seed " << kSeed << ", connection " << i;
  }
  EXPECT_EQ(waiting_, ended_);
}

TEST_F(GrpcGarbage, HttpOnePointOneIsNoConnection) {
  EXPECT_TRUE(AreFrames(Exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 100)));
}

}  // namespace
}  // namespace trainyard::grpc::grpc_garbage_test
