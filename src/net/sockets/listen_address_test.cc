#include "net/sockets/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::sockets {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

TEST(OwnNames, AreTheAddressAndWhatWasGiven) {
  EXPECT_THAT(OwnNames("192.0.2.7", {"yard.example"}), ElementsAre("192.0.2.7", "yard.example"));
  EXPECT_THAT(OwnNames("0.0.0.0", {"yard.example"}), IsSupersetOf({"127.0.0.1", "yard.example"}));
  EXPECT_THAT(OwnNames("0.0.0.0", {}), Not(Contains("0.0.0.0")));
}

TEST(OwnUrls, AreTheServersAndNoOthers) {
  const auto urls = OwnUrls({"yard.example", "2001:db8::7"}, {.plain = {8470, 8472}, .tls = 8471});
  EXPECT_THAT(urls,
              IsSupersetOf({"http://localhost:8470", "http://127.0.0.1:8472", "https://*.localhost:8471",
                            "https://[::1]:8471", "https://yard.example:8471", "https://yard.example",
                            "https://[2001:db8::7]:8471", "https://[2001:db8::7]"}));
  const auto local = OwnUrls({"127.0.0.1"}, {.plain = {8470}, .tls = 8471});
  EXPECT_THAT(local, Not(Contains("https://127.0.0.1"))) << "its port 443 is another server's";
  EXPECT_THAT(urls, Not(Contains("http://yard.example:8470"))) << "only the loopback has a port without TLS";
}

}  // namespace
}  // namespace trainyard::sockets
