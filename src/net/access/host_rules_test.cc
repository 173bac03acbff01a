#include "net/access/host_rules.h"

#include <gtest/gtest.h>

namespace trainyard::access {
namespace {

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
}  // namespace trainyard::access
