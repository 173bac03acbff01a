#include "engine/agent/way_out.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/http/client_socket.h"
#include "net/http/listening_socket.h"

namespace trainyard::agent::way_out_test {
namespace {

using Variables = std::map<std::string, std::optional<std::string>>;

struct Row {
  const char* name;
  Variables variables;
  const char* index;  ///< "host:port"; empty: none
};
class IndexOfTools : public testing::TestWithParam<Row> {};

TEST_P(IndexOfTools, IsFound) {
  const auto index = FindIndex(GetParam().variables);
  EXPECT_EQ(index ? index->host + ":" + std::to_string(index->port) : "", GetParam().index);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, IndexOfTools,
    testing::Values(
        Row{"usual", {}, "pypi.org:443"}, Row{"unset", {{"PIP_INDEX_URL", std::nullopt}}, "pypi.org:443"},
        Row{"of_pip", {{"PIP_INDEX_URL", "http://mirror.example.com/simple"}}, "mirror.example.com:80"},
        Row{"of_uv_before_pip",
            {{"PIP_INDEX_URL", "https://one.example.com/simple"},
             {"UV_DEFAULT_INDEX", "https://two.example.com:8443/simple"}},
            "two.example.com:8443"},
        Row{"with_a_password", {{"PIP_INDEX_URL", "https://me:p%40w@mirror.site/x"}}, "mirror.site:443"},
        Row{"with_a_name", {{"UV_DEFAULT_INDEX", "site=https://mirror.site/x"}}, "mirror.site:443"},
        Row{"a_directory", {{"UV_DEFAULT_INDEX", "/srv/packages"}}, ""},
        Row{"none", {{"PIP_NO_INDEX", "1"}}, ""}),
    [](const auto& row) { return row.param.name; });

class WayOut : public testing::Test {
 protected:
  WayOut() {
    auto listening = http::ListenOnTcp("127.0.0.1", 0);
    EXPECT_TRUE(listening);
    socket_ = *std::move(listening);
  }
  [[nodiscard]] std::string Index() const {
    return "https://127.0.0.1:" + std::to_string(socket_.port) + "/simple";
  }
  http::ListeningSocket socket_;
};

TEST_F(WayOut, IsAnIndexThatAnswers) { EXPECT_EQ(FindWayOutLacking({{"PIP_INDEX_URL", Index()}}), ""); }

TEST_F(WayOut, IsLackingIfNobodyAnswers) {
  const std::string index = Index();
  socket_ = {};
  EXPECT_NE(FindWayOutLacking({{"PIP_INDEX_URL", index}}).find("cannot connect to 127.0.0.1:"),
            std::string::npos);
  EXPECT_NE(FindWayOutLacking({{"PIP_INDEX_URL", "https://nobody.invalid/simple"}}), "");
}

TEST_F(WayOut, IsNotTriedWithAProxyOrWithoutAnIndex) {
  socket_ = {};
  EXPECT_EQ(FindWayOutLacking({{"PIP_INDEX_URL", "https://nobody.invalid/"}, {"https_proxy", "http://p:1"}}),
            "");
  EXPECT_EQ(FindWayOutLacking({{"UV_NO_INDEX", "1"}}), "");
}

/// A listener that never accepts: once its queue is full, the kernel drops what asks for a connection, as a
/// firewall does.
TEST_F(WayOut, IsGivenUpAfterAShortTime) {
  ASSERT_EQ(::listen(socket_.descriptor.get(), 0), 0);
  std::vector<http::ClientSocket> queue;
  for (int i = 0; i < 3; ++i) {
    auto connected =
        http::ClientSocket::Connect({.host = "127.0.0.1", .port = static_cast<std::uint16_t>(socket_.port)},
                                    std::chrono::milliseconds(50));
    if (connected) queue.push_back(*std::move(connected));
  }
  EXPECT_NE(FindWayOutLacking({{"PIP_INDEX_URL", Index()}}, std::chrono::milliseconds(100)), "");
}

}  // namespace
}  // namespace trainyard::agent::way_out_test
