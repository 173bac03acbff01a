#include "net/access/forwarded_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::access::forwarded_rules_test {
namespace {

namespace ip = boost::asio::ip;

TrustedProxies Trusted(const std::vector<std::string>& ranges) {
  TrustedProxies trusted;
  for (const std::string& range : ranges) trusted.push_back(ParseAddressRange(range).value());
  return trusted;
}

struct RangeRow {
  const char* text;
  bool ok;
};

TEST(ParseAddressRange, TakesAddressesAndWholeRanges) {
  for (const RangeRow& row :
       {RangeRow{"127.0.0.1", true}, RangeRow{"10.0.0.0/8", true}, RangeRow{"0.0.0.0/0", true},
        RangeRow{"::1", true}, RangeRow{"2001:db8::/32", true}, RangeRow{"::ffff:10.0.0.1", true},
        RangeRow{"10.0.0.1/8", false}, RangeRow{"10.0.0.0/33", false}, RangeRow{"10.0.0.0/", false},
        RangeRow{"10.0.0.0/-1", false}, RangeRow{"10.0.0/8", false}, RangeRow{"", false},
        RangeRow{"localhost", false}, RangeRow{"fe80::1%eth0", false}, RangeRow{"2001:db8::1/32", false},
        RangeRow{"::/129", false}, RangeRow{"10.0.0.0/8/8", false}}) {
    EXPECT_EQ(ParseAddressRange(row.text).has_value(), row.ok) << row.text;
  }
  EXPECT_EQ(ParseAddressRange("10.0.0.1/8").error().message,
            "'10.0.0.1/8' is not the first address of its range: the bits after the first 8 must be zero");
}

TEST(AddressRange, EndsAtItsLastBit) {
  const AddressRange range = ParseAddressRange("10.64.0.0/10").value();
  EXPECT_TRUE(range.Has(ip::make_address("10.64.0.0")));
  EXPECT_TRUE(range.Has(ip::make_address("10.127.255.255")));
  EXPECT_TRUE(range.Has(ip::make_address("::ffff:10.127.255.255")));
  EXPECT_FALSE(range.Has(ip::make_address("10.128.0.0")));
  EXPECT_FALSE(range.Has(ip::make_address("10.63.255.255")));
  EXPECT_FALSE(range.Has(ip::make_address("::a40:0")));
}

struct Row {
  const char* name;
  const char* peer;
  std::string fields;
  const char* client;
};

class ClientBehindTrusted : public testing::TestWithParam<Row> {};

TEST_P(ClientBehindTrusted, IsTheLastThatIsNoProxy) {
  const TrustedProxies trusted = Trusted({"10.0.0.0/8", "127.0.0.1", "2001:db8:1::/48"});
  const ip::address client = ClientBehind(ip::make_address(GetParam().peer), GetParam().fields, trusted);
  EXPECT_EQ(client.to_string(), GetParam().client);
}

std::string Repeated(const std::string& hop, int times) {
  std::string list;
  for (int i = 0; i < times; ++i) list += (i == 0 ? "" : ", ") + hop;
  return list;
}

INSTANTIATE_TEST_SUITE_P(
    Tricks, ClientBehindTrusted,
    testing::Values(Row{"one_proxy", "10.0.0.1", "203.0.113.9", "203.0.113.9"},
                    Row{"two_proxies", "10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9"},
                    Row{"no_field", "10.0.0.1", "", "10.0.0.1"},
                    Row{"a_stranger_says_who_it_is", "203.0.113.9", "127.0.0.1", "203.0.113.9"},
                    Row{"a_client_names_another_before_the_proxy_adds_it", "10.0.0.1",
                        "192.0.2.1, 203.0.113.9", "203.0.113.9"},
                    Row{"a_client_names_a_proxy", "10.0.0.1", "10.9.9.9, 203.0.113.9", "203.0.113.9"},
                    Row{"a_client_sends_rubbish", "10.0.0.1", "\x01<script>, 203.0.113.9", "203.0.113.9"},
                    Row{"rubbish_in_the_proxys_place", "10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"},
                    Row{"rubbish_behind_two_proxies", "10.0.0.1", "_hidden, 10.0.0.2", "10.0.0.1"},
                    Row{"an_empty_last_element", "10.0.0.1", "203.0.113.9,", "10.0.0.1"},
                    Row{"commas_alone", "10.0.0.1", ",,,", "10.0.0.1"},
                    Row{"all_are_proxies", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
                    Row{"a_port", "10.0.0.1", "203.0.113.9:4711", "203.0.113.9"},
                    Row{"no_port_after_the_colon", "10.0.0.1", "203.0.113.9:", "10.0.0.1"},
                    Row{"a_port_that_is_none", "10.0.0.1", "203.0.113.9:http", "10.0.0.1"},
                    Row{"v6", "10.0.0.1", "2001:db8::7", "2001:db8::7"},
                    Row{"v6_with_port", "10.0.0.1", "[2001:db8::7]:443", "2001:db8::7"},
                    Row{"v6_unclosed", "10.0.0.1", "[2001:db8::7", "10.0.0.1"},
                    Row{"v4_in_brackets", "10.0.0.1", "[203.0.113.9]", "10.0.0.1"},
                    Row{"v6_proxy", "2001:db8:1::1", "203.0.113.9", "203.0.113.9"},
                    Row{"v6_beside_the_proxies", "2001:db8:2::1", "203.0.113.9", "2001:db8:2::1"},
                    Row{"mapped_peer", "::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"},
                    Row{"mapped_hop_is_a_proxy", "10.0.0.1", "203.0.113.9, ::ffff:10.0.0.2", "203.0.113.9"},
                    Row{"mapped_client", "10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"},
                    Row{"octal_is_no_address", "10.0.0.1", "0313.0.0161.9", "10.0.0.1"},
                    Row{"one_number_is_no_address", "10.0.0.1", "3405803785", "10.0.0.1"},
                    Row{"an_interface", "10.0.0.1", "fe80::1%eth0", "10.0.0.1"},
                    Row{"quotes_are_of_another_field", "10.0.0.1", "\"203.0.113.9\"", "10.0.0.1"},
                    Row{"tabs_and_blanks", "10.0.0.1", "203.0.113.9 \t,\t 10.0.0.2 ", "203.0.113.9"},
                    Row{"a_long_element", "10.0.0.1", std::string(60'000, '1'), "10.0.0.1"},
                    Row{"as_many_proxies_as_may_be", "10.0.0.1",
                        "203.0.113.9, " + Repeated("10.0.0.2", kForwardedHopsMax - 1), "203.0.113.9"},
                    Row{"one_proxy_too_many", "10.0.0.1",
                        "203.0.113.9, " + Repeated("10.0.0.2", kForwardedHopsMax), "10.0.0.1"}),
    [](const auto& row) { return row.param.name; });

TEST(SchemeBehind, IsWhatTheNearestTrustedProxySays) {
  const TrustedProxies trusted = Trusted({"10.0.0.1"});
  const ip::address proxy = ip::make_address("10.0.0.1");
  const ip::address stranger = ip::make_address("10.0.0.2");
  EXPECT_EQ(SchemeBehind(proxy, "https", "http", trusted), "https");
  EXPECT_EQ(SchemeBehind(proxy, "HTTPS", "http", trusted), "https");
  EXPECT_EQ(SchemeBehind(proxy, "http", "https", trusted), "http");
  EXPECT_EQ(SchemeBehind(proxy, "http, https", "http", trusted), "https") << "a client wrote the first";
  EXPECT_EQ(SchemeBehind(proxy, "javascript", "http", trusted), "http");
  EXPECT_EQ(SchemeBehind(proxy, "", "https", trusted), "https");
  EXPECT_EQ(SchemeBehind(stranger, "https", "http", trusted), "http");
}

http::Request Asked(http::Peer& peer) {
  http::Request request;
  request.scheme = "http";
  request.host = "trainer.lab";
  request.peer = &peer;
  request.headers.Add("X-Forwarded-For", "192.0.2.1");
  request.headers.Add("x-forwarded-for", "203.0.113.9, 10.0.0.2");
  request.headers.Add("X-Forwarded-Proto", "https");
  request.headers.Add("X-Forwarded-Host", "evil.example");
  return request;
}

TEST(LookBehind, SetsAddressAndOriginButNeverTheHost) {
  http::Peer peer{.kind = http::Peer::Kind::kTcp4, .remote = {.bytes = {10, 0, 0, 1}, .port = 4711}};
  http::Request request = Asked(peer);
  LookBehind(Trusted({"10.0.0.0/8"}))(request);
  EXPECT_EQ(request.client_address, "203.0.113.9") << "several fields are one list";
  EXPECT_EQ(request.Origin(), "https://trainer.lab");
}

TEST(LookBehind, LeavesStrangersAndUnixSocketsAsTheyAre) {
  http::Peer stranger{.kind = http::Peer::Kind::kTcp4, .remote = {.bytes = {198, 51, 100, 1}, .port = 4711}};
  http::Request request = Asked(stranger);
  LookBehind(Trusted({"10.0.0.0/8"}))(request);
  EXPECT_EQ(request.client_address, "198.51.100.1");
  EXPECT_EQ(request.Origin(), "http://trainer.lab");
  http::Peer local{.kind = http::Peer::Kind::kUnix};
  request = Asked(local);
  LookBehind(Trusted({"0.0.0.0/0", "::/0"}))(request);
  EXPECT_EQ(request.client_address, "");
  EXPECT_EQ(request.Origin(), "http://trainer.lab");
  EXPECT_EQ(LookBehind({}), nullptr);
}

}  // namespace
}  // namespace trainyard::access::forwarded_rules_test
