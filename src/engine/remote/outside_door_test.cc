#include "engine/remote/outside_door.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "net/http/listening_socket.h"

namespace trainyard::engine {
namespace {

TEST(OutsideDoor, ReadsConnect) {
  EXPECT_EQ(ParseConnect("CONNECT index.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
            (OutsideTarget{.host = "index.example.com", .port = "443"}));
  EXPECT_EQ(ParseConnect("CONNECT [2001:db8::1]:8080 HTTP/1.0\r\n\r\n"),
            (OutsideTarget{.host = "2001:db8::1", .port = "8080"}));
}

TEST(OutsideDoor, ReadsNothingElse) {
  for (const char* head :
       {"", "CONNECT a:1 HTTP/1.1\r\n", "GET http://a/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n",
        "CONNECT :443 HTTP/1.1\r\n\r\n", "CONNECT a:http HTTP/1.1\r\n\r\n", "CONNECT a:443\r\n\r\n",
        "CONNECT a/b:443 HTTP/1.1\r\n\r\n", "CONNECT a:999999 HTTP/1.1\r\n\r\n"})
    EXPECT_EQ(ParseConnect(head), std::nullopt) << head;
}

/// A node that requests one target and sends nothing else.
class AskingStream final : public mux::Stream {
 public:
  explicit AskingStream(std::string asks) : asks_(std::move(asks)) {}
  boost::asio::awaitable<Result<std::size_t>> Read(std::span<char> buffer) override {
    const std::size_t size = std::exchange(asks_, "").copy(buffer.data(), buffer.size());
    co_return size;
  }
  boost::asio::awaitable<Status> Write(std::string_view bytes) override {
    answered += bytes;
    co_return Status();
  }
  void CloseWrite() override {}
  void Reset() override {}
  std::string answered;

 private:
  std::string asks_;
};

class OutsideDoorTest : public testing::Test {
 protected:
  OutsideDoorTest() {
    auto listening = http::ListenOnTcp("127.0.0.1", 0);
    EXPECT_TRUE(listening);
    socket_ = *std::move(listening);
  }
  [[nodiscard]] std::string Place(const std::string& host) const {
    return host + ":" + std::to_string(socket_.port);
  }
  /// Sends a request and returns the first line of the answer.
  std::string Ask(const std::string& place, const NamedTargets& named = {}) {
    auto stream = std::make_shared<AskingStream>("CONNECT " + place + " HTTP/1.1\r\n\r\n");
    boost::asio::io_context loop;
    NameLookup names(loop.get_executor());
    boost::asio::co_spawn(loop, ServeOutside(stream, named, names, connections_), boost::asio::detached);
    while (stream->answered.empty() && loop.run_one() > 0) {
    }
    return stream->answered.substr(0, stream->answered.find('\r'));
  }

  http::ListeningSocket socket_;
  http::ConnectionBudget connections_{{.connections_max = 4, .known_peer_max = 4}};
};

TEST_F(OutsideDoorTest, LeadsNeitherToThisMachineNorToItsNetworks) {
  for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]"})
    EXPECT_EQ(Ask(Place(host)), "HTTP/1.1 403 Forbidden") << host;
  for (const char* place : {"10.0.0.7:443", "192.168.0.1:443", "100.100.100.200:80", "168.63.129.16:80",
                            "169.254.169.254:80", "[fd00:ec2::254]:80", "[2002:a00:7::1]:443"})
    EXPECT_EQ(Ask(place), "HTTP/1.1 403 Forbidden") << place;
}

TEST_F(OutsideDoorTest, LeadsToWhatTheOperatorNamedWhereverThatIs) {
  EXPECT_EQ(Ask(Place("LocalHost"), {Place("localhost")}), "HTTP/1.1 200 Connection established");
  EXPECT_EQ(Ask(Place("127.0.0.1"), {Place("localhost")}), "HTTP/1.1 403 Forbidden") << "by its name only";
  EXPECT_EQ(Ask("localhost:1", {Place("localhost")}), "HTTP/1.1 403 Forbidden") << "and by its port";
}

TEST_F(OutsideDoorTest, CountsAmongTheServersConnections) {
  std::vector<std::unique_ptr<http::ConnectionSeat>> busy;
  for (int i = 0; i < 4; ++i) {
    busy.push_back(connections_.Take({}, [] {}));
    busy.back()->SetPhase(http::ConnectionPhase::kBusy);
  }
  EXPECT_EQ(Ask(Place("localhost"), {Place("localhost")}), "HTTP/1.1 503 Service Unavailable");
}

}  // namespace
}  // namespace trainyard::engine
