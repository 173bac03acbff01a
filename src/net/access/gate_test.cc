#include "net/access/gate.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

namespace trainyard::access::gate_test {
namespace {

using http::Method;
using http::Peer;
using http::Request;

constexpr std::uint32_t kOwn = 1000;
constexpr std::uint32_t kOther = 1001;
constexpr std::uint32_t kOfAttempt = 1234;

boost::asio::awaitable<void> Ask(const http::Admit& admit, const Request& request,
                                 std::optional<Status>& answer) {
  answer = co_await admit(request);
}

boost::asio::awaitable<bool> NobodyHasIt(http::Peer&) { co_return false; }

boost::asio::awaitable<bool> IsOfAttempt(std::uint32_t uid) { co_return uid == kOfAttempt; }

class GateTest : public testing::Test {
 protected:
  GateTest() {
    request_.method = Method::kPost;
    request_.path = "/v1/projects/p/jobs";
    request_.host = "localhost:8470";
    request_.content_length = 2;
    request_.headers.Add("Content-Type", "application/json");
    request_.peer = &peer_;
    options_.accounts.own_uid = kOwn;
    options_.hosts.names = {"storage.googleapis.com"};
    options_.xml_storage_host = "storage.googleapis.com";
  }

  Status Check() {
    const Gate gate(uids_, options_);
    const http::Admit admit = gate.Admit();
    boost::asio::io_context loop;
    std::optional<Status> answer;
    boost::asio::co_spawn(loop, Ask(admit, request_, answer), boost::asio::detached);
    loop.run();
    return *answer;
  }
  /// 0: the request is accepted.
  Code CheckCode() {
    const Status checked = Check();
    return checked ? Code{} : checked.error().code;
  }

