#include "base/async/unix_socket.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/async/testing/temporary_folder.h"

namespace trainyard {
namespace {

TEST(UnixSocket, AnyLengthOfPath) {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  const auto deep = folder / std::string(100, 'a') / std::string(100, 'b');
  std::filesystem::create_directories(deep);
  for (const auto& path : {folder / "short", deep / "long"}) {
    EXPECT_EQ(ConnectUnix(path).error().code, Code::kNotFound);
    const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    {
      const auto address = UnixAddress::Make(path);
      ASSERT_TRUE(address);
      ASSERT_EQ(::bind(listener.get(), address->get(), sizeof address->address), 0);
    }
    EXPECT_EQ(ConnectUnix(path).error().code, Code::kUnavailable) << "nobody listens yet";
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_TRUE(ConnectUnix(path));
    EXPECT_TRUE(ConnectUnix(path, SOCK_NONBLOCK));
  }
  EXPECT_EQ(ConnectUnix(folder / std::string(120, 'c')).error().code, Code::kInvalidArgument);
  EXPECT_EQ(ConnectUnix(folder / "none" / std::string(100, 'c')).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard
