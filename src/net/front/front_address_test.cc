#include "net/front/front_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/async/file.h"

namespace trainyard::front {
namespace {

namespace fs = std::filesystem;

class FrontAddressTest : public testing::Test {
 protected:
  FrontAddressTest() {
    std::string name = fs::temp_directory_path() / "trainyard-front-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FrontAddressTest() override { fs::remove_all(folder_); }
  /// The first `refusals` addresses are refused with `code`.
  Result<std::string> Take(std::size_t refusals = 0, Code code = Code::kAlreadyExists) {
    tried_.clear();
    return TakeFrontAddress(folder_ / "address", [&](const std::string& address) -> Status {
      tried_.push_back(address);
      if (tried_.size() <= refusals) return std::unexpected(Error{code, "no", ""});
      return {};
    });
  }

  fs::path folder_;
  std::vector<std::string> tried_;
};

TEST_F(FrontAddressTest, IsALoopbackAddressThatFewUse) {
  for (int i = 0; i < 100; ++i) {
    in_addr address{};
    ASSERT_EQ(inet_pton(AF_INET, RandomFrontAddress().c_str(), &address), 1);
    EXPECT_EQ(ntohl(address.s_addr) >> 22, 127U << 2 | 1U);
  }
}

TEST_F(FrontAddressTest, IsKept) {
  const auto first = Take();
  ASSERT_TRUE(first);
  EXPECT_EQ(Take(), first);
  EXPECT_EQ(tried_, std::vector{*first});
}

TEST_F(FrontAddressTest, IsAnotherWhereTheOldOneIsInUse) {
  const auto first = Take();
  const auto second = Take(1);
  ASSERT_TRUE(second);
  EXPECT_NE(second, first);
  EXPECT_EQ(Take(), second);
}

TEST_F(FrontAddressTest, GivesUpWhenAllAreInUseOrNoneIsAllowed) {
  EXPECT_EQ(Take(100).error().code, Code::kAlreadyExists);
  EXPECT_EQ(tried_.size(), 4U);
  EXPECT_EQ(Take(100, Code::kPermissionDenied).error().code, Code::kPermissionDenied);
  EXPECT_EQ(tried_.size(), 1U);
  EXPECT_FALSE(fs::exists(folder_ / "address"));
}

TEST_F(FrontAddressTest, PortsAreTwoThatTheKernelDoesNotGiveOut) {
  for (int i = 0; i < 100; ++i) {
    const FrontPorts ports = RandomFrontPorts();
    EXPECT_NE(ports.tls, ports.plain);
    EXPECT_GE(std::min(ports.tls, ports.plain), 10'000);
    EXPECT_LT(std::max(ports.tls, ports.plain), 32'768);
  }
}

TEST_F(FrontAddressTest, PortsAreKept) {
  const auto first = TakeFrontPorts(folder_ / "ports");
  ASSERT_TRUE(first);
  EXPECT_EQ(TakeFrontPorts(folder_ / "ports"), first);
  ASSERT_TRUE(KeepFrontPorts(folder_ / "ports", {.tls = 1234, .plain = 4321}));
  EXPECT_EQ(TakeFrontPorts(folder_ / "ports"), (FrontPorts{.tls = 1234, .plain = 4321}));
}

TEST_F(FrontAddressTest, PortsThatMakeNoSenseAreOthers) {
  for (const char* text : {"", "12", "12 ", "0 1", "1 0", "70000 1", "x 1", "1 x"}) {
    ASSERT_TRUE(WriteFileAtomically(folder_ / "ports", text));
    const auto ports = TakeFrontPorts(folder_ / "ports");
    ASSERT_TRUE(ports) << text;
    EXPECT_GE(ports->tls, 10'000) << text;
    EXPECT_EQ(TakeFrontPorts(folder_ / "ports"), ports) << text;
  }
}

}  // namespace
}  // namespace trainyard::front