  PeerUids uids_;
  GateOptions options_;
  Peer peer_{.kind = Peer::Kind::kTcp4, .uid = kOwn};
  Request request_;
};

TEST_F(GateTest, TheOwnAccountMayAsk) { EXPECT_EQ(CheckCode(), Code{}); }

TEST_F(GateTest, AnotherAccountMayNotAskForAnything) {
  peer_.uid = kOther;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  request_.method = Method::kGet;
  request_.path = "/healthz";
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  peer_ = {.kind = Peer::Kind::kUnix, .uid = kOther};
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  options_.accounts.local_users = true;
  EXPECT_EQ(CheckCode(), Code{});
}

TEST_F(GateTest, WhomTheKernelDoesNotKnowMayNotAsk) {
  peer_ = {};
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
}

TEST_F(GateTest, TheAccountOfAnAttemptMayAskWhereReplicasDo) {
  peer_.uid = kOfAttempt;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  options_.is_attempt_uid = IsOfAttempt;
  EXPECT_EQ(CheckCode(), Code{});
  peer_.uid = kOther;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
}

TEST_F(GateTest, WhoseConnectionNobodyOwnsIsNobody) {
  options_.has_owner = NobodyHasIt;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  options_.is_attempt_uid = IsOfAttempt;
  peer_.uid = kOfAttempt;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  options_.has_owner = [](http::Peer& peer) -> boost::asio::awaitable<bool> {
    peer.pid = 1;
    co_return true;
  };
  EXPECT_EQ(CheckCode(), Code{});
  EXPECT_EQ(peer_.pid, 1);
}

TEST_F(GateTest, WhatAProxyPassesOnIsNoAccounts) {
  for (const char* field : {"X-Forwarded-For", "x-forwarded-host", "Forwarded", "Via", "X-Real-IP"}) {
    request_.headers.Set(field, "192.0.2.7");
    for (const Peer::Kind kind : {Peer::Kind::kTcp4, Peer::Kind::kUnix}) {
      peer_.kind = kind;
      EXPECT_EQ(CheckCode(), Code::kPermissionDenied) << field;
    }
    options_.accounts.local_users = true;
    EXPECT_EQ(CheckCode(), Code::kPermissionDenied) << field << ": it may be of no account of this machine";
    options_.accounts.local_users = false;
    options_.asks_tokens = true;
    EXPECT_EQ(CheckCode(), Code{}) << field;
    options_.asks_tokens = false;
    request_.headers = {};
    request_.headers.Add("Content-Type", "application/json");
  }
}

TEST_F(GateTest, WhatComesFromATrustedProxyIsNoAccounts) {
  peer_ = {.kind = Peer::Kind::kTcp4, .remote = {.bytes = {10, 0, 0, 1}, .port = 4711}, .uid = kOwn};
  EXPECT_EQ(CheckCode(), Code{});
  options_.proxies = {ParseAddressRange("10.0.0.0/8").value()};
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
}

TEST_F(GateTest, WhereTokensAreAskedForTheHostStillCounts) {
  options_.asks_tokens = true;
  peer_.uid = kOther;
  EXPECT_EQ(CheckCode(), Code{});
  request_.host = "evil.example";
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
}

TEST_F(GateTest, OnlyAUnixSocketTakesAnyHost) {
  request_.host = "evil.example";
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  peer_.kind = Peer::Kind::kUnix;
  EXPECT_EQ(CheckCode(), Code{});
}

TEST_F(GateTest, AForeignPageUpgradesNothing) {
  request_.method = Method::kGet;
  request_.path = "/";
  request_.content_length.reset();
  request_.headers.Set("Origin", "https://evil.example");
  EXPECT_EQ(CheckCode(), Code{});
  request_.headers.Set("Upgrade", "websocket");
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  peer_.kind = Peer::Kind::kUnix;
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
}

TEST_F(GateTest, JsonMethodsWantJson) {
  request_.headers.Set("Content-Type", "text/plain");
  EXPECT_EQ(CheckCode(), Code::kInvalidArgument);
  request_.content_length = 0;
  EXPECT_EQ(CheckCode(), Code{});
  request_.content_length.reset();
  EXPECT_EQ(CheckCode(), Code{});
  request_.headers.Set("Transfer-Encoding", "identity");
  EXPECT_EQ(CheckCode(), Code{});
  request_.headers.Set("Transfer-Encoding", "Chunked");
  EXPECT_EQ(CheckCode(), Code::kInvalidArgument);
  request_.headers.Set("Content-Type", "application/x-www-form-urlencoded");
  request_.headers.Set("X-HTTP-Method-Override", "GET");
  EXPECT_EQ(CheckCode(), Code{});
  request_.headers.Set("X-HTTP-Method-Override", "PATCH");
  EXPECT_EQ(CheckCode(), Code::kInvalidArgument);
}

TEST_F(GateTest, ObjectsOfTheXmlApiHaveAnyType) {
  request_.method = Method::kPut;
  request_.path = "/bucket/object";
  request_.headers.Set("Content-Type", "text/plain");
  EXPECT_EQ(CheckCode(), Code::kInvalidArgument);
  request_.host = "storage.googleapis.com";
  EXPECT_EQ(CheckCode(), Code{});
}

TEST_F(GateTest, MetadataWantsItsField) {
  request_.method = Method::kGet;
  request_.content_length.reset();
  request_.path = "/computeMetadata/v1/instance/service-accounts/default/token";
  EXPECT_EQ(CheckCode(), Code::kPermissionDenied);
  request_.headers.Set("Metadata-Flavor", "Google");
  EXPECT_EQ(CheckCode(), Code{});
}

struct Row {
  const char* name;
  const char* host;
  bool allowed;
};

class Host : public testing::TestWithParam<Row> {};

TEST_P(Host, IsChecked) {
  const AllowedHosts allowed{.names = {"train.example.com", "storage.googleapis.com"},
                             .suffixes = {".metadata.trainyard"}};
  const Status checked = CheckHost(GetParam().host, allowed);
  EXPECT_EQ(checked.has_value(), GetParam().allowed);
  if (!checked) EXPECT_EQ(checked.error().code, Code::kPermissionDenied);
}

INSTANTIATE_TEST_SUITE_P(Rules, Host,
                         testing::Values(Row{"loopback", "127.0.0.1:8470", true},
                                         Row{"other_loopback", "127.64.3.2", true},
                                         Row{"v6", "[::1]:8470", true}, Row{"localhost", "LOCALHOST:1", true},
                                         Row{"below_localhost", "ml.localhost:8471", true},
                                         Row{"configured", "train.example.com:443", true},
                                         Row{"google", "storage.googleapis.com", true},
                                         Row{"metadata", "1-master-replica-0-1.abc.metadata.trainyard", true},
                                         Row{"suffix_alone", "metadata.trainyard", false},
                                         Row{"below_configured", "evil.train.example.com", false},
                                         Row{"behind_configured", "train.example.com.evil.example", false},
                                         Row{"rebound", "evil.example:8470", false},
                                         Row{"like_loopback", "127.evil.example", false},
                                         Row{"any_address", "0.0.0.0:8470", false}, Row{"none", "", false},
                                         Row{"two", "localhost evil.example", false}),
                         [](const auto& row) { return row.param.name; });

TEST(HostMessage, NamesTheFlag) {
  const std::string message = CheckHost("evil.example:80", {}).error().message;
  EXPECT_NE(message.find("--host-name evil.example"), std::string::npos) << message;
}

}  // namespace
}  // namespace trainyard::access::gate_test
