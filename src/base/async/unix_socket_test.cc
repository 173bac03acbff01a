#include "base/async/unix_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
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

class PassDescriptorTest : public testing::Test {
 protected:
  PassDescriptorTest() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
    ours_.Reset(pair[0]);
    theirs_.Reset(pair[1]);
  }

  UniqueFd ours_;
  UniqueFd theirs_;
  int value_ = 42;
};

TEST_F(PassDescriptorTest, TheMessageAndTheDescriptorArrive) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
  const UniqueFd reading(pipe[0]);
  UniqueFd writing(pipe[1]);
  ASSERT_TRUE(SendWithDescriptor(ours_.get(), std::as_bytes(std::span(&value_, 1)), writing.get()));
  writing.Reset();
  int got = 0;
  UniqueFd passed;
  ASSERT_EQ(ReceiveWithDescriptor(theirs_.get(), std::as_writable_bytes(std::span(&got, 1)), passed), 4);
  EXPECT_EQ(got, 42);
  ASSERT_TRUE(passed);
  ASSERT_EQ(write(passed.get(), "x", 1), 1);
  char seen = 0;
  ASSERT_EQ(read(reading.get(), &seen, 1), 1);
  EXPECT_EQ(seen, 'x');
}

TEST_F(PassDescriptorTest, WithoutADescriptorNoneArrives) {
  ASSERT_TRUE(SendWithDescriptor(ours_.get(), std::as_bytes(std::span(&value_, 1)), -1));
  int got = 0;
  UniqueFd passed;
  ASSERT_EQ(ReceiveWithDescriptor(theirs_.get(), std::as_writable_bytes(std::span(&got, 1)), passed), 4);
  EXPECT_EQ(got, 42);
  EXPECT_FALSE(passed);
}

TEST_F(PassDescriptorTest, TheOtherSideIsGone) {
  ours_.Reset();
  int got = 0;
  UniqueFd passed;
  EXPECT_EQ(ReceiveWithDescriptor(theirs_.get(), std::as_writable_bytes(std::span(&got, 1)), passed), 0);
  EXPECT_FALSE(SendWithDescriptor(theirs_.get(), std::as_bytes(std::span(&got, 1)), -1));
}

}  // namespace
}  // namespace trainyard
